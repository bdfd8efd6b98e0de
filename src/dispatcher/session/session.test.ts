/** The session on disk: whose it is, what its state is rebuilt from, which numbers are given out, and what goes. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs, {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Json, State } from '../types.ts'
import { collect } from './collect-garbage.ts'
import { appendLines, linesWith, makeFolder, readBytes, readFrom, readJson, readText, replaceFile } from './files.ts'
import { alone } from './lock.ts'
import { buildPaths, isBelow, isSegment, normalisePath, readWorkspace } from './paths.ts'
import { isPhase, isWorkId, laterPhase } from './phase.ts'
import { openSession } from './session.ts'
import { isSessionId, sessionIdFor } from './session-id.ts'
import { applyPatch, arraysIn, catchUp, changes, emptyState, loadState } from './state.ts'

const { workspace } = readWorkspace({})

function folder(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'session-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  return root
}
const put = (root: string, file: string, text: string, ageMs?: number) => {
  mkdirSync(join(root, file, '..'), { recursive: true })
  writeFileSync(join(root, file), text)
  if (ageMs !== undefined) utimesSync(join(root, file), (now - ageMs) / 1000, (now - ageMs) / 1000)
}
const now = Date.now()
const minute = 60_000
const day = 24 * 60 * minute

test('a host’s session becomes eight hex digits; a folder that is another host’s is left alone', (t) => {
  const root = folder(t)
  const owners: Record<string, string> = {}
  const id = (host: string | undefined) =>
    sessionIdFor(host, root, 'events.jsonl', now, (sid) => owners[sid] && { core: { hostSessionId: owners[sid] } })
  const uuid = '1f0c22ab-1111-4222-8333-444444444444'
  assert.deepEqual([id(uuid), id('1f0c22ab')], ['1f0c22ab', '1f0c22ab'])
  assert.match(id('session one'), /^[0-9a-f]{8}$/)
  assert.notEqual(id('1f0c22ab1111'), '1f0c22ab', 'a first group of eight is meant, not the first eight letters')
  assert.notEqual(id('1F0C22AB-1'), '1f0c22ab', 'only lower case is a folder’s name already')
  owners['1f0c22ab'] = uuid
  assert.equal(id(uuid), '1f0c22ab')
  owners['1f0c22ab'] = 'another'
  const hashed = id(uuid)
  assert.ok(isSessionId(hashed) && hashed !== '1f0c22ab')
  owners[hashed] = 'another'
  const second = id(uuid)
  assert.ok(isSessionId(second) && second !== hashed && second !== '1f0c22ab')
  const long = 'x'.repeat(600)
  owners[id(long)] = long.slice(0, 500)
  assert.equal(owners[id(long)], long.slice(0, 500), 'as much of the name as the state keeps')
  assert.ok(isSessionId(id(undefined)))
  assert.notEqual(id(undefined), id(''), 'a new one each time')
  put(root, 'aaaaaaaa/events.jsonl', '', 5 * minute)
  put(root, 'bbbbbbbb/events.jsonl', '', 2 * minute)
  put(root, 'cccccccc/events.jsonl', '', 3 * minute)
  put(root, 'dddddddd/other', '', 0)
  put(root, 'not-one/events.jsonl', '', 0)
  assert.deepEqual([id(undefined), id('')], ['bbbbbbbb', 'bbbbbbbb'])
  for (const sid of ['aaaaaaaa', 'bbbbbbbb', 'cccccccc']) put(root, `${sid}/events.jsonl`, '', 10 * minute + 1000)
  assert.equal(['aaaaaaaa', 'bbbbbbbb', 'cccccccc'].includes(id(undefined)), false)
  put(root, 'aaaaaaaa/events.jsonl', '', 10 * minute - 1000)
  assert.equal(id(undefined), 'aaaaaaaa')
  assert.deepEqual(['0a0a0a0a', '0a0a0a0', '0a0a0a0g', '0a0a0a0a0'].map(isSessionId), [true, false, false, false])
})

test('names from workspace.json that could climb keep the contract’s, and say so', () => {
  const names = {
    ...{
      stateFile: 'state.json',
      eventsFile: 'events.jsonl',
      registryFile: 'registry.jsonl',
      promptsFile: 'p.jsonl',
      logsDir: 'logs',
    },
    ...{
      outputDir: 'output',
      configFile: 'config.json',
      policyFile: 'rlm-policy.json',
      followupRulesFile: 'followup-rules.json',
    },
    ...{ manifestFile: 'dispatch.manifest.json', schemaDir: 'schema' },
  }
  const usual = { workRoot: '.ai/tmp', names }
  for (const raw of [undefined, [], {}, { session: { stateFile: 'state.json' }, workRoot: '.ai/tmp' }])
    assert.deepEqual(readWorkspace(raw), { workspace: usual, problems: [] })
  const own = {
    ...{
      session: { stateFile: 's', eventsFile: 'e', registryFile: 'r', promptsFile: 'q' },
      feature: { logsDir: 'l', outputDir: 'o' },
    },
    hooks: { configFile: 'c', policyFile: 'y', followupRulesFile: 'f', manifestFile: 'm', schemaDir: 'd' },
    workRoot: 'var\\.work/x',
  }
  assert.deepEqual(readWorkspace(own), {
    workspace: { workRoot: 'var/.work/x', names: { ...own.session, ...own.feature, ...own.hooks } },
    problems: [],
  })
  assert.deepEqual(
    readWorkspace({ session: { stateFile: '../x', eventsFile: 1 }, hooks: { schemaDir: '.x' }, workRoot: '../x' }),
    {
      workspace: usual,
      problems: [
        'workspace.json: session.stateFile must be a plain file name',
        'workspace.json: session.eventsFile must be a plain file name',
        'workspace.json: hooks.schemaDir must be a plain file name',
        'workspace.json: workRoot must be a folder below the repository',
      ],
    },
  )
  for (const workRoot of ['', '/tmp', 'a//b', 'a/../b', 'a/..b', 'a/.', '-a', 1])
    assert.equal(readWorkspace({ workRoot }).problems.length, 1, String(workRoot))
  assert.deepEqual(['a', 'A.b-c_1', '.a', '-a', '', 'a/b', 'x'.repeat(64), 'x'.repeat(65), 1].map(isSegment), [
    true,
    true,
    false,
    false,
    false,
    false,
    true,
    false,
    false,
  ])
})

test('paths of a session, and the form in which rules compare paths', () => {
  const paths = buildPaths('/r/.ai/hooks', workspace, 'a3f0c812')
  const { featureRoot, featureLogs, featureOutput, relRef, repoRelative, ...rest } = paths
  const session = '/r/.ai/tmp/a3f0c812'
  assert.deepEqual(rest, {
    ...{ repoRoot: '/r', hooksRoot: '/r/.ai/hooks', workRoot: '/r/.ai/tmp', sessionRoot: session },
    ...{
      stateFile: `${session}/state.json`,
      eventsFile: `${session}/events.jsonl`,
      registryFile: `${session}/registry.jsonl`,
    },
    ...{
      promptsFile: `${session}/p.jsonl`,
      configFile: '/r/.ai/hooks/config.json',
      policyFile: '/r/.ai/hooks/rlm-policy.json',
    },
    ...{ followupRulesFile: '/r/.ai/hooks/followup-rules.json', manifestFile: '/r/.ai/hooks/dispatch.manifest.json' },
    ...{ schemaDir: '/r/.ai/hooks/schema', traceFile: '/r/.ai/tmp/dispatch.log' },
  })
  assert.deepEqual(
    [
      featureRoot('one'),
      featureRoot('../one'),
      featureLogs('one'),
      featureOutput('one'),
      relRef(`${session}/a/b`),
      repoRelative('/r/a'),
    ],
    [`${session}/one`, `${session}/unnamed`, `${session}/one/logs`, `${session}/one/output`, 'a/b', 'a'],
  )
  const table: [string, string, boolean][] = [
    ['a/b', 'a/b', false],
    ['./a/../b', 'b', false],
    ['a\\b', 'a/b', false],
    ['.', '.', false],
    ['/r', '.', false],
    ['..', '/', true],
    ['../x', '/x', true],
    ['/etc/x', '/etc/x', true],
    ['..x', '..x', false],
  ]
  for (const [path, expected, outside] of table)
    assert.deepEqual([path, normalisePath(path, '/r')], [path, { path: expected, outside }])
  assert.deepEqual(
    [
      isBelow('/r', '/r'),
      isBelow('/r', '/r/a'),
      isBelow('/r', '/'),
      isBelow('/r', '/x'),
      isBelow('/r', '/r/..x'),
      isBelow('/a/b', '/a'),
    ],
    [true, true, false, false, true, false],
  )
})

test('the state is the snapshot and the lines after it; a snapshot that cannot be used is rebuilt from the log', (t) => {
  const root = folder(t)
  const log = join(root, 'events.jsonl')
  const sid = 'a3f0c812'
  const empty = { core: { sessionId: sid, workId: 'w001', lastTurnId: 0, phase: 'UNINITIALIZED' } }
  assert.deepEqual(emptyState(sid), empty)
  const load = (file: { value?: unknown; problem?: string }) => loadState(file, log, sid)
  assert.deepEqual(load({}), { state: empty, isNew: true, unseenBytes: 0 })
  const line = (patch: unknown, more: Json = {}) =>
    `${JSON.stringify({ kind: 'STATE_PATCH', workId: 'w001', data: { patch }, ...more })}\n`
  const text =
    line({ core: { lastTurnId: 2 } }) +
    line({ mine: { a: 1 } }) +
    line(1) +
    line({ b: 1 }, { kind: 'X', note: '"kind":"STATE_PATCH"' }) +
    '{"kind":"STATE_PATCH", torn\n'
  writeFileSync(log, `${text}{"kind":"STATE_PATCH","data":{"patch":{"half":1}}}`)
  const state = { core: { ...empty.core, lastTurnId: 2, lastEventOffset: text.length }, mine: { a: 1 } }
  const rebuilt = (why: string) => ({
    state,
    isNew: false,
    unseenBytes: text.length,
    problem: `${why}; rebuilt from the log`,
  })
  assert.deepEqual(load({}), rebuilt('not a state of this session'))
  assert.deepEqual(load({ problem: 'EIO' }), rebuilt('EIO'))
  for (const core of [{ sessionId: 'x' }, { workId: 'x' }, { phase: 'x' }, { lastTurnId: -1 }, { lastTurnId: 1.5 }])
    assert.deepEqual(load({ value: { core: { ...empty.core, ...core } } }), rebuilt('not a state of this session'))
  for (const value of [1, {}, { core: 1 }]) assert.deepEqual(load({ value }), rebuilt('not a state of this session'))
  assert.deepEqual(load({ value: empty }), { state, isNew: false, unseenBytes: text.length })
  assert.deepEqual(load({ value: state }), { state, isNew: false, unseenBytes: 0 })
  assert.deepEqual(catchUp(state as State, join(root, 'none')), state)
  const ahead = { ...state, core: { ...state.core, lastEventOffset: text.length + 1000 } }
  assert.equal(
    catchUp(ahead as State, log).core.lastEventOffset,
    text.length,
    'a log that was cut is read from its start',
  )
})

test('each field of a patch follows its rule', () => {
  const begin = emptyState('a3f0c812')
  const after = (patch: Json, state: State = begin, workId?: string) => applyPatch(state, patch, workId)
  assert.deepEqual(after({ a: { b: 1, c: null, d: [1] }, core: 1 }), { ...begin, a: { b: 1 } })
  assert.deepEqual(after({ a: null }, { ...begin, a: 1 } as never), begin)
  assert.deepEqual(
    JSON.parse(JSON.stringify(after(JSON.parse('{"__proto__":{"x":1},"constructor":1,"prototype":1}')))),
    begin,
  )
  const checked = (lastCheckTs: number, reachable: boolean) => ({
    cap: { neo4j: { enabled: true, reachable, lastCheckTs } },
  })
  const known = after(checked(5, true))
  assert.deepEqual(after(checked(4, false), known).cap, { neo4j: { enabled: true, reachable: false, lastCheckTs: 5 } })
  assert.deepEqual(after(checked(6, false), known).cap, { neo4j: { enabled: true, reachable: false, lastCheckTs: 6 } })
  const core = (patch: Json, state?: State, workId?: string) => after({ core: patch }, state, workId).core
  const base = begin.core
  assert.deepEqual(core({ workId: 'w003' }), { ...base, workId: 'w003', phase: 'PLANNING' })
  assert.deepEqual(core({ workId: 'w000', phase: 'COMPLETE' }), base, 'what an earlier work unit says is past')
  assert.deepEqual(core({ phase: 'EXECUTING' }, begin, 'w000'), base)
  assert.deepEqual(core({ phase: 'EXECUTING', mine: 1, lastTurnId: 'x' }), { ...base, phase: 'EXECUTING', mine: 1 })
  assert.deepEqual(core({ lastEventOffset: 9, hostSessionId: 'h' }), { ...base, hostSessionId: 'h' })
  const blocked = after({ core: { phase: 'BLOCKED', prevPhase: 'PLANNING' } })
  assert.deepEqual(blocked.core, { ...base, phase: 'BLOCKED', prevPhase: 'PLANNING' })
  assert.deepEqual(core({ phase: 'PLANNING', prevPhase: null }, blocked), { ...base, phase: 'PLANNING' })
  assert.deepEqual(core({ phase: 'BLOCKED', prevPhase: null }, blocked).phase, 'BLOCKED')
  assert.deepEqual(laterPhase({ workId: 'w001', phase: 'EXECUTING' }, { workId: 'w001', phase: 'BLOCKED' }, false), {
    workId: 'w001',
    phase: 'BLOCKED',
    prevPhase: 'EXECUTING',
  })
  assert.deepEqual([changes(begin, { core: { phase: 'UNINITIALIZED' } }), changes(begin, { a: 1 })], [false, true])
  assert.deepEqual(arraysIn({ a: [1], b: { c: [], d: { e: [1] } }, f: 1 }), ['a', 'b.c', 'b.d.e'])
  assert.deepEqual([isPhase('PLANNING'), isPhase('toString'), isPhase(1)], [true, false, false])
  assert.deepEqual(['w001', 'w1', 'x001', 'w0011', 1].map(isWorkId), [true, false, false, false, false])
})

test('turns and subagents get numbers of their own, which are in the log at once', (t) => {
  const root = folder(t)
  const hooks = join(root, '.ai/hooks')
  const sid = '1f0c22ab'
  const open = (name: Parameters<typeof openSession>[0], raw: Json = {}, at = 1000) =>
    openSession(name, { session_id: sid, ...raw }, hooks, workspace, at)
  const first = open('PreToolUse')
  assert.deepEqual(
    [first.isNew, first.ids, first.unseenBytes, first.problems, existsSync(first.paths.sessionRoot)],
    [true, { sessionId: sid, workId: 'w001', agentId: 'u00', turnId: 0, hookRunId: 'PreToolUse-0-1000' }, 0, [], true],
  )
  assert.deepEqual(open('UserPromptSubmit').ids, {
    sessionId: sid,
    workId: 'w001',
    agentId: 'u00',
    turnId: 1,
    hookRunId: 'UserPromptSubmit-1-1000',
  })
  assert.equal(open('UserPromptSubmit').ids.turnId, 2)
  const agent = (id: string, name: 'SubagentStart' | 'SubagentStop' = 'SubagentStart', at = 2000) =>
    open(name, { agent_id: id, agent_type: 'T'.repeat(150) }, at)
  const one = agent('one')
  assert.deepEqual(one.ids, {
    sessionId: sid,
    workId: 'w001',
    agentId: 'a01',
    turnId: 2,
    hookRunId: 'SubagentStart-2-2000',
  })
  assert.deepEqual([agent('two').ids.agentId, agent('one').ids.agentId], ['a02', 'a01'])
  const stopped = agent('one', 'SubagentStop', 3000)
  assert.deepEqual(
    Object.values(stopped.state.agents ?? {}).map(({ aid, type, startedTs, stoppedTs }) => [
      aid,
      type?.length,
      startedTs,
      stoppedTs,
    ]),
    [
      ['a01', 100, 2000, 3000],
      ['a02', 100, 2000, undefined],
    ],
  )
  const again = Object.values(agent('one', 'SubagentStart', 3500).state.agents ?? {})
  assert.deepEqual(
    again.map(({ aid, startedTs, stoppedTs }) => [aid, startedTs, stoppedTs]),
    [
      ['a01', 3500, undefined],
      ['a02', 2000, undefined],
    ],
  )
  agent('one', 'SubagentStop', 3600)
  const lines = readFileSync(first.paths.eventsFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(lines[0], {
    ...{
      ts: 1000,
      event: 'UserPromptSubmit',
      producer: 'dispatcher',
      kind: 'STATE_PATCH',
      hookRunId: 'UserPromptSubmit-0-1000',
    },
    ...{ turnId: 0, workId: 'w001', data: { patch: { core: { lastTurnId: 1 } } } },
  })
  for (let n = 3; n <= 99; n++) agent(`n${n}`)
  agent('n5', 'SubagentStop', 4000)
  agent('two', 'SubagentStop', 5000)
  const more = agent('one more')
  assert.equal(more.ids.agentId, 'a01', 'that of the subagent which stopped first')
  const numbers = Object.values(more.state.agents ?? {}).map(({ aid }) => aid)
  assert.deepEqual([numbers.length, new Set(numbers).size], [99, 99], 'which is then forgotten')
  assert.deepEqual([agent('the next').ids.agentId, agent('the last').ids.agentId], ['a05', 'a02'])
  assert.equal(agent('none has stopped').ids.agentId, 'a99')
  assert.equal(readdirSync(first.paths.sessionRoot).includes('state.lock'), false)
  writeFileSync(first.paths.stateFile, '{')
  assert.match(open('PreToolUse').problems[0]!, /^state\.json: .+; rebuilt from the log$/)
  put(root, 'file', 'where the folder of sessions should be')
  const nowhere = { ...workspace, workRoot: 'file' }
  const { ids } = openSession('UserPromptSubmit', { session_id: sid }, hooks, nowhere, 1)
  assert.equal(ids.turnId, 1, 'a prompt gets its number also where none can be kept')
})

test('old sessions go, by age and by number; never the one in use or one lately active', (t) => {
  const root = folder(t)
  const paths = buildPaths(join(root, '.ai/hooks'), workspace, '00000000')
  const at = (sid: string, ageMs: number, file = 'events.jsonl') => put(paths.workRoot, `${sid}/${file}`, 'x', ageMs)
  const left = (gc: { maxAgeDays: number; maxSessions: number }) => {
    collect(paths, { stateFile: 'state.json', eventsFile: 'events.jsonl' }, gc, now)
    return readdirSync(paths.workRoot).sort()
  }
  at('00000000', 90 * day)
  at('11111111', 8 * day)
  at('22222222', 6 * day)
  at('33333333', 8 * day)
  at('33333333', 5 * day, 'state.json')
  at('77777777', 5.5 * day)
  at('77777777', 8 * day, 'state.json')
  at('44444444', 90 * day, 'other')
  at('55555555', 30 * minute)
  at('66666666', 90 * minute)
  at('other', 90 * day)
  assert.deepEqual(left({ maxAgeDays: 7, maxSessions: 20 }), [
    '00000000',
    '22222222',
    '33333333',
    '44444444',
    '55555555',
    '66666666',
    '77777777',
    'other',
  ])
  assert.deepEqual(left({ maxAgeDays: 7, maxSessions: 4 }), [
    '00000000',
    '33333333',
    '44444444',
    '55555555',
    '66666666',
    'other',
  ])
  assert.deepEqual(left({ maxAgeDays: 1 / 24 / 60, maxSessions: 1 }), ['00000000', '44444444', '55555555', 'other'])
  rmSync(paths.workRoot, { recursive: true })
  collect(paths, { stateFile: 's', eventsFile: 'e' }, { maxAgeDays: 1, maxSessions: 1 }, now)
})

test('a session that cannot be removed is in the trace, and the others go', (t) => {
  const root = folder(t)
  const paths = buildPaths(join(root, '.ai/hooks'), workspace, '00000000')
  for (const sid of ['11111111', '22222222']) put(paths.workRoot, `${sid}/e`, 'x', 90 * day)
  const given = JSON.stringify([paths, { stateFile: 's', eventsFile: 'e' }, { maxAgeDays: 7, maxSessions: 9 }, now])
  const script = `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { rmSync } = fs
    fs.rmSync = (path, how) => {
      if (path.endsWith('11111111')) throw new Error('it is in use')
      rmSync(path, how)
    }
    syncBuiltinESMExports()
    const { collect } = await import('${import.meta.resolve('./collect-garbage.ts')}')
    collect(...${given})`
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  const [, , ...line] = stderr.split(' ') // after the time and the process
  assert.deepEqual(
    [line.join(' '), status, readdirSync(paths.workRoot)],
    [`session ${join(paths.workRoot, '11111111')} could not be collected: it is in use\n`, 0, ['11111111']],
  )
})

test('a write that the disk takes only in part has failed, and leaves the old file', (t) => {
  const root = folder(t)
  const file = join(root, 'state.json')
  replaceFile(file, 'before')
  const { writeSync } = fs
  t.mock.method(fs, 'writeSync', (fd: number, bytes: Buffer) => writeSync(fd, bytes.subarray(1)))
  syncBuiltinESMExports()
  const written = [replaceFile(file, 'after'), appendLines(join(root, 'log'), ['a line'])]
  t.mock.restoreAll()
  syncBuiltinESMExports()
  assert.deepEqual(
    [written, readFileSync(file, 'utf8'), readdirSync(root)],
    [[false, false], 'before', ['log', 'state.json']],
  )
})

test('files: trouble is a value, a torn line is closed, and what replaces a file is whole', (t) => {
  const root = folder(t)
  const file = join(root, 'deep/log.jsonl')
  assert.deepEqual(readText(file), { ok: false, missing: true, why: (readText(file) as { why: string }).why })
  assert.equal((readText(root) as { missing: boolean }).missing, false)
  put(root, 'bom.json', '\uFEFF{"a":1}')
  assert.deepEqual(
    [readJson(join(root, 'bom.json')), readText(join(root, 'bom.json'))],
    [{ value: { a: 1 } }, { ok: true, text: '{"a":1}' }],
  )
  assert.deepEqual(readJson(file), {})
  assert.deepEqual(readJson(join(root, 'bom.json/x')), {}, 'a file where a folder should be')
  put(root, 'bad.json', '{')
  assert.match(readJson(join(root, 'bad.json')).problem!, /JSON/)
  assert.equal(typeof readJson(root).problem, 'string')
  assert.deepEqual([typeof readBytes(file), String(readBytes(join(root, 'bad.json')))], ['string', '{'])
  assert.deepEqual([appendLines(file, []), existsSync(file)], [true, false])
  assert.deepEqual([appendLines(file, ['1', '2']), appendLines(file, ['3'])], [true, true])
  assert.equal(readFileSync(file, 'utf8'), '1\n2\n3\n')
  writeFileSync(file, '{"torn')
  assert.equal(appendLines(file, ['4']), true)
  assert.equal(readFileSync(file, 'utf8'), '{"torn\n4\n')
  assert.deepEqual(
    [
      appendLines(root, ['x']),
      appendLines(join(file, 'x'), ['x']),
      replaceFile(root, 'x'),
      replaceFile(join(root, 'no/x'), 'x'),
      replaceFile(join(root, 'deep'), 'x'),
    ],
    [false, false, false, false, false],
  )
  assert.deepEqual(
    [replaceFile(file, 'whole'), readFileSync(file, 'utf8'), readdirSync(join(root, 'deep')).sort()],
    [true, 'whole', ['log.jsonl']],
  )
  assert.deepEqual(
    readdirSync(root).filter((name) => name.endsWith('.tmp')),
    [],
  )
  const from = (at: number, limit?: number) => {
    const { bytes, from } = readFrom(file, at, limit)
    return [String(bytes), from]
  }
  assert.deepEqual(
    [from(0), from(2), from(5), from(6), from(0, 2)],
    [
      ['whole', 0],
      ['ole', 2],
      ['', 5],
      ['whole', 0],
      ['le', 3],
    ],
  )
  assert.deepEqual(readFrom(join(root, 'none'), 3), { bytes: Buffer.alloc(0), from: 0 })
  const lines = (text: string) => [...linesWith(Buffer.from(text), 'key')]
  assert.deepEqual(lines('{"key":1}\n{"no":1}\n{"key":2} torn\n{"key":3,"key2":1}\n"key"\nnull key\n{"key":4}'), [
    { key: 1 },
    { key: 3, key2: 1 },
    { key: 4 },
  ])
  assert.deepEqual(lines('nothing'), [])
  assert.deepEqual([makeFolder(join(root, 'a/b')), makeFolder(file)], [true, false])
})

test('a line that another process is writing is waited for; one that stays torn is closed', (t) => {
  const file = join(folder(t), 'log.jsonl')
  let looks = 0
  t.mock.method(Atomics, 'wait', (_: Int32Array, __: number, ___: number, ms: number) => {
    assert.equal(ms, 8)
    if (++looks === 3) appendFileSync(file, ':2}\n')
    return 'timed-out'
  })
  writeFileSync(file, '{"a":1}\n{"b"')
  assert.deepEqual([appendLines(file, ['{"c":3}']), looks], [true, 3])
  assert.equal(readFileSync(file, 'utf8'), '{"a":1}\n{"b":2}\n{"c":3}\n')
  writeFileSync(file, '{"torn')
  assert.deepEqual([appendLines(file, ['{"d":4}']), looks], [true, 3 + 25])
  assert.equal(readFileSync(file, 'utf8'), '{"torn\n{"d":4}\n')
})

test('no file stays open, whether it could be read and written or not', { skip: !existsSync('/proc/self/fd') }, (t) => {
  const root = folder(t)
  const file = join(root, 'log')
  const open = () => readdirSync('/proc/self/fd').length
  const before = open()
  for (let n = 0; n < 10; n++) {
    appendLines(file, ['x'])
    replaceFile(file, 'whole\n')
    readFrom(file, 0)
    readJson(file)
    alone(join(root, 'lock'), 0, () => {})
    for (const path of [root, join(root, 'none/x')])
      [appendLines(path, ['x']), replaceFile(path, 'x\n'), readFrom(path, 0)]
  }
  assert.equal(open(), before)
})

test('one holder of a lock at a time; one that a dead process left is broken; a folder that is not there is no lock', (t) => {
  const root = folder(t)
  const lock = join(root, 'lock')
  let ran = 0
  const work = () => {
    ran++
    assert.equal(existsSync(lock), true)
    assert.equal(
      alone(lock, 0, () => assert.fail('held')),
      false,
    )
  }
  assert.deepEqual([alone(lock, 100, work), existsSync(lock), ran], [true, false, 1])
  assert.throws(() => alone(lock, 100, () => assert.fail('work failed')), /work failed/)
  assert.equal(existsSync(lock), false, 'given back')
  put(root, 'lock', '', 10_000)
  assert.deepEqual([alone(lock, 1000, () => ran++), ran], [true, 2])
  put(root, 'lock', '', -10_000)
  assert.deepEqual([alone(lock, 1000, () => ran++), ran], [true, 3], 'made before the clock went back')
  writeFileSync(lock, '')
  assert.deepEqual([alone(lock, 20, () => ran++), ran, existsSync(lock)], [false, 3, true])
  const { mock } = t.mock.method(Date, 'now')
  assert.equal(
    alone(join(root, 'none/lock'), 100, () => ran++),
    false,
  )
  assert.deepEqual([mock.callCount(), ran], [1, 3], 'it is not waited for')
})
