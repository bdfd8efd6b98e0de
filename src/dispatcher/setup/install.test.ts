/** Installing, examining and extending an installation, with a small stand-in for the built tree; messages and changes whole. */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { packageRoot } from '../../package-root.ts'
import { installedPart, installedText } from '../load-modules.ts'
import { minimalSet, shipped } from '../manifest.ts'
import { register, registeredEvents, unregister } from '../registration.ts'
import { eventNames } from '../types.ts'
import { examine, fire, installationProblems } from './doctor.ts'
import { configProblems, doubleRegistration, foreignCode, install, uninstall, warmUp, writeJson } from './install.ts'
import { makeModule } from './new-module.ts'
import { hashOf, readRules } from './rules-file.ts'
import { sample } from './samples.ts'

/** Answers like the dispatcher, and fills the code cache when it is warmed. */
const entry = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
if (process.env.ONA_DISPATCHER_WARM) writeFileSync(import.meta.dirname + '/lib/cache/x', 'x', { flag: 'a' })
const input = JSON.parse(readFileSync(0, 'utf8'))
mkdirSync(import.meta.dirname + '/../tmp/' + input.session_id.slice(0, 8), { recursive: true })
const before = process.argv[2] === 'PreToolUse'
console.log(JSON.stringify({ ...(before && { decision: 'allow' }), ...(process.argv[2] !== 'PreCompact' && { hookSpecificOutput: { hookEventName: process.argv[2] } }), _debug: { hookRunId: 'r', modulesRan: [input.hook_event_name], elapsedMs: 1, budgetMs: 1, budgetExceeded: false } }))
`

function place(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'install-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [repo, runtime] = [join(root, 'repo'), join(root, 'runtime')]
  const put = (file: string, content: unknown, base = repo) => {
    mkdirSync(join(base, file, '..'), { recursive: true })
    writeFileSync(join(base, file), typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
  mkdirSync(repo)
  put('dispatch.mjs', entry, runtime)
  put('features/session/hook.mjs', 'shipped session', runtime)
  put('lib/features.txt', installedText('session', 'shipped session'), runtime)
  put('schema/a.schema.json', '{}', runtime)
  const options = { hosts: ['vscode'] as const, modules: minimalSet, runtime, trusted: false }
  const files = () =>
    readdirSync(repo, { recursive: true, encoding: 'utf8' })
      .filter((file) => statSync(join(repo, file)).isFile() && !file.includes('lib/cache'))
      .sort()
  return { root, repo, runtime, put, options, files, read: (file: string) => readFileSync(join(repo, file), 'utf8') }
}
const did = (result: ReturnType<typeof install>) =>
  result.ok ? [result.changes.map(({ path, did }) => `${did} ${path}`), result.notes] : result.problem
const config = [
  'dispatch.manifest.json',
  'config.json',
  'workspace.json',
  'rlm-policy.json',
  'followup-rules.json',
].map((file) => `.ai/hooks/${file}`)
const tree = ['dispatch.mjs', 'features/session/hook.mjs', 'lib/features.txt', 'schema/a.schema.json'].map(
  (file) => `.ai/hooks/${file}`,
)

test('a module of which it is not known how it was installed is replaced', (t) => {
  const { repo, options, read, put } = place(t)
  put('.ai/hooks/features/session/hook.mjs', 'from long ago')
  install(repo, options)
  assert.equal(read('.ai/hooks/features/session/hook.mjs'), 'shipped session')
})

test('an installation writes its tree, its files and the registration, once; and takes out what is its own', (t) => {
  const { repo, options, files, read, put } = place(t)
  const first = install(repo, options)
  assert.ok(first.ok)
  const registered = first.changes.at(-1)!.path
  const written = [...tree, ...config, '.ai/.gitignore', registered]
  assert.deepEqual(did(first), [
    written.map((path) => `wrote ${path}`),
    [
      `nothing was run: .ai/hooks/features/graph-pretooluse/hook.mjs, .ai/hooks/features/planGraph-exec/hook.mjs did not come with ona, and this folder is not trusted; --trust trusts it`,
    ],
  ])
  assert.deepEqual(files(), written.toSorted())
  assert.equal(read('.ai/.gitignore'), 'tmp/\nhooks/lib/cache/\nhooks/config.local.json\n')
  const kept = config.map((path) => `kept ${path}`)
  assert.deepEqual(did(install(repo, { ...options, trusted: true })), [kept, []])
  put('.ai/hooks/features/session/hook.mjs', 'mine')
  put('.ai/hooks/dispatch.mjs', '// changed')
  assert.deepEqual(did(install(repo, options)), [
    ['wrote .ai/hooks/dispatch.mjs', 'kept .ai/hooks/features/session/hook.mjs', ...kept],
    [
      '.ai/hooks/features/session/hook.mjs is a module of your own and stays',
      'nothing was run: .ai/hooks/features/session/hook.mjs, .ai/hooks/features/graph-pretooluse/hook.mjs, .ai/hooks/features/planGraph-exec/hook.mjs did not come with ona, and this folder is not trusted; --trust trusts it',
    ],
  ])
  assert.equal(read('.ai/hooks/dispatch.mjs'), entry)
  rmSync(join(repo, '.ai/tmp'), { recursive: true })
  const out = uninstall(repo, options.runtime)
  const gone = [registered, '.ai/hooks/dispatch.mjs', '.ai/hooks/schema/a.schema.json', '.ai/hooks/lib']
  assert.ok(out.ok)
  assert.deepEqual(
    [out.changes.map(({ path, did }) => `${did} ${path}`).sort(), out.notes],
    [[...gone.map((path) => `removed ${path}`), 'kept .ai/hooks/features/session/hook.mjs', ...kept].sort(), []],
  )
  assert.deepEqual(files(), ['.ai/hooks/features/session/hook.mjs', ...config].toSorted())
  for (const path of ['.ai/hooks/features/session/hook.mjs', ...config]) rmSync(join(repo, path))
  assert.deepEqual(did(uninstall(repo, options.runtime)), [[], []])
  assert.deepEqual(readdirSync(repo), [])
})

test('shipped modules that nobody changed are taken out, and samples leave no session behind', (t) => {
  const { repo, options } = place(t)
  assert.equal(install(repo, { ...options, trusted: true }).ok, true)
  assert.deepEqual(readdirSync(join(repo, '.ai/tmp')), [])
  const cached = () => readFileSync(join(repo, '.ai/hooks/lib/cache/x'), 'utf8')
  assert.equal(cached(), 'xx')
  assert.equal(install(repo, { ...options, trusted: true }).ok, true)
  assert.equal(cached(), 'xx', 'the cache is made again')
  const out = uninstall(repo, options.runtime)
  assert.ok(out.ok && out.changes.some(({ path, did }) => did === 'removed' && path.endsWith('session/hook.mjs')))
  assert.equal(existsSync(join(repo, '.ai/hooks/features')), false)
  assert.equal(existsSync(join(repo, '.ai/.gitignore')), true, 'there is a folder that it is for')
})

test('what others have put beside an installation stays when it is taken out', (t) => {
  const { repo, options, put, files, read, root } = place(t)
  put('.ai/.gitignore', 'mine\n')
  put('.claude/settings.json', { mine: 1 })
  put('.github/hooks/other.json', '{}')
  const both = { ...options, hosts: ['vscode', 'claude'] as const }
  assert.equal(install(repo, both).ok, true)
  assert.equal(read('.ai/.gitignore'), 'mine\n')
  rmSync(join(repo, '.ai/hooks/schema/a.schema.json'))
  put('.ai/hooks/schema/a.schema.json/theirs', 'a folder of theirs')
  put('.ai/hooks/features/session/data.txt', 'theirs')
  assert.deepEqual(did(uninstall(repo, options.runtime)), [
    [
      'removed .github/hooks/hooks.json',
      'wrote .claude/settings.json',
      'removed .ai/hooks/dispatch.mjs',
      'removed .ai/hooks/features/session/hook.mjs',
      'removed .ai/hooks/lib',
      ...config.map((path) => `kept ${path}`),
    ],
    [],
  ])
  assert.deepEqual(
    files(),
    [
      ...['.ai/.gitignore', '.ai/hooks/features/session/data.txt', '.ai/hooks/schema/a.schema.json/theirs', ...config],
      ...['.claude/settings.json', '.github/hooks/other.json'],
    ].toSorted(),
  )
  assert.deepEqual(JSON.parse(read('.claude/settings.json')), { mine: 1 })
  put('.claude/settings.json', '')
  rmSync(join(repo, '.claude/settings.json'))
  for (const path of ['.ai', '.github']) rmSync(join(repo, path), { recursive: true })
  assert.equal(install(repo, { ...options, hosts: ['claude'] }).ok, true)
  for (const path of config) rmSync(join(repo, path))
  const out = did(uninstall(repo, options.runtime))[0] as string[]
  assert.deepEqual([out.includes('removed .claude/settings.json'), readdirSync(repo)], [true, []])
  assert.deepEqual(did(uninstall(repo, join(root, 'none'))), [[], []])
  put('.claude/settings.json', '{}')
  put('.github/hooks/hooks.json', { version: 1 })
  assert.deepEqual(did(uninstall(repo, options.runtime)), [[], []], 'files in which we are not registered')
  assert.deepEqual(files(), ['.claude/settings.json', '.github/hooks/hooks.json'])
})

test('what keeps an installation from being made is said, and nothing is written', (t) => {
  const { root, repo, options, put, files } = place(t)
  assert.equal(
    did(install(repo, { ...options, runtime: join(root, 'none') })),
    `${join(root, 'none')} is not built; run: npm run build`,
  )
  assert.equal(
    did(install(repo, { ...options, modules: ['session', 'nope'] })),
    `there is no module "nope"; there are ${Object.keys(shipped).join(', ')}`,
  )
  put('.claude/settings.json', '[]')
  assert.equal(
    did(install(repo, { ...options, hosts: ['claude'] })),
    '.claude/settings.json cannot be read (it is not an object); mend it first, nothing was written',
  )
  put('.claude/settings.json', '{')
  assert.match(
    String(did(install(repo, { ...options, hosts: ['claude'] }))),
    /^\.claude\/settings\.json cannot be read \(.+\); mend it first, nothing was written$/,
  )
  assert.deepEqual(files(), ['.claude/settings.json'])
  const removed = String(did(uninstall(repo, options.runtime)))
  assert.match(removed, /^\.claude\/settings\.json cannot be read \(.+\); mend it first, nothing was removed$/)
  mkdirSync(join(root, 'elsewhere'))
  symlinkSync(join(root, 'elsewhere'), join(repo, '.github'))
  assert.equal(
    did(install(repo, options)),
    '.github/hooks/hooks.json is, or lies behind, a link that leads out of the repository; nothing was changed',
  )
  symlinkSync(join(root, 'elsewhere'), join(repo, '.ai'))
  const stray = '.ai/hooks is, or lies behind, a link that leads out of the repository; nothing was changed'
  assert.deepEqual([did(install(repo, options)), makeModule(repo, 'mine')], [stray, { ok: false, problem: stray }])
  assert.deepEqual(did(uninstall(repo, options.runtime)), stray)
  assert.deepEqual(readdirSync(join(root, 'elsewhere')), [])
})

test('an examination names what is missing, changed, not registered or failing', (t) => {
  const { repo, runtime, options, put } = place(t)
  const look = (trusted = true, node = process.execPath) => examine(repo, { runtime, trusted, node })
  assert.deepEqual(look(), {
    problems: ['the dispatcher is not installed here; run: ona dispatcher install'],
    notes: [],
    fired: [],
  })
  install(repo, options)
  const missing = ['graph-pretooluse', 'planGraph-exec'].map(
    (name) => `module ${name}: .ai/hooks/features/${name}/hook.mjs is missing`,
  )
  const { problems, notes, fired } = look()
  assert.deepEqual(problems, missing)
  assert.deepEqual(notes, ['registered in .github/hooks/hooks.json', `events run on Node ${process.version}`])
  assert.deepEqual(readdirSync(join(repo, '.ai/tmp')), [])
  assert.deepEqual(
    fired.map(({ ms, ...rest }) => [ms > 0, rest]),
    eventNames.map((event) => [true, { event, decision: event === 'PreToolUse' ? 'allow' : '', modules: [event] }]),
  )
  const untrusted = look(false)
  assert.deepEqual(
    [untrusted.problems.at(-1), untrusted.fired],
    [
      'nothing was run: .ai/hooks/features/graph-pretooluse/hook.mjs, .ai/hooks/features/planGraph-exec/hook.mjs did not come with ona, and this folder is not trusted; --trust trusts it',
      [],
    ],
  )
  assert.deepEqual(look(true, '/none/node').problems.at(-1), 'the hosts run "/none/node", which is not on the path')
  writeFileSync(join(repo, 'old-node'), '#!/bin/sh\necho v18.1.0\n', { mode: 0o755 })
  assert.deepEqual(
    look(true, join(repo, 'old-node')).problems.at(-1),
    `the hosts run "${join(repo, 'old-node')}", which is v18.1.0; Node 20 or later is needed`,
  )
  put('.ai/hooks/lib/features.txt', 'other')
  put('.ai/hooks/features/session/hook.mjs', 'mine')
  rmSync(join(repo, '.ai/hooks/schema/a.schema.json'))
  mkdirSync(join(repo, '.ai/hooks/features/empty'))
  put('.ai/hooks/dispatch.manifest.json', {
    version: 1,
    modules: { mine: { enabled: true, path: 'features/mine.mjs' } },
  })
  const seen: string[] = []
  assert.deepEqual(installationProblems(repo, runtime, seen).sort(), [
    '.ai/hooks/features/empty has no hook.mjs',
    '.ai/hooks/lib/features.txt differs from this version; run: ona dispatcher upgrade',
    '.ai/hooks/schema/a.schema.json is missing; run: ona dispatcher upgrade',
    'module mine: .ai/hooks/features/mine.mjs is missing',
    'the critical module graph-pretooluse is not enabled in dispatch.manifest.json',
    'the critical module session is not enabled in dispatch.manifest.json',
  ])
  assert.deepEqual(seen, ['.ai/hooks/features/session/hook.mjs is not the shipped module'])
  const files = ['.github/hooks', '.claude'].map((folder) => join(repo, folder))
  for (const folder of files) rmSync(folder, { recursive: true, force: true })
  assert.deepEqual(
    look(false).problems.filter((text) => text.startsWith('not registered')),
    ['not registered for all events in .github/hooks/hooks.json or .claude/settings.json; run: ona dispatcher install'],
  )
  /** What the hosts run, in place of Node. */
  const node = (script: string) => {
    writeFileSync(join(repo, 'node'), `#!/bin/sh\ncat >/dev/null\n${script}\n`, { mode: 0o755 })
    return join(repo, 'node')
  }
  const output = (value: unknown) => `echo '${JSON.stringify(value)}'`
  const answers: [string, string][] = [
    ['exit 3', 'exit 3'],
    ['kill -9 $$', 'exit SIGKILL'],
    ['echo {}; printf x >&2', 'wrote to stderr: x'],
    ['echo {}; printf %0300d 0 >&2', `wrote to stderr: ${'0'.repeat(200)}`],
    [output({ warnings: ['module x failed: y', 'other', 'module z'] }), 'module x failed: y; module z'],
    ['echo no', `stdout is not one JSON object: Unexpected token 'o', "no\n" is not valid JSON`],
  ]
  for (const [script, problem] of answers) {
    const { ms: _, ...rest } = fire(repo, 'Stop', node(script))
    assert.deepEqual(rest, { event: 'Stop', decision: '', modules: [], problem })
  }
  const odd = output({ decision: 1, warnings: ['module x'], _debug: { modulesRan: ['m'] } })
  const { ms: _, ...rest } = fire(repo, 'Stop', node(odd))
  assert.deepEqual(rest, {
    ...{ event: 'Stop', decision: 1, modules: ['m'] },
    problem: 'decision must be one of allow, ask, deny, block; module x',
  })
  const uncached = look(true, node('[ "$1" = --version ] && echo v22.1.0 || echo {}'))
  assert.deepEqual(uncached.notes.slice(-2), [
    'events run on Node v22.1.0',
    'the code cache could not be written; events will take a few milliseconds longer',
  ])
  rmSync(join(repo, '.ai/hooks/lib'), { recursive: true })
  assert.equal(
    warmUp(repo, node('exit 0')),
    'the code cache could not be written; events will take a few milliseconds longer',
  )
  assert.equal(
    warmUp(repo, '/none/node'),
    'there is no /none/node on the path (spawnSync /none/node ENOENT); the hosts need one, 20 or later',
  )
})

test('mistakes in the configuration, registrations in two places and code of others are reported', (t) => {
  const { repo, runtime, put, options } = place(t)
  assert.deepEqual([configProblems(repo), doubleRegistration(repo)], [[], []])
  put('.ai/hooks/dispatch.manifest.json', { version: 1, modules: {}, budgets: { Stop: 1 } })
  put('.ai/hooks/rlm-policy.json', '{')
  put('.ai/hooks/followup-rules.json', {
    version: 1,
    rules: [
      {
        id: 'r',
        trigger: {
          event: 'PreToolUse',
          toolNamePattern: '(',
          conditions: [
            { field: 'x', op: 'matches', value: '[' },
            { field: 'x', op: 'matches', value: '.*a.*b' },
            { field: 'x', op: 'eq', value: '[' },
          ],
        },
        followup: { action: 'warn' },
      },
      // slow only in a text that is longer than the name of a tool
      { id: 's', trigger: { event: 'PreToolUse', toolNamePattern: '.*a.*b' }, followup: { action: 'warn' } },
    ],
  })
  put('.ai/hooks/config.json', { session: { newWorkPattern: '(a+)+' }, 'memory-journal': { anchorPatterns: [')', 1] } })
  const problems = configProblems(repo)
  assert.deepEqual(
    problems.map((text) => text.replace(/(: (?:Invalid|Expected|Unterminated|Unmatched)).*/, '$1')),
    [
      'dispatch.manifest.json: budgets.Stop must be at least 100',
      'rlm-policy.json: Expected',
      'followup-rules.json: Invalid',
      'followup-rules.json: Invalid',
      'followup-rules.json: ".*a.*b" can take too long: more than 1 repeat, one behind the other, can match the same text; use fewer',
      'config.json: "(a+)+" can take exponential time: a repeated part can match the same text in two ways, as in (a+)+; repeat it once',
      'config.json: Invalid',
    ],
  )
  const installed = install(repo, { ...options, hosts: ['vscode', 'claude'] })
  const twice =
    'registered in .github/hooks/hooks.json and .claude/settings.json: VS Code and Copilot CLI read both and will run every event twice'
  assert.deepEqual(doubleRegistration(repo), [twice])
  assert.deepEqual(installed.ok && installed.notes.slice(0, problems.length + 1), [...problems, twice])
  put('.ai/hooks/dispatch.manifest.json', { modules: { mine: { path: 'mine.mjs' } } })
  put('.ai/hooks/lib/features.txt', 'other')
  assert.deepEqual(foreignCode(repo, runtime).sort(), ['.ai/hooks/lib/features.txt', '.ai/hooks/mine.mjs'])
})

test('a registration goes in beside what is there, and out again', (t) => {
  for (const host of ['vscode', 'claude'] as const) {
    const empty = register(host, undefined)
    assert.deepEqual([registeredEvents(empty), unregister(host, empty)], [[...eventNames], undefined])
    const theirs = { mine: 1, hooks: { Stop: [{ command: 'theirs' }], Odd: 'x', None: [] } }
    const both = register(host, theirs)
    assert.deepEqual((both['hooks'] as { Stop: unknown[] }).Stop.length, 2)
    assert.deepEqual(register(host, both), both, 'once')
    const version = host === 'vscode' ? { version: 1 } : {}
    assert.deepEqual(unregister(host, both), { ...version, ...theirs })
    t.assert.snapshot(empty)
    assert.deepEqual(unregister(host, register(host, { mine: 1 })), { ...version, mine: 1 })
    assert.deepEqual(register(host, { version: 2 })['version'], 2, 'what is there stays')
  }
  assert.deepEqual([registeredEvents(undefined), registeredEvents({ hooks: { Stop: 'x' } })], [[], []])
})

test('a module to start from has a test and a line in the manifest', (t) => {
  const { repo, put, read } = place(t)
  const manifest = '.ai/hooks/dispatch.manifest.json'
  const says = (name: string) => makeModule(repo, name)
  assert.deepEqual(says('a/b'), {
    ok: false,
    problem: `"a/b" cannot be a module's name: letters, digits, dots, dashes and underscores`,
  })
  assert.deepEqual(says('session'), { ok: false, problem: 'session is a shipped module; choose another name' })
  assert.deepEqual(says('mine'), { ok: false, problem: `${manifest}: not there; run: ona dispatcher install` })
  put(manifest, { version: 1, modules: { session: {} } })
  const files = ['.ai/hooks/features/mine/hook.mjs', '.ai/hooks/features/mine/hook.test.mjs']
  assert.deepEqual(says('mine'), { ok: true, files: [...files, manifest] })
  const entry = { enabled: true, priority: 200, path: 'features/mine/hook.mjs', hotPathSafe: true, critical: false }
  assert.deepEqual(JSON.parse(read(manifest)), { version: 1, modules: { session: {}, mine: entry } })
  for (const file of files) {
    const example = join(packageRoot, 'examples/dispatcher/migration-guard', basename(file))
    assert.equal(read(file), readFileSync(example, 'utf8').replaceAll('migration-guard', 'mine'))
  }
  assert.deepEqual(says('mine'), { ok: false, problem: `${files[0]} is already there` })
  rmSync(join(repo, files[0]!))
  assert.deepEqual(says('mine'), { ok: false, problem: `${files[1]} is already there` })
  rmSync(join(repo, '.ai/hooks/features'), { recursive: true })
  put(manifest, { modules: ['session'] })
  assert.equal(says('mine').ok, true)
  assert.deepEqual(JSON.parse(read(manifest)), { modules: ['session', { name: 'mine', ...entry }] })
  rmSync(join(repo, '.ai/hooks/features'), { recursive: true })
  put(manifest, {})
  assert.equal(says('mine').ok, true)
  assert.deepEqual(JSON.parse(read(manifest)), { modules: { mine: entry } })
})

test('small parts: samples, rules files, the file of installed modules, and JSON written as it was', (t) => {
  const { repo, put, read } = place(t)
  const samples = Object.fromEntries(eventNames.map((event) => [event, JSON.parse(sample(event, '/c'))]))
  for (const each of Object.values(samples)) {
    assert.match(each.timestamp, /^\d{4}-\d\d-\d\dT/)
    delete each.timestamp
  }
  t.assert.snapshot(samples)
  assert.equal(sample.sessionId, '0a0a0a0a')
  const file = join(repo, 'rules.json')
  assert.deepEqual(readRules(file, undefined), { kind: 'absent' })
  put('rules.json', '{"a":1}')
  const rules = readRules(file, undefined)
  assert.ok(rules.kind === 'rules')
  assert.deepEqual([rules.rules, /^\d{13}-7$/.test(rules.stamp), rules.isNews], [{ a: 1 }, true, true])
  assert.deepEqual(readRules(file, rules.stamp), { ...rules, isNews: false })
  assert.equal(hashOf({ a: 1 }), '015abd7f5cc57a2d')
  const installed = Buffer.from(installedText('a', 'one\n') + installedText('b', 'two\n@@x\n'))
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => installedPart(installed, name)?.toString()),
    ['one\n', 'two\n@@x\n', undefined],
  )
  put('a.json', '\uFEFF{\r\n\t"a": 1\r\n}')
  assert.equal(writeJson(join(repo, 'a.json'), { a: 1 }, { a: 1 }), false)
  assert.equal(writeJson(join(repo, 'a.json'), { a: 1 }, { a: 2 }), true)
  assert.equal(read('a.json'), '\uFEFF{\r\n\t"a": 2\r\n}')
  assert.equal(writeJson(join(repo, 'deep/b.json'), undefined, { b: 1 }), true)
  assert.deepEqual([read('deep/b.json'), existsSync(join(repo, 'deep'))], ['{\n  "b": 1\n}\n', true])
})
