/** `ona dispatcher`: the policy modules in one short process, for VS Code and the hosts that speak its protocol. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { examine } from '../../dispatcher/doctor.ts'
import { type Change, type Installed, install, runtimeRoot, uninstall } from '../../dispatcher/install.ts'
import { minimalSet, shipped } from '../../dispatcher/manifest.ts'
import { makeModule } from '../../dispatcher/new-module.ts'
import { type Host, hosts } from '../../dispatcher/registration.ts'

const help = `ona dispatcher: eight policy modules in one short Node process, asked at every agent event.

  ona dispatcher install      write .ai/hooks/ and register it (VS Code and Copilot CLI: .github/hooks/hooks.json)
  ona dispatcher doctor       check the installation, fire a sample of each event, print decisions and times
  ona dispatcher upgrade      bring our files up to date; configuration and own modules stay
  ona dispatcher uninstall    take our files and registration out; configuration, own modules and logs stay
  ona dispatcher new-module NAME   write .ai/hooks/features/NAME/ with a module and its test, and enable it

  --cwd DIR         the repository (default: here)
  --host HOST       vscode or claude; may be given twice (default: vscode)
  --modules A,B     which modules to enable on a first install, or "all" (default: ${minimalSet.join(',')})
  --json            print what was done as JSON

Example:
  ona dispatcher install --modules all && ona dispatcher doctor
`

interface Options {
  readonly cwd: string
  readonly hosts: readonly Host[]
  readonly modules: readonly string[]
  readonly json: boolean
}

const actions: Record<string, (options: Options, name: string | undefined) => number> = {
  install: (options) => report(install(options.cwd, { ...options, runtime: runtimeRoot() }), options, 'installed'),
  upgrade: (options) => report(install(options.cwd, { ...options, runtime: runtimeRoot() }), options, 'up to date'),
  uninstall: (options) => report(uninstall(options.cwd, runtimeRoot()), options, 'uninstalled'),
  doctor,
  'new-module': newModule,
}

export function run(words: string[]): number {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(words)
  } catch (cause) {
    return wrong((cause as Error).message)
  }
  const { values, positionals } = parsed
  const [word, name, ...more] = positionals
  if (values.help || word === undefined || word === 'help') {
    process.stdout.write(help)
    return values.help || word === 'help' ? 0 : 2
  }
  const action = actions[word]
  if (!action) return wrong(`there is no "${word}"; there are ${Object.keys(actions).join(', ')}`)
  if (more.length > 0 || (name !== undefined && word !== 'new-module'))
    return wrong(`"${more[0] ?? name}" is one word too many`)
  const unknown = values.host.find((host) => !hosts.includes(host as Host))
  if (unknown !== undefined) return wrong(`--host is "${unknown}"; it can be ${hosts.join(' or ')}`)
  const modules =
    values.modules === 'all' ? Object.keys(shipped) : values.modules.split(',').filter((module) => module !== '')
  return action({ cwd: resolve(values.cwd), hosts: values.host as Host[], modules, json: values.json }, name)
}

const parse = (words: string[]) =>
  parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      cwd: { type: 'string', default: '.' },
      host: { type: 'string', multiple: true, default: ['vscode'] },
      modules: { type: 'string', default: minimalSet.join(',') },
      json: { type: 'boolean', default: false },
    },
  })

function wrong(problem: string): number {
  process.stderr.write(`ona dispatcher: ${problem}; see ona dispatcher --help\n`)
  return 2
}

function report(result: Installed, { json }: Options, done: string): number {
  if (!result.ok) {
    process.stderr.write(`ona dispatcher: ${result.problem}\n`)
    return 1
  }
  if (json) process.stdout.write(`${JSON.stringify({ changes: result.changes, notes: result.notes })}\n`)
  else {
    const count = (did: Change['did']) => result.changes.filter((change) => change.did === did).length
    for (const note of result.notes) process.stdout.write(`note: ${note}\n`)
    process.stdout.write(
      `${done}: ${count('wrote')} files written, ${count('removed')} removed, ${count('kept')} of yours kept\n`,
    )
  }
  return 0
}

function doctor({ cwd, json }: Options): number {
  const { problems, notes, fired } = examine(cwd, runtimeRoot())
  if (json) process.stdout.write(`${JSON.stringify({ problems, notes, fired })}\n`)
  else {
    for (const { event, ms, decision, modules } of fired)
      process.stdout.write(
        `${event.padEnd(17)} ${decision.padEnd(6)} ${ms.toFixed(0).padStart(5)} ms  ${modules.join(' ')}\n`,
      )
    for (const note of notes) process.stdout.write(`note: ${note}\n`)
    for (const problem of problems) process.stdout.write(`problem: ${problem}\n`)
    if (problems.length === 0) process.stdout.write('all is well\n')
  }
  return problems.length === 0 ? 0 : 1
}

function newModule({ cwd, json }: Options, name: string | undefined): number {
  if (name === undefined) return wrong('new-module needs a name')
  const made = makeModule(cwd, name)
  if (!made.ok) {
    process.stderr.write(`ona dispatcher: ${made.problem}\n`)
    return 1
  }
  if (json) process.stdout.write(`${JSON.stringify({ files: made.files })}\n`)
  else
    process.stdout.write(
      `${made.files.map((file) => `wrote ${file}\n`).join('')}try it: node --test .ai/hooks/features/${name}/\n`,
    )
  return 0
}
