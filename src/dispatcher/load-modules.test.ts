// in a process of its own: loading a module that is not ours takes the descriptors for good
/** Which modules are asked, as what, and that one that cannot be loaded is a seat that failed, not none. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { type Bundled, type Importer, installedPart, installedText, loadModules } from './load-modules.ts'
import type { ModuleEntry } from './manifest.ts'
import type { EventName, HookModule } from './types.ts'

const root = mkdtempSync(join(tmpdir(), 'ona-load-'))
after(() => rmSync(root, { recursive: true }))
const put = (file: string, text: string) => {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}
const pathOf = (name: string) => `features/${name}/hook.mjs`
const installed = ['session', 'graph-pretooluse', 'stop-synth', 'memory-journal']
for (const name of installed) put(pathOf(name), `// ${name}\n`)
put('lib/features.txt', installed.map((name) => installedText(name, `// ${name}\n`)).join(''))

const module = (name: string, more: object = {}): HookModule =>
  ({ name, priority: 7, hotPathSafe: true, critical: true, supports: new Set(['Stop']), handle() {}, ...more }) as never
const load = async (
  entries: readonly (Partial<ModuleEntry> & { name: string })[],
  { event = 'Stop' as EventName, bundled = {} as Bundled, importer = (async () => ({})) as Importer } = {},
) => {
  const whole = entries.map((entry) => ({ path: pathOf(entry.name), ...entry }))
  const seats = await loadModules(whole, event, root, 50, bundled, importer)
  return seats.map(({ module, failure, ...seat }) => ({
    ...seat,
    module: module?.name,
    failure: failure?.message.replaceAll(root, '<root>'),
  }))
}
const failed = (name: string, failure: string, more: object = {}) => ({
  ...{ name, priority: 1000, critical: false, own: false, module: undefined, failure },
  ...more,
})

const noEvent =
  'supports no event that there is (SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PreCompact, Stop, SubagentStart, SubagentStop)'

test('a file that cannot be read is a seat that failed, as critical as its module', async () => {
  const gone = { path: 'gone.mjs' }
  const missing = "cannot be read: ENOENT: no such file or directory, open '<root>/gone.mjs'"
  assert.deepEqual(
    await load([
      { name: 'mine', ...gone },
      { name: 'other', path: '../other.mjs' },
      { name: 'another', path: 'features/../../other.mjs' },
      { name: 'stop-synth', ...gone },
      { name: 'session', ...gone },
      { name: 'memory-journal', ...gone, priority: 3, critical: true },
      { name: 'graph-pretooluse', ...gone }, // not asked at Stop
      { name: 'toString', ...gone },
    ]),
    [
      failed('session', missing, { priority: 0, critical: true }),
      failed('memory-journal', missing, { priority: 3, critical: true }),
      failed('stop-synth', missing, { priority: 100 }),
      failed('mine', missing),
      failed('other', 'cannot be read: ../other.mjs is outside .ai/hooks'),
      failed('another', 'cannot be read: features/../../other.mjs is outside .ai/hooks'),
      failed('toString', missing),
    ],
  )
})

test('a module as it was installed is taken from the bundle, where it concerns the event', async () => {
  const all = ['PreToolUse', 'Stop'] as const
  const bundled = Object.fromEntries(
    installed.map((name) => [name, module(name, { supports: new Set(all), hotPathSafe: name !== 'stop-synth' })]),
  )
  const names = installed.map((name) => ({ name }))
  const seat = (name: string) => ({ name, priority: 7, critical: true, own: false, module: name, failure: undefined })
  assert.deepEqual(await load(names, { bundled }), [seat('session'), seat('stop-synth'), seat('memory-journal')])
  assert.deepEqual(await load(names, { bundled, event: 'PreToolUse' }), [seat('session'), seat('graph-pretooluse')])
  assert.deepEqual(
    await load(
      [
        { name: 'session', hotPathSafe: false },
        { name: 'graph-pretooluse', priority: 2, critical: false },
      ],
      {
        ...{ bundled, event: 'PreToolUse' },
      },
    ),
    [{ ...seat('graph-pretooluse'), priority: 2, critical: false }],
  )
})

test('an installed module that is not in the bundle is imported only where it concerns the event', async () => {
  const imported: string[] = []
  const importer = async (url: string) => {
    imported.push(url.replace(/.*\/features\//, ''))
    return { default: module('stop-synth') }
  }
  await load([{ name: 'stop-synth' }], { event: 'PreToolUse', importer })
  assert.deepEqual(imported, [])
  await load([{ name: 'stop-synth' }], { importer })
  assert.deepEqual(imported, ['stop-synth/hook.mjs'])
})

test('a module that is imported: what is wrong with it, that it takes too long, and what counts of it', async () => {
  const given = async (value: unknown, name = 'session') =>
    (await load([{ name }], { importer: async () => ({ default: value }) }))[0]
  const as = { priority: 0, critical: true }
  const rows: [unknown, string][] = [
    [undefined, 'has no default export that is an object'],
    [null, 'has no default export that is an object'],
    [() => {}, 'has no default export that is an object'],
    [module('other'), 'calls itself "other" but the manifest says "session"'],
    [module('Session'), 'calls itself "Session" but the manifest says "session"'],
    [module('session', { handle: 7 }), 'has no handle()'],
    [module('session', { settled: 7 }), 'has a settled that is not a function'],
    [module('session', { supports: 'Stop' }), 'has no supports (a Set of event names)'],
    [module('session', { supports: new Set() }), noEvent],
    [module('session', { supports: ['stop', 'PreTooluse', 7] }), noEvent],
  ]
  for (const [value, failure] of rows) assert.deepEqual(await given(value), failed('session', failure, as), failure)
  const seat = { name: 'session', priority: 7, critical: true, own: true, module: 'session', failure: undefined }
  assert.deepEqual(await given(module('session', { supports: ['Stop'] })), seat)
  assert.deepEqual(await given(module('session', { priority: '7', critical: 'yes' })), {
    ...{ ...seat, priority: 1000, critical: false },
  })
  assert.equal(await given(module('session', { supports: ['PreToolUse'] })), undefined)
  const before = async (hotPathSafe: boolean, entry: object = {}) => {
    const own = module('graph-pretooluse', { supports: ['PreToolUse'], hotPathSafe })
    const importer = async () => ({ default: own })
    return (await load([{ name: 'graph-pretooluse', ...entry }], { event: 'PreToolUse', importer })).length
  }
  assert.deepEqual(
    [await before(true), await before(false), await before(false, { hotPathSafe: true })],
    [1, 0, 1], // before a tool only what is quick enough is asked
  )
  const throwing = async () => Promise.reject(new Error('broken'))
  assert.deepEqual(await load([{ name: 'session' }], { importer: throwing }), [failed('session', 'broken', as)])
  assert.deepEqual(await load([{ name: 'session' }], { importer: () => new Promise(() => {}) }), [
    failed('session', 'did not finish loading in 50 ms', as),
  ])
})

test('methods keep their object, and what is inherited counts', async () => {
  class Own {
    name = 'session'
    supports = new Set(['Stop'])
    words = 'mine'
    get priority() {
      return 5
    }
    handle() {
      return { warnings: [this.words] }
    }
    settled() {
      return { warnings: [`settled ${this.words}`] }
    }
  }
  const entry = { name: 'session', path: pathOf('session') }
  const [seat] = await loadModules([entry], 'Stop', root, 5000, {}, async () => ({ default: new Own() }))
  const { handle, settled } = seat!.module!
  assert.deepEqual(
    [seat!.priority, handle('Stop', {} as never), settled!({} as never, {} as never)],
    [5, { warnings: ['mine'] }, { warnings: ['settled mine'] }],
  )
})

test('the file of each module, as it was installed', () => {
  const text = Buffer.from(`${installedText('a', 'one\n')}${installedText('ab', 'two\n@ not a heading\n')}`)
  assert.deepEqual(
    ['a', 'ab', 'b'].map((name) => installedPart(text, name)?.toString()),
    ['one\n', 'two\n@ not a heading\n', undefined],
  )
})

test('the limit of an import ends with it, whatever came of it', async (t) => {
  put(pathOf('mine'), '// mine')
  const [begun, ended] = [t.mock.method(globalThis, 'setTimeout'), t.mock.method(globalThis, 'clearTimeout')]
  for (const importer of [async () => ({ default: module('mine') }), () => Promise.reject(new Error('broken'))])
    await load([{ name: 'mine' }], { importer })
  const limits = begun.mock.calls.filter(({ arguments: [, ms] }) => ms === 50).map(({ result }) => result)
  const cleared = ended.mock.calls.map(({ arguments: [timer] }) => timer)
  assert.deepEqual(
    limits.map((limit) => cleared.includes(limit)),
    [true, true],
  )
})
