/** What the dispatcher's rules say at their limits, and of texts that only nearly match. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readAction } from './action.ts'
import { buildOutput } from './host/output.ts'
import { clock } from './lazy-builtins.ts'
import { readManifest } from './manifest.ts'
import { registeredEvents } from './registration.ts'
import { globInside, globMatches } from './rules/glob.ts'
import { checkPlan, planLimitBytes } from './rules/plan-graph.ts'
import { unboundedRead, wordsIn } from './rules/terminal.ts'
import type { Run } from './run.ts'
import { collect } from './session/collect-garbage.ts'
import { buildPaths, readWorkspace } from './session/paths.ts'
import { isWorkId } from './session/phase.ts'
import { sessionIdFor } from './session/session-id.ts'
import { applyPatch, emptyState } from './session/state.ts'
import { checkSchema } from './setup/check-schema.ts'
import { summarise } from './summary.ts'

const folder = mkdtempSync(join(tmpdir(), 'dispatcher-limits-'))
after(() => rmSync(folder, { recursive: true }))

test('patterns: a "!" inside a class is a letter, and one is inside another only from its first letter to its last', () => {
  assert.deepEqual(
    ['!', 'a', 'c'].map((char) => globMatches('[a!]', char)),
    [true, true, false],
  )
  const inside: [string, string, boolean][] = [
    ['src/a*', 'src/**', true],
    ['src/a*', 'src/**/*', true],
    ['src/a*', '*src/**', false],
    ['src/a*', 'src/**/x', false],
    ['src/a*', 'sr/**', false],
  ]
  assert.deepEqual(
    inside.map(([inner, outer]) => [inner, outer, globInside(inner, outer)]),
    inside,
  )
})

test('patterns: a class holds the bracket that comes first in it, and never a slash; leading "./" and many stars', () => {
  const table: [string, string, boolean][] = [
    ['[]a]', ']', true],
    ['[]a]', 'a', true],
    ['[]a]', 'b', false],
    ['[!]a]', ']', false],
    ['[!]a]', 'b', true],
    ['[^]a]', 'b', true],
    ['[[a]', '[', true],
    ['x[!a]y', 'x/y', false],
    ['x[.-0]y', 'x/y', false],
    ['[]', '[]', true],
    ['{a{b}', '{a{b}', true],
    ['{a{b}', 'ab', false],
    ['././a', 'a', true],
    ['***/b', 'b', true],
    ['***/b', 'a/b', true],
    ['a***b', 'ax/yb', true],
  ]
  assert.deepEqual(
    table.map(([pattern, path]) => [pattern, path, globMatches(pattern, path)]),
    table,
  )
})

test('commands: the longest that is looked through, words that begin with an escape, options that only look like some', () => {
  const long = 'x'.repeat(65_536)
  assert.deepEqual([wordsIn(long), wordsIn(`${long}x`)], [[long], undefined])
  const grep = 'grep -r x src'.padEnd(65_536)
  assert.equal(unboundedRead(grep, '/r', '/r'), undefined)
  assert.equal(unboundedRead(`${grep} `, '/r', '/r'), `grep -r x src${' '.repeat(47)}… (65537 characters)`)
  assert.deepEqual(wordsIn(`\\ a \\"b c\\ d \\\nend`), [' a', '"b', 'c d', 'end'])
  const reads: [string, string | undefined][] = [
    ['find src --L /', undefined],
    ['find -L src -name x', undefined],
    ['grep -r foo src/a> /', 'grep -r foo src/a> /'],
    ['grep -r foo src 2> /', undefined],
    ['Set-Location src; grep -r x .', undefined],
  ]
  assert.deepEqual(
    reads.map(([command]) => [command, unboundedRead(command, '/home/r', '/home/r')]),
    reads,
  )
})

const node = (id: string, more: object) => ({ id, description: id, tool: '*', ...more })
const problemsOf = (...nodes: object[]) => {
  const check = checkPlan(JSON.stringify({ nodes }), 'w001')
  return check.ok ? [] : check.problems.map(({ code, message }) => `${code} ${message}`)
}

test('plans: as long as allowed, a cycle from where it begins, a refusal with a scope or a tool', () => {
  const text = JSON.stringify({ nodes: [node('a', {})] })
  const codes = (length: number) => {
    const check = checkPlan(text.padEnd(length), 'w001')
    return check.ok ? 'ok' : check.problems[0]!.code
  }
  assert.deepEqual([planLimitBytes, planLimitBytes + 1].map(codes), ['ok', 'PG_TOO_LARGE'])
  const cycle = [
    node('a', { dependencies: ['b'] }),
    node('b', { dependencies: ['c'] }),
    node('c', { dependencies: ['b'] }),
  ]
  assert.deepEqual(problemsOf(...cycle), ['PG_DEP_CYCLE dependencies go round: b → c → b'])
  const refused = { status: 'forbidden', reason: 'no', tool: undefined }
  const missing = 'PG_TOOL_MISSING a: tool or tools must name at least one tool ("*" for any)'
  assert.deepEqual(
    [problemsOf(node('a', { ...refused, scope: [] })), problemsOf(node('a', { ...refused, scope: ['src/**'] }))].map(
      (found) => found.filter((each) => each.startsWith('PG_TOOL')),
    ),
    [[missing], []],
  )
})

test('plans: ids of 64 letters, tools with a name, and chains that meet again and again', () => {
  const long = 'PG_ID_INVALID nodes[0].id must be 1 to 64 letters, digits, dots, dashes or underscores'
  assert.deepEqual([problemsOf(node('x'.repeat(64), {})), problemsOf(node('x'.repeat(65), {}))], [[], [long]])
  const missing = 'PG_TOOL_MISSING a: tool or tools must name at least one tool ("*" for any)'
  assert.deepEqual(
    [{ tool: '' }, { tools: [''] }, { tool: 'x', tools: [''] }].map((more) => problemsOf(node('a', more))),
    [[missing], [missing], [missing]],
  )
  // two ways at each of 40 steps: each node is gone through once, not once for each way that leads to it
  const chain = Array.from({ length: 40 }, (_, at) => [`l${at}`, `r${at}`])
  const nodes = chain.flatMap((pair, at) => pair.map((id) => node(id, { dependencies: chain[at + 1] ?? [] })))
  assert.deepEqual(problemsOf(...nodes), [])
})

test('a list is right when each of its items is', () => {
  const items: [string, unknown[], string][] = [
    ['warnings', ['a', 1], 'a list of strings'],
    ['emitEvents', [{ kind: 'a' }, {}], 'a list of events with a kind'],
    ['registerArtifacts', [{ kind: 'a', ref: 'b' }, { kind: 'a' }], 'a list of artifacts with kind and ref'],
    ['additionalContext', [{ key: 'a', value: 'b' }, { key: 'a' }], 'a list of {key, value}'],
  ]
  for (const [key, list, must] of items) {
    assert.throws(() => readAction({ [key]: list }), { message: `returned an action whose ${key} is not ${must}` })
    assert.deepEqual(readAction({ [key]: list.slice(0, 1) }), { [key]: list.slice(0, 1) })
  }
  const { problems } = readManifest({ phasePolicy: { PLANNING: { allowTools: ['a', 1], mode: 'deny' } } })
  assert.equal(problems.filter((each) => each.includes('phasePolicy.PLANNING must be')).length, 1)
})

test('schemas: one of several types is enough; as many items as allowed', () => {
  assert.deepEqual([checkSchema({ type: 'string' }, ''), checkSchema({ type: 'array' }, [])], [[], []])
  const either = { type: ['string', 'null'] }
  assert.deepEqual(
    [checkSchema(either, null), checkSchema(either, 'a'), checkSchema(either, 1)],
    [[], [], ['it must be string or null']],
  )
  const two = { type: 'array', minItems: 1, maxItems: 2 }
  assert.deepEqual(
    [[], [1], [1, 2], [1, 2, 3]].map((list) => checkSchema(two, list)),
    [['it must hold at least 1'], [], [], ['it must hold at most 2']],
  )
})

test('an input is kept whole up to 4096 characters of JSON', () => {
  const ofLength = (length: number) => {
    const input = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at + 10}`, 'x'.repeat(190)]))
    for (const key of Object.keys(input)) input[key] += 'y'.repeat(Math.min(10, length - JSON.stringify(input).length))
    assert.equal(JSON.stringify(input).length, length)
    return input
  }
  const [whole, cut] = [ofLength(4096), ofLength(4097)]
  assert.deepEqual(
    [summarise(whole, []), summarise(cut, [])],
    [whole, `${JSON.stringify(cut).slice(0, 4056)}… (4097 characters)`],
  )
})

test('the last message is shortened past 1000 characters, and the time since the start is what has passed', () => {
  const run = (warning: string, startMs = clock()) =>
    ({
      session: { event: { name: 'Stop' }, ids: { hookRunId: 'r' } },
      manifest: {},
      decision: 'allow',
      inputMetadata: {},
      context: [],
      warnings: [warning],
      ran: [],
      startMs,
    }) as unknown as Run
  const message = (length: number) => buildOutput(run('x'.repeat(length)), 'vscode')['systemMessage']
  assert.deepEqual([message(1000), message(1001)], ['x'.repeat(1000), `${'x'.repeat(999)}…`])
  const { _debug } = buildOutput(run('', clock() - 5e6), 'vscode') as { _debug: { elapsedMs: number } }
  assert.ok(_debug.elapsedMs >= 5e6 && _debug.elapsedMs < 5e6 + 600_000, String(_debug.elapsedMs))
})

test('registered for an event is where one of its entries is ours', () => {
  const [ours, other] = [{ command: 'node .ai/hooks/dispatch.mjs Stop' }, { command: 'x' }]
  const hooks = {
    Stop: [other, ours, null],
    PreToolUse: [other, { command: 'node x/dispatch.mjs' }],
    PreCompact: ours,
    SessionStart: [],
  }
  assert.deepEqual(
    [registeredEvents({ hooks }), registeredEvents({ hooks: { Stop: [undefined, ours] } })],
    [['Stop'], ['Stop']],
  )
})

test('names: of work, of a session and of the folder that sessions lie in', () => {
  assert.deepEqual(['w001', 'xw001', 'w0011', 'w01'].map(isWorkId), [true, false, false, false])
  const idOf = (hostId: string) => sessionIdFor(hostId, folder, 'e', 0, () => undefined)
  assert.equal(idOf('0123abcd-x'), '0123abcd')
  assert.notEqual(idOf('x0123abcd-x'), '0123abcd')
  const problem = 'workspace.json: workRoot must be a folder below the repository'
  const rootOf = (workRoot: string) => {
    const { workspace, problems } = readWorkspace({ workRoot })
    return problems.length > 0 ? problems : workspace.workRoot
  }
  const longest = 'a'.repeat(64)
  assert.deepEqual(['.ai/x', `.${longest}`, `${longest}.`, 'a..b', '..', 'a\\.b'].map(rootOf), [
    '.ai/x',
    `.${longest}`,
    [problem],
    'a..b',
    [problem],
    'a/.b',
  ])
})

test('a patch that names the work in hand leaves its phase; the time of a check never goes back', () => {
  const begin = emptyState('s')
  assert.deepEqual(applyPatch(begin, { core: { workId: 'w001' } }), begin)
  assert.equal(applyPatch(begin, { core: { workId: 'w002' } }).core.phase, 'PLANNING')
  const checked = (lastCheckTs: number) => ({ cap: { neo4j: { enabled: true, reachable: true, lastCheckTs } } })
  const after = applyPatch(applyPatch(begin, checked(5)), checked(4))
  assert.equal(after.cap?.neo4j?.lastCheckTs, 5)
})

test('sessions count as in use or old to the millisecond', () => {
  const now = 1_800_000_000_000
  const hooks = join(folder, '.ai', 'hooks')
  const paths = buildPaths(hooks, readWorkspace({}).workspace, 'ffffffff')
  const session = (sid: string, ago: number) => {
    mkdirSync(join(paths.workRoot, sid), { recursive: true })
    writeFileSync(join(paths.workRoot, sid, 'e'), '')
    utimesSync(join(paths.workRoot, sid, 'e'), (now - ago) / 1000, (now - ago) / 1000)
  }
  const day = 24 * 60 * 60_000
  const newest = () => sessionIdFor(undefined, paths.workRoot, 'e', now, () => undefined)
  session('aaaaaaaa', 600_000)
  assert.equal(newest(), 'aaaaaaaa')
  session('bbbbbbbb', 600_000)
  assert.equal(newest(), 'aaaaaaaa', 'the first of two that are as new')
  for (const [sid, ago] of Object.entries({ aaaaaaaa: 600_001, bbbbbbbb: 2 * day, cccccccc: 2 * day + 1 }))
    session(sid, ago)
  assert.equal(['aaaaaaaa', 'bbbbbbbb', 'cccccccc'].includes(newest()), false)
  collect(paths, { stateFile: 's', eventsFile: 'e' }, { maxAgeDays: 2, maxSessions: 9 }, now)
  assert.deepEqual(
    ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'].map((sid) => existsSync(join(paths.workRoot, sid))),
    [true, true, false],
  )
})

test('the clock counts fractions of a millisecond', (t) => {
  t.mock.method(process, 'hrtime', () => [2, 3_456_789])
  assert.equal(clock(), 2003.456789)
})
