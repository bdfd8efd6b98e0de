import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json, State } from '../types.ts'
import { laterPhase } from './phase.ts'
import { applyPatch, catchUp, emptyState, loadState } from './state.ts'

const begin: State = emptyState('a3f0c812')
const after = (...patches: Json[]): State => patches.reduce<State>((state, patch) => applyPatch(state, patch), begin)

test('each field of the core follows its rule', () => {
  const { core } = after(
    { core: { sessionId: 'ffffffff', hostSessionId: 'h1', createdTs: 5, lastTurnId: 3, workId: 'w002' } },
    { core: { hostSessionId: 'h2', createdTs: 9, lastTurnId: 2, workId: 'w001', phase: 'nonsense' } },
  )
  assert.deepEqual(core, {
    sessionId: 'a3f0c812',
    workId: 'w002',
    lastTurnId: 3,
    phase: 'PLANNING',
    hostSessionId: 'h1',
    createdTs: 5,
  })
})

test('a phase only goes up within a work unit; BLOCKED is left by remediation alone; new work begins again', () => {
  const phase = (...patches: Json[]) => after(...patches.map((core) => ({ core }))).core
  assert.equal(phase({ phase: 'EXECUTING' }, { phase: 'PLANNING' }).phase, 'EXECUTING')
  const blocked = phase({ phase: 'EXECUTING' }, { phase: 'BLOCKED' }, { phase: 'COMPLETE' })
  assert.deepEqual([blocked.phase, blocked.prevPhase], ['BLOCKED', 'EXECUTING'])
  const mended = phase({ phase: 'EXECUTING' }, { phase: 'BLOCKED' }, { phase: 'EXECUTING', prevPhase: null })
  assert.deepEqual([mended.phase, mended.prevPhase], ['EXECUTING', undefined])
  assert.equal(phase({ phase: 'COMPLETE' }, { phase: 'BLOCKED' }).phase, 'COMPLETE')
  assert.equal(phase({ phase: 'COMPLETE' }, { workId: 'w002', phase: 'PLANNING' }).phase, 'PLANNING')
})

test('a work that is blocked keeps what it was blocked in, also when it is blocked again by a writer that mends it', () => {
  const blocked = { workId: 'w001', phase: 'BLOCKED', prevPhase: 'EXECUTING' } as const
  const again = { workId: 'w001', phase: 'BLOCKED' } as const
  assert.deepEqual([laterPhase(blocked, again, true), laterPhase(blocked, again, false)], [blocked, blocked])
})

test('a line of the log counts for the work that it was written in; a log that was cut begins anew', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'state-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const log = join(folder, 'events.jsonl')
  const line = (workId: string, core: Json) =>
    `${JSON.stringify({ kind: 'STATE_PATCH', workId, data: { patch: { core } } })}\n`
  writeFileSync(log, line('w001', { workId: 'w002' }) + line('w001', { phase: 'COMPLETE' }))
  const { workId, phase } = catchUp(begin, log).core
  assert.deepEqual([workId, phase], ['w002', 'PLANNING'])
  const whole = readFileSync(log).length
  const later = line('w001', { lastTurnId: 3 })
  appendFileSync(log, `${later}{"torn`)
  const next = catchUp({ ...begin, core: { ...begin.core, lastEventOffset: whole } }, log).core
  assert.deepEqual(
    [next.lastEventOffset, next.lastTurnId, next.workId],
    [whole + later.length, 3, 'w001'],
    'what was read is not read again',
  )
  const ahead = { ...begin, core: { ...begin.core, lastEventOffset: 5000 } }
  const loaded = loadState({ value: ahead }, log, 'a3f0c812')
  const size = loaded.state.core.lastEventOffset!
  assert.deepEqual([loaded.state.core.workId, loaded.unseenBytes, size < 500], ['w002', 5000 - size, true])
  const none = join(folder, 'none')
  assert.deepEqual(
    [loadState({}, none, 'a3f0c812').isNew, loadState({ problem: 'broken' }, none, 'a3f0c812').isNew],
    [true, false],
  )
})

test('what two processes write comes to the same in either order, for every monotonic field', () => {
  const patch = fc.record(
    {
      lastTurnId: fc.nat(50),
      workId: fc.constantFrom('w001', 'w002', 'w003'),
      phase: fc.constantFrom('UNINITIALIZED', 'PLANNING', 'EXECUTING', 'COMPLETE'),
    },
    { requiredKeys: ['workId', 'phase', 'lastTurnId'] },
  )
  fc.assert(
    fc.property(patch, patch, (one, two) => {
      assert.deepEqual(after({ core: one }, { core: two }).core, after({ core: two }, { core: one }).core)
    }),
  )
})

test('applying a patch twice is applying it once', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (patch) => {
      const once = applyPatch(begin, patch as Json)
      assert.deepEqual(applyPatch(once, patch as Json), once)
    }),
  )
})

test('null takes a key away, and the time of a capability never goes back', () => {
  assert.deepEqual(after({ a: { b: 1, c: 2 } }, { a: { b: null } })['a'], { c: 2 })
  const { cap } = after(
    { cap: { neo4j: { enabled: true, reachable: true, lastCheckTs: 9 }, other: 1 } },
    { cap: { neo4j: { reachable: false, lastCheckTs: 3 } } },
  )
  assert.deepEqual(cap, { neo4j: { enabled: true, reachable: false, lastCheckTs: 9 }, other: 1 })
})
