import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkPlan } from './plan-graph.ts'

const node = { id: 'a', description: 'do a', tool: '*' }
const codes = (plan: unknown, workId = 'w001'): string[] => {
  const check = checkPlan(typeof plan === 'string' ? plan : JSON.stringify(plan), workId)
  return check.ok ? [] : check.problems.map(({ code }) => code)
}

test('each way a plan can be wrong has its code', () => {
  const table: [unknown, string[]][] = [
    ['{', ['PG_UNREADABLE']],
    [' '.repeat(1024 * 1024 + 1), ['PG_TOO_LARGE']],
    [[], ['PG_NOT_OBJECT']],
    [{ version: 2, nodes: [node] }, ['PG_VERSION']],
    [{ workId: 'w009', nodes: [node] }, ['PG_WORK_MISMATCH']],
    [{}, ['PG_NODES_MISSING']],
    [{ nodes: [] }, ['PG_NODES_EMPTY']],
    [{ nodes: Array.from({ length: 501 }, (_, n) => ({ ...node, id: `n${n}` })) }, ['PG_TOO_MANY_NODES']],
    [{ nodes: [1] }, ['PG_NODE_NOT_OBJECT']],
    [{ nodes: [{ ...node, id: 'a b' }] }, ['PG_ID_INVALID']],
    [{ nodes: [node, node] }, ['PG_ID_DUPLICATE']],
    [{ nodes: [{ ...node, description: '' }] }, ['PG_DESCRIPTION_MISSING']],
    [{ nodes: [{ id: 'a', description: 'x' }] }, ['PG_TOOL_MISSING']],
    [{ nodes: [{ ...node, scope: '../x' }] }, ['PG_SCOPE_INVALID']],
    [{ nodes: [{ ...node, scope: ['/etc/**'] }] }, ['PG_SCOPE_INVALID']],
    [{ nodes: [{ ...node, scope: 'C:/x' }] }, ['PG_SCOPE_INVALID']],
    [{ nodes: [{ ...node, kind: 'wish' }] }, ['PG_KIND_INVALID']],
    [{ nodes: [{ ...node, status: 'maybe' }] }, ['PG_STATUS_INVALID']],
    [{ nodes: [{ ...node, status: 'forbidden' }] }, ['PG_REASON_MISSING']],
    [{ nodes: [{ ...node, dependencies: ['z'] }] }, ['PG_DEP_UNKNOWN']],
    [{ nodes: [{ ...node, dependencies: ['a'] }] }, ['PG_DEP_SELF']],
    [
      {
        nodes: [
          { ...node, deps: ['b'] },
          { ...node, id: 'b', dependencies: ['a'] },
        ],
      },
      ['PG_DEP_CYCLE'],
    ],
    [{ nodes: [{ ...node, kind: 'validate' }] }, ['PG_VALIDATES_INVALID']],
    [{ nodes: [{ ...node, kind: 'validate', validates: ['a'] }] }, ['PG_VALIDATES_INVALID']],
  ]
  for (const [plan, expected] of table) assert.deepEqual(codes(plan), expected)
})

test('all problems are reported, in the order of the document', () => {
  assert.deepEqual(codes({ version: 3, nodes: [{ id: '!' }, { ...node, kind: 'x', scope: '/' }] }), [
    'PG_VERSION',
    'PG_ID_INVALID',
    'PG_DESCRIPTION_MISSING',
    'PG_TOOL_MISSING',
    'PG_KIND_INVALID',
    'PG_SCOPE_INVALID',
  ])
})

test('a forbidden node may name a scope instead of tools; aliases are read; unknown fields are kept out of the way', () => {
  const plan = {
    version: 1,
    workId: 'w001',
    nodes: [
      { id: 'x', description: 'hands off', status: 'forbidden', reason: 'legacy', scope: 'legacy/**' },
      { ...node, type: 'explore', scope: { files_allow: ['src/**'] }, deps: ['x'], rationale: 'because' },
    ],
  }
  const check = checkPlan(JSON.stringify(plan), 'w001')
  assert.ok(check.ok)
  assert.deepEqual(check.plan.nodes[1], {
    id: 'a',
    description: 'do a',
    kind: 'explore',
    tools: ['*'],
    scope: ['src/**'],
    dependencies: ['x'],
    validates: [],
    status: 'pending',
  })
})

test('whatever the text, it is a plan or a list of problems', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const check = checkPlan(text, 'w001')
      assert.ok(check.ok || check.problems.length > 0)
    }),
  )
})
