/**
 * The program under its other names, `rhachet` and `rhx`. Roles use `rhachet run` and `rhachet roles boot` as hooks, and exit 2
 * of a hook refuses the call: so nothing here exits with 2 but a program that a role itself brings.
 */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { basename, join } from 'node:path'
import { bootText } from '../../../brains/roles/boot.ts'
import { executableNamed, roleFolders } from '../../../brains/roles/linked-files.ts'
import { repositoryOf } from '../../../brains/targets.ts'
import { Problem } from '../../../files/problem.ts'
import { readArgs } from '../../args.ts'
import { command, type Run } from '../../command.ts'
import { failed, noted, said, write } from '../../print.ts'
import { commands } from '../../table.ts'

const help = `rhachet: the roles that are linked into this repository.

  rhachet init --roles mechanic --hooks                          as ona init
  rhachet run --role mechanic --init claude.hooks/check          run an init of a role
  rhachet run --repo acme --role mechanic --skill tow -- FILE    run a skill of a role
  rhachet roles boot --role mechanic [--if-present]              print its briefs and skills
  rhx tow FILE                                                   rhachet run --skill tow FILE
`

export const run: Run = async (words) => {
  const name = basename(process.argv[1] ?? '').replace(/\.\w+$/, '')
  const [first, ...rest] = name === 'rhx' ? ['run', '--skill', ...words] : words
  if (first === 'run') return runOf(rest)
  const code = await other(first, rest)
  return code === 2 ? 1 : code
}

function other(first: string | undefined, rest: string[]): Promise<number> | number {
  if (first === 'roles' && rest[0] === 'boot') return boot(rest.slice(1))
  if (first === undefined || first === '--help' || first === '-h') return said(help)
  const entry = Object.hasOwn(commands, first) ? commands[first] : undefined
  if (entry) return entry.load().then((loaded) => loaded.run(rest))
  return failed(`rhachet has no "${[first, ...rest.slice(0, 1)].join(' ')}"; rhachet --help shows what it has`)
}

const rows = { repo: 'value', role: 'value', init: 'value', skill: 'value' } as const

/** The program gets every word after `run`, stdin, stdout and stderr; its exit code is ours. */
function runOf(words: string[]): Promise<number> | number {
  // flags after the name are the program's: only those that say which one are read here
  const ours = words.flatMap((word, at) =>
    /^--(repo|role|init|skill)$/.test(word)
      ? words.slice(at, at + 2)
      : /^--(repo|role|init|skill)=/.test(word)
        ? [word]
        : [],
  )
  const read = readArgs(ours, rows)
  if (!read.ok) return failed(`rhachet run: ${read.why}`)
  const { init, skill, repo, role } = read.flags
  const name = init ?? skill
  if (name === undefined || (init !== undefined && skill !== undefined))
    return failed('rhachet run: name one --init or one --skill')
  const root = repositoryOf(process.cwd())
  const kind = init === undefined ? 'skills' : 'inits'
  const file = executableNamed(root, { kind, name, ...(repo && { repo }), ...(role && { role }) })
  noted(`rhachet run: ${file}`)
  return start(join(root, file), words)
}

async function start(file: string, words: readonly string[]): Promise<number> {
  const once = (program: string, args: readonly string[]) =>
    new Promise<number | NodeJS.ErrnoException>((done) => {
      const child = spawn(program, args, { stdio: 'inherit' })
      child.on('error', done)
      child.on('exit', (code, signal) => done(signal ? 128 + (constants.signals[signal] ?? 0) : (code ?? 1)))
    })
  const ended = await once(file, words)
  if (typeof ended === 'number') return ended
  // a script without a first line that names its interpreter is a shell's
  const again = ended.code === 'ENOEXEC' ? await once('sh', [file, ...words]) : ended
  if (typeof again === 'number') return again
  throw new Problem(`${file} cannot be started: ${again.message}${again.code === 'EACCES' ? `; chmod +x ${file}` : ''}`)
}

const bootFlags = { repo: 'value', role: 'value', 'if-present': 'flag', subject: 'value' } as const

const boot = command('rhachet roles boot', { help, flags: bootFlags }, async (flags) => {
  const { repo, role, subject } = flags
  if (role === undefined) return failed('rhachet roles boot: name the role with --role')
  const root = repositoryOf(process.cwd())
  const found = roleFolders(root, { role, ...(repo && { repo }) })
  if (found.length === 0 && flags['if-present']) return 0
  if (found.length === 0) return failed(`no role "${role}" is linked here; ona init --roles ${role} links it`)
  if (found.length > 1)
    return failed(
      `there is more than one role "${role}"; use --repo:\n${found.map(({ folder }) => `  ${folder}`).join('\n')}`,
    )
  return write(await bootText(root, found[0]!, subject?.split(',').filter(Boolean) ?? []))
})
