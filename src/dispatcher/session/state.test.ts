import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json, State } from '../types.ts'
import { applyPatch, emptyState } from './state.ts'

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
    { cap: { neo4j: { enabled: true, reachable: true, lastCheckTs: 9 } } },
    { cap: { neo4j: { lastCheckTs: 3 } } },
  )
  assert.equal(cap?.neo4j?.lastCheckTs, 9)
})
