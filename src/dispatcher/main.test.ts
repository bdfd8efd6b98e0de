/** The process from stdin to its one object: what it prints, what it traces, and what it says of broken files. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { installedText } from './load-modules.ts'
import { eventNames, type Json } from './types.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
const bundle = new URL('./bundle.ts', import.meta.url).href

/** A repository whose shipped modules are, byte for byte, what was installed: they come from the bundle. */
function repository(files: Record<string, unknown> = {}, shipped = ['session']) {
  const root = mkdtempSync(join(tmpdir(), 'main-'))
  folders.push(root)
  const put = (file: string, content: unknown) => {
    mkdirSync(join(root, file, '..'), { recursive: true })
    writeFileSync(join(root, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  put('.ai/hooks/run.mjs', `import { run } from '${bundle}'\nawait run(import.meta.dirname, (url) => import(url))\n`)
  put('.ai/hooks/lib/features.txt', shipped.map((name) => installedText(name, name)).join('\n'))
  for (const name of shipped) put(`.ai/hooks/features/${name}/hook.mjs`, name)
  const modules = Object.fromEntries(shipped.map((name) => [name, {}]))
  put('.ai/hooks/dispatch.manifest.json', {
    version: 1,
    modules,
    budgets: { PreToolUse: 60_000, Stop: 60_000, SessionStart: 60_000 },
  })
  for (const [file, content] of Object.entries(files)) put(`.ai/hooks/${file}`, content)
  const fire = (event: string, input: Json | string | undefined, ...words: string[]) =>
    new Promise<{ code: number | null; stdout: string; stderr: string; output: Json }>((resolve, reject) => {
      const { CLAUDE_PROJECT_DIR: _, COPILOT_SESSION_ID: __, ...env } = process.env
      const child = spawn(
        process.execPath,
        ['--disable-warning=DEP0111', join(root, '.ai/hooks/run.mjs'), event, ...words],
        { env },
      )
      let [stdout, stderr] = ['', '']
      child.stdout.on('data', (piece) => (stdout += piece))
      child.stderr.on('data', (piece) => (stderr += piece))
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, stdout, stderr, output: stdout === '' ? {} : JSON.parse(stdout) }))
      child.stdin.on('error', () => {}) // it may have answered already
      child.stdin.end(typeof input === 'string' ? input : JSON.stringify({ session_id: 'aaaaaaaa-1', ...input }))
    })
  return { root, fire, put, trace: () => readFileSync(join(root, '.ai/tmp/dispatch.log'), 'utf8') }
}
const read = { tool_name: 'read_file', tool_input: { filePath: 'a' } }
const plain = ({ _debug, ...output }: Json) => {
  if (_debug === undefined) return output
  const { hookRunId, elapsedMs, ...rest } = _debug as Json
  assert.deepEqual([typeof hookRunId, typeof elapsedMs], ['string', 'number'])
  return { ...output, _debug: rest }
}
const own = (name: string, body: string, more = '') =>
  `export default { name: '${name}', supports: new Set(['PreToolUse', 'Stop']), priority: 50, hotPathSafe: true, critical: false, ${more} handle(event) { ${body} } }`
const withOwn = (body: string, more = '', entry: Json = {}) =>
  repository({
    'features/mine/hook.mjs': own('mine', body, more),
    'dispatch.manifest.json': { version: 1, budgets: { PreToolUse: 60_000 }, modules: { session: {}, mine: entry } },
  })

test('a call: one object, a line in the trace, and the session on disk', async () => {
  const { fire, trace, root, put } = repository()
  const old = join(root, '.ai/tmp/bbbbbbbb')
  put('.ai/tmp/bbbbbbbb/state.json', {})
  utimesSync(join(old, 'state.json'), 1, 1)
  const session_id = `aaaaaaaa-${'1'.repeat(600)}`
  const { code, stdout, stderr, output } = await fire('PreToolUse', { ...read, session_id })
  const stamps = {
    _hookSessionId: 'aaaaaaaa',
    _hookWorkId: 'w001',
    _hookTurnId: 0,
    _hookArtifactRoot: '.ai/tmp/aaaaaaaa',
  }
  assert.deepEqual([code, stderr, stdout.endsWith('}\n')], [0, '', true])
  assert.deepEqual(plain(output), {
    decision: 'allow',
    updatedInput: stamps,
    hookSpecificOutput: { hookEventName: 'PreToolUse' },
    _debug: { modulesRan: ['session'], budgetMs: 60_000, budgetExceeded: false },
  })
  assert.match(trace(), /^\d{13} \d+ PreToolUse aaaaaaaa allow by dispatcher; ran session; \d+ ms\n$/)
  const session = join(root, '.ai/tmp/aaaaaaaa')
  assert.equal(existsSync(join(session, 'events.jsonl')), true)
  const { core } = JSON.parse(readFileSync(join(session, 'state.json'), 'utf8'))
  assert.deepEqual([core.hostSessionId, core.createdTs > 1e12], [session_id.slice(0, 500), true])
  assert.equal(existsSync(old), true)
  assert.deepEqual((await fire('SessionStart', {})).code, 0)
  assert.equal(existsSync(old), false) // collected
})

test('an event that is not known, and a manifest without modules, are said in words', async () => {
  const { fire, trace } = repository({ 'dispatch.manifest.json': { version: 1, modules: {} } })
  const systemMessage = `dispatcher: unknown event "${'x'.repeat(40)}"; known are ${eventNames.join(', ')}`
  const { output: unknown } = await fire('x'.repeat(60), {})
  assert.deepEqual(unknown, { decision: 'allow', systemMessage, warnings: [systemMessage] })
  const none = 'dispatch.manifest.json enables no module, so nothing is checked'
  const { output } = await fire('PreToolUse', read)
  assert.deepEqual([output['warnings'], output['systemMessage']], [[none], none])
  assert.match(trace(), /PreToolUse aaaaaaaa allow by dispatcher; ran none; \d+ ms\n$/)
})

test('what is wrong in the files and in the input is a warning and an event, each under its kind', async () => {
  const long = 'x'.repeat(1200)
  const { fire, root } = repository({
    'config.json': { session: 1, version: 1, $schema: 'x', 'graph-pretooluse': {}, [long]: 1 },
    'workspace.json': { workRoot: '/elsewhere' },
    'dispatch.manifest.json': { version: 1, enforcePhases: 1, modules: { session: {} } },
  })
  const config = [
    'workspace.json: workRoot must be a folder below the repository',
    'dispatch.manifest.json: enforcePhases must be true or false',
    'config.json: session must be an object',
    `config.json: ${long} must be an object`,
  ]
  const { output } = await fire('PreToolUse', {})
  assert.deepEqual([output['warnings'], output['decision']], [['stdin names no tool', ...config], 'ask'])
  const events = readFileSync(join(root, '.ai/tmp/aaaaaaaa/events.jsonl'), 'utf8').trim().split('\n')
  assert.deepEqual(
    events
      .map((line) => JSON.parse(line))
      .filter(({ kind }) => kind.endsWith('_INVALID'))
      .map(({ kind, producer, reason }) => [kind, producer, reason]),
    [
      ['INPUT_INVALID', 'dispatcher', 'stdin names no tool'],
      ...config.map((reason) => ['CONFIG_INVALID', 'dispatcher', reason.slice(0, 1000)]),
    ],
  )
  const broken = repository({ 'config.json': '{', 'workspace.json': '{', 'dispatch.manifest.json': '{' }, [
    'session',
    'graph-pretooluse',
  ])
  const said = (await broken.fire('PreToolUse', read)).output['warnings'] as string[]
  assert.deepEqual(
    said
      .map((text) => text.replace(/: .*;/, ': …;'))
      .filter((text) => !text.startsWith('module '))
      .toSorted(),
    [
      'config.json: …; defaults are used',
      'dispatch.manifest.json: …; the minimal modules are used',
      'workspace.json: …; the usual places are used',
    ],
  )
  const list = repository({ 'config.json': '[]' })
  assert.deepEqual((await list.fire('PreToolUse', read)).output['warnings'], [
    'config.json is not an object; defaults are used',
  ])
})

test('a module that ends the process, prints or throws late changes nothing but the trace', async () => {
  const exits = withOwn('process.exit(3)')
  const failed = (await exits.fire('PreToolUse', read)).output
  assert.deepEqual(
    [failed['decision'], failed['warnings']],
    ['allow', ['module mine failed: a module called process.exit()']],
  )
  const prints = withOwn(
    "setInterval(() => {}, 1000); process.getBuiltinModule('node:fs').writeSync(1, 'to descriptor 1\\n'); console.log('to stdout'); process.stderr.write(Buffer.from('to stderr')); process.stdout.write('x', () => {}); return { decision: 'ask', denyReason: 'sure?' }",
  )
  const asked = await prints.fire('PreToolUse', read)
  assert.deepEqual(
    [asked.stdout.split('\n').length, asked.output['decision'], asked.output['denyReason']],
    [2, 'ask', 'sure?'],
  )
  assert.match(
    prints.trace(),
    /^to descriptor 1\n\d{13} \d+ printed: to stdout \n\d{13} \d+ printed: to stderr\n\d{13} \d+ printed: x\n/,
  )
  assert.match(prints.trace(), /PreToolUse aaaaaaaa ask by mine; ran session mine; \d+ ms\n$/)
  const late = withOwn(`if (event === 'Stop') Promise.reject(new Error('rejected late'))
    else setTimeout(() => { throw new Error('thrown late') }, 1)
    return new Promise((done) => setTimeout(done, 2000))`)
  assert.deepEqual((await late.fire('PreToolUse', read)).output['warnings'], ['module mine failed: thrown late'])
  assert.deepEqual((await late.fire('Stop', {})).output['warnings'], ['module mine failed: rejected late'])
  assert.match(
    late.trace(),
    /^\d{13} \d+ stray error: Error: thrown late .*\n.*\n\d{13} \d+ stray error: Error: rejected late .*\n.*\n$/,
  )
})

test('a crash: what was decided stands, a guard that was not asked refuses, and otherwise nothing is refused', async () => {
  const breaks = (name: string) => `${name} = () => { throw new Error('${name}') };`
  const odd = `const warnings = []; ${breaks('warnings[Symbol.iterator]')} return { warnings }`
  const noRecord = breaks('String.prototype.toLowerCase') // the input of the call cannot be summarised
  const critical = { mine: { priority: -1 }, session: {} }
  const refused = 'dispatcher: ended before session had been asked: warnings[Symbol.iterator]'
  const failed = (why: string) => `dispatcher: failed (${why}); its rules were not applied`
  const ended = 'dispatcher: ended before mine had been asked: the process was ended by a module'
  const denied = (problem: string) => ({
    ...{ decision: 'deny', denyReason: problem, warnings: [problem], systemMessage: problem },
    hookSpecificOutput: {
      ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: problem },
    },
  })
  const deny = "return { decision: 'deny', denyReason: 'no' }"
  type Row = [body: string, manifest: Json, output: Json, crash: string]
  const table: Row[] = [
    [
      odd,
      { modules: critical, dialect: 'copilot-cli' },
      { ...denied(refused), permissionDecision: 'deny', permissionDecisionReason: refused },
      'warnings[Symbol.iterator]',
    ],
    [
      odd,
      { modules: { mine: {} } },
      {
        decision: 'allow',
        warnings: [failed('warnings[Symbol.iterator]')],
        systemMessage: failed('warnings[Symbol.iterator]'),
        hookSpecificOutput: { hookEventName: 'PreToolUse' },
      },
      'warnings[Symbol.iterator]',
    ],
    [
      `${noRecord} ${deny}`,
      { modules: { mine: {} }, dialect: 'claude' },
      {
        hookSpecificOutput: {
          ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no' },
        },
      },
      'String.prototype.toLowerCase',
    ],
    ...[deny, "return { decision: 'ask', denyReason: 'sure?' }"].map(
      (said): Row => [
        `${noRecord} ${breaks('process.hrtime')} ${said}`,
        { modules: { mine: {} } },
        denied(failed('String.prototype.toLowerCase')),
        'String.prototype.toLowerCase',
      ],
    ),
    [
      'process.exitCode = 3; globalThis.setTimeout = () => 0; return new Promise(() => {})',
      { modules: { mine: { critical: true } } },
      denied(ended),
      'the process was ended by a module',
    ],
  ]
  for (const [body, manifest, output, crash] of table) {
    const { fire, trace } = repository({
      'features/mine/hook.mjs': own('mine', body),
      'dispatch.manifest.json': { version: 1, budgets: { PreToolUse: 60_000 }, ...manifest },
    })
    const seen = await fire('PreToolUse', read)
    assert.deepEqual([seen.code, plain(seen.output)], [0, output])
    const line = trace()
      .split('\n')
      .find((each) => each.includes('crash: '))!
    assert.equal(line.slice(line.indexOf('crash: ')).startsWith(`crash: Error: ${crash} `), true, line)
  }
})

test('a critical module that cannot be loaded refuses the call, and says why', async () => {
  const { fire } = repository({
    'features/mine/hook.mjs': "throw new Error('at once')",
    'dispatch.manifest.json': { version: 1, budgets: { PreToolUse: 60_000 }, modules: { mine: { critical: true } } },
  })
  const { output } = await fire('PreToolUse', read)
  assert.deepEqual(
    [output['decision'], output['denyReason'], output['warnings']],
    [
      'deny',
      'the critical module mine failed (at once), so the call is refused; run: ona dispatcher doctor',
      ['module mine failed: at once'],
    ],
  )
})

test('modules run by priority, those of their own manifest’s word, and only on what they support', async () => {
  const list = "['PreToolUse']"
  const made = (name: string, more: string) =>
    `export default { name: '${name}', supports: ${list}, hotPathSafe: true, ${more} handle() { return { warnings: ['${name}'] } } }`
  const { fire } = repository({
    'features/late/hook.mjs': made('late', ''),
    'features/early/hook.mjs': made('early', 'priority: 9,'),
    'features/moved/hook.mjs': made('moved', 'priority: 9,'),
    'features/slow/hook.mjs': made('slow', 'hotPathSafe: false,'),
    'features/hot/hook.mjs': made('hot', 'hotPathSafe: false,'),
    'dispatch.manifest.json': {
      version: 1,
      budgets: { PreToolUse: 60_000 },
      modules: { late: {}, early: {}, moved: { priority: 2000 }, slow: {}, hot: { hotPathSafe: true, priority: 1 } },
    },
  })
  assert.deepEqual((await fire('PreToolUse', read)).output['warnings'], ['hot', 'early', 'late', 'moved'])
})

test('a module may be an instance of a class, and hears what was decided', async () => {
  const { fire, root } = repository({
    'features/mine/hook.mjs': `class Mine { name = 'mine'; supports = ['PreToolUse']; hotPathSafe = true
      handle() { return { warnings: [this.name] } }
      settled(_ctx, outcome) { return { emitEvents: [{ kind: 'SETTLED', data: { name: this.name, ...outcome } }] } } }
      export default new Mine()`,
    'dispatch.manifest.json': { version: 1, budgets: { PreToolUse: 60_000 }, modules: { mine: {} } },
  })
  assert.deepEqual((await fire('PreToolUse', read)).output['warnings'], ['mine'])
  const events = readFileSync(join(root, '.ai/tmp/aaaaaaaa/events.jsonl'), 'utf8').trim().split('\n')
  assert.deepEqual(
    events
      .map((line) => JSON.parse(line))
      .filter(({ kind }) => kind === 'SETTLED')
      .map(({ producer, data }) => [producer, data]),
    [['mine', { name: 'mine', decision: 'allow', decidedBy: 'dispatcher' }]],
  )
})

test('the dialect of the command line is the one that is answered in', async () => {
  const { fire } = repository()
  const { output } = await fire('PreToolUse', { ...read, tool_name: 'Read' }, 'claude')
  assert.deepEqual(output, {})
})
