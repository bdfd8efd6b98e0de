/** `ona dispatcher` as a user uses it: through the program, in a repository of their own. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { register, unregister } from '../../src/dispatcher/registration.ts'
import { install, uninstall } from '../../src/dispatcher/setup/install.ts'
import { eventNames, type Json } from '../../src/dispatcher/types.ts'
import { builtRuntime, everyModule, filesUnder, readFile, repoAt, tempFolder } from '../support/dispatcher.ts'
import { runProgram } from '../support/run-program.ts'

interface CommandEntry {
  readonly type: 'command'
  readonly command: string
  readonly timeout: number
}

const packageRoot = join(import.meta.dirname, '../..')
const home = tempFolder()
const minimal = ['session', 'graph-pretooluse', 'planGraph-exec']

/** The program, with this test's build of the runtime in the place where the package keeps its own. */
async function ona(cwd: string, ...words: string[]) {
  const dist = join(packageRoot, 'dist/dispatcher')
  if (!existsSync(dist)) cpSync(builtRuntime, dist, { recursive: true })
  const env = { PATH: process.env['PATH'], HOME: home }
  const { code, stdout: out, stderr: err } = await runProgram(['dispatcher', ...words], { cwd, env })
  return { code, out, err }
}

test('install, doctor, new-module, upgrade and uninstall, from an empty folder and back', async () => {
  const repo = tempFolder()
  const { edit, put, setBudgets } = repoAt(repo)
  assert.equal((await ona(repo, 'install', '--modules', 'all')).code, 0)
  setBudgets(60_000)
  const doctor = JSON.parse((await ona(repo, 'doctor', '--json')).out)
  assert.deepEqual([doctor.problems, doctor.fired.length], [[], 8])
  assert.deepEqual(doctor.fired[2].modules, [
    'session',
    'graph-pretooluse',
    'planGraph-exec',
    'rlm-work',
    'memory-activation',
  ])
  assert.deepEqual(filesUnder(join(repo, '.ai/tmp')), ['dispatch.log'], 'the samples leave no session behind')

  assert.equal((await ona(repo, 'new-module', 'migration-guard')).code, 0)
  const tested = spawnSync(
    process.execPath,
    ['--test', join(repo, '.ai/hooks/features/migration-guard/hook.test.mjs')],
    { encoding: 'utf8' },
  )
  assert.equal(tested.status, 0, tested.stdout)
  assert.ok(
    JSON.parse((await ona(repo, 'doctor', '--trust', '--json')).out).fired[2].modules.includes('migration-guard'),
  )

  edit('config.json', (config) => (config['mine'] = {}))
  put('.ai/hooks/features/stop-synth/hook.mjs', 'export default {} // mine')
  const upgraded = JSON.parse((await ona(repo, 'upgrade', '--json')).out)
  const kept = upgraded.changes
    .filter(({ did }: { did: string }) => did === 'kept')
    .map(({ path }: { path: string }) => path)
  assert.ok(kept.includes('.ai/hooks/config.json') && kept.includes('.ai/hooks/features/stop-synth/hook.mjs'))

  assert.equal((await ona(repo, 'uninstall')).code, 0)
  assert.deepEqual(filesUnder(repo), [
    '.ai/.gitignore',
    '.ai/hooks/config.json',
    '.ai/hooks/dispatch.manifest.json',
    '.ai/hooks/features/migration-guard/hook.mjs',
    '.ai/hooks/features/migration-guard/hook.test.mjs',
    '.ai/hooks/features/stop-synth/hook.mjs',
    '.ai/hooks/followup-rules.json',
    '.ai/hooks/rlm-policy.json',
    '.ai/hooks/workspace.json',
    '.ai/tmp/dispatch.log',
  ])
  const gone = await ona(repo, 'doctor')
  assert.deepEqual([gone.code, /not installed/.test(gone.out)], [1, true])
})

test('what an installation commits is readable code', () => {
  for (const file of filesUnder(builtRuntime).filter((each) => /\.[cm]js$/.test(each))) {
    const lines = readFileSync(join(builtRuntime, file), 'utf8').split('\n')
    assert.deepEqual(
      lines.filter((line) => line.length > 600),
      [],
      file,
    )
  }
})

test('from a folder further down it is the repository that is meant', async () => {
  const repo = tempFolder()
  mkdirSync(join(repo, '.git'))
  mkdirSync(join(repo, 'src/app'), { recursive: true })
  for (const words of [['install'], ['new-module', 'mine'], ['uninstall']])
    assert.equal((await ona(join(repo, 'src/app'), ...words)).code, 0)
  assert.deepEqual(
    filesUnder(repo).filter((file) => file.startsWith('src') || file.includes('mine')),
    ['.ai/hooks/features/mine/hook.mjs', '.ai/hooks/features/mine/hook.test.mjs'],
  )
})

test('the doctor finds what is wrong', async () => {
  const repo = tempFolder()
  const { edit, put } = repoAt(repo)
  await ona(repo, 'install')
  writeFileSync(join(repo, '.ai/hooks/lib/dispatch.cjs'), 'broken(')
  put('.ai/hooks/rlm-policy.json', '{"version":2}')
  put('.ai/hooks/followup-rules.json', {
    version: 1,
    rules: ['(', '(a+)+$'].map((toolNamePattern) => ({
      id: 'x',
      trigger: { event: 'PreToolUse', toolNamePattern },
      followup: { action: 'warn' },
    })),
  })
  edit('dispatch.manifest.json', (manifest) => {
    const modules = manifest['modules'] as Record<string, Json>
    modules['session']!['enabled'] = false
  })
  const { code, out } = await ona(repo, 'doctor')
  assert.equal(code, 1)
  for (const text of [
    'lib/dispatch.cjs differs',
    'rlm-policy.json: version must be 1',
    'followup-rules.json: "(a+)+$" can take exponential time',
    'Invalid regular expression',
    'session is not enabled',
  ])
    assert.ok(out.includes(text), text)
})

test('wrong usage is told and is exit 2; help has an example', async () => {
  const repo = tempFolder()
  assert.deepEqual(
    [
      (await ona(repo, 'instal')).code,
      (await ona(repo, 'install', '--host', 'emacs')).code,
      (await ona(repo, 'install', '--nope')).code,
    ],
    [2, 2, 2],
  )
  const help = await ona(repo, '--help')
  assert.deepEqual([help.code, /Example:/.test(help.out)], [0, true])
  assert.equal((await ona(repo, 'install', '--modules', 'session,nope')).code, 1)
  assert.deepEqual(
    [(await ona(repo, 'new-module', '../x')).code, (await ona(repo, 'new-module', 'session')).code],
    [1, 1],
  )
  assert.deepEqual(filesUnder(repo), [])
})

test('what others have registered stays, byte for byte in meaning, and a broken file is not touched', () => {
  const repo = tempFolder()
  const { put } = repoAt(repo)
  const theirs = { hooks: { PreToolUse: [{ type: 'command', command: './mine.sh' }], Notification: [] }, note: 'mine' }
  put('.github/hooks/hooks.json', theirs)
  put('.claude/settings.json', { permissions: { deny: ['Bash(rm:*)'] } })
  const options = { modules: minimal, runtime: builtRuntime, trusted: true }
  assert.ok(install(repo, { ...options, hosts: ['vscode', 'claude'] }).ok)
  assert.ok(install(repo, { ...options, hosts: ['vscode', 'claude'] }).ok)
  const vscode = JSON.parse(readFileSync(join(repo, '.github/hooks/hooks.json'), 'utf8'))
  assert.deepEqual([vscode.hooks.PreToolUse.length, vscode.hooks.Stop.length, vscode.note], [2, 1, 'mine'])
  assert.ok(uninstall(repo, builtRuntime).ok)
  assert.deepEqual(JSON.parse(readFileSync(join(repo, '.github/hooks/hooks.json'), 'utf8')), { version: 1, ...theirs })
  assert.deepEqual(JSON.parse(readFileSync(join(repo, '.claude/settings.json'), 'utf8')), {
    permissions: { deny: ['Bash(rm:*)'] },
  })

  writeFileSync(join(repo, '.github/hooks/hooks.json'), '{ // a comment')
  const refused = install(repo, { ...options, hosts: ['vscode'] })
  assert.equal(refused.ok, false)
  assert.equal(readFileSync(join(repo, '.github/hooks/hooks.json'), 'utf8'), '{ // a comment')
})

test('a file of the user’s keeps its indentation, line ends, mode and place', () => {
  const texts: [name: string, text: string][] = [
    ['by tabs, from Windows', '\uFEFF{\r\n\t"permissions": {\r\n\t\t"deny": []\r\n\t}\r\n}\r\n'],
    ['by four', '{\n    "model": "x"\n}'],
    ['on one line', '{"model":"x","env":{}}\n'],
  ]
  for (const [name, text] of texts) {
    const repo = tempFolder()
    const file = join(repo, '.claude/settings.json')
    repoAt(repo).put('shared/settings.json', text)
    chmodSync(join(repo, 'shared/settings.json'), 0o640)
    mkdirSync(join(repo, '.claude'))
    symlinkSync('../shared/settings.json', file)
    const options = { modules: minimal, runtime: builtRuntime, trusted: true, hosts: ['claude'] } as const
    assert.ok(install(repo, options).ok)
    const written = readFileSync(file, 'utf8')
    const before = text.split('\n').length
    assert.deepEqual(
      [written.split('\n').length > before, written.includes('\r')],
      [before > 2, text.includes('\r')],
      name,
    )
    utimesSync(file, 1000, 1000)
    assert.ok(install(repo, options).ok)
    assert.equal(statSync(file).mtimeMs, 1_000_000, 'again: nothing to change, nothing written')
    assert.ok(uninstall(repo, builtRuntime).ok)
    assert.equal(readFileSync(file, 'utf8'), text, name)
    assert.deepEqual([lstatSync(file).isSymbolicLink(), statSync(file).mode & 0o777], [true, 0o640], name)
  }
})

test('the registration has the documented shape of each host', () => {
  const vscode = register('vscode', undefined) as { version: number; hooks: Record<string, CommandEntry[]> }
  assert.deepEqual(Object.keys(vscode.hooks), [...eventNames])
  assert.deepEqual(vscode.hooks['PreToolUse'], [
    { type: 'command', command: 'node .ai/hooks/dispatch.mjs PreToolUse', cwd: '.', timeout: 10 },
  ])
  assert.deepEqual(
    [vscode.hooks['Stop']![0]!.timeout, vscode.hooks['SessionStart']![0]!.timeout, vscode.version],
    [15, 15, 1],
  )
  const claude = register('claude', {}) as { hooks: Record<string, { hooks: CommandEntry[] }[]> }
  assert.deepEqual(claude.hooks['PreToolUse'], [
    {
      hooks: [
        {
          type: 'command',
          command: 'node "${CLAUDE_PROJECT_DIR:-.}/.ai/hooks/dispatch.mjs" PreToolUse claude',
          timeout: 10,
        },
      ],
    },
  ])
  assert.equal(unregister('vscode', register('vscode', undefined)), undefined)
  assert.equal(unregister('claude', register('claude', undefined)), undefined)
})

test('the registered command works as the host runs it', () => {
  const repo = tempFolder("it's here ")
  assert.ok(
    install(repo, { modules: everyModule, runtime: builtRuntime, trusted: true, hosts: ['vscode', 'claude'] }).ok,
  )
  const input = JSON.stringify({ session_id: 'abcdef12', tool_name: 'grep_search', tool_input: { query: 'x' } })
  const vscode = spawnSync('sh', ['-c', 'node .ai/hooks/dispatch.mjs PreToolUse'], {
    cwd: repo,
    input,
    encoding: 'utf8',
  })
  assert.equal(JSON.parse(vscode.stdout).hookSpecificOutput.permissionDecision, 'ask')
  const { hooks } = JSON.parse(readFileSync(join(repo, '.claude/settings.json'), 'utf8'))
  const env = { ...process.env, CLAUDE_PROJECT_DIR: repo }
  const claude = spawnSync('sh', ['-c', hooks.PreToolUse[0].hooks[0].command], {
    cwd: '/',
    env,
    input,
    encoding: 'utf8',
  })
  assert.deepEqual(Object.keys(JSON.parse(claude.stdout)), ['systemMessage', 'hookSpecificOutput'])
})

test('the installed files run on the system’s Node too', { skip: !existsSync('/usr/bin/node') }, async () => {
  const repo = tempFolder()
  assert.ok(install(repo, { modules: everyModule, runtime: builtRuntime, trusted: true, hosts: [] }).ok)
  for (const name of eventNames) {
    const { output, stderr, code } = await repoAt(repo).fire(name, readFile, { node: '/usr/bin/node' })
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal((output.warnings ?? []).filter((text) => text.includes('failed')).length, 0)
  }
})

test('a module in plain JavaScript is checked against our types', {
  skip: !existsSync(join(packageRoot, 'dist/types/dispatcher')) && 'needs a build',
}, () => {
  const file = join(packageRoot, 'examples/dispatcher/migration-guard/hook.mjs')
  const flags = [
    '--noEmit',
    '--ignoreConfig',
    '--allowJs',
    '--checkJs',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--types',
    'node',
  ]
  const check = (path: string) =>
    spawnSync(join(packageRoot, 'node_modules/.bin/tsc'), [...flags, path], { cwd: packageRoot, encoding: 'utf8' })
  assert.equal(check(file).stdout, '')
  const wrong = join(packageRoot, 'dist', `wrong-${process.pid}.mjs`)
  writeFileSync(wrong, readFileSync(file, 'utf8').replace('priority: 200', "priority: 'high'"))
  const told = check(wrong).stdout
  rmSync(wrong)
  assert.match(told, /Type 'string' is not assignable to type 'number'/)
})
