/** The dispatcher never takes what it could not read, or could not use, for consent. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BadAction, readAction } from '../../src/dispatcher/action.ts'
import { askModules } from '../../src/dispatcher/ask-modules.ts'
import { parseInput } from '../../src/dispatcher/host/host-input.ts'
import { hook as graph } from '../../src/dispatcher/modules/graph-pretooluse.ts'
import { hook as planGraph } from '../../src/dispatcher/modules/plan-graph-exec.ts'
import { testContext, testRun } from '../../src/dispatcher/setup/testing.ts'
import type { HookModule, Json } from '../../src/dispatcher/types.ts'

test('a call that was not read is no consent: empty, silent, cut off, too large, garbage', () => {
  for (const problem of ['empty', 'silent', 'cut-off', 'too-large'] as const)
    assert.equal(parseInput({ problem }, 'PreToolUse').unseen, true, problem)
  for (const text of ['{', '7', '[]', 'null', '"x"'])
    assert.equal(parseInput({ text }, 'PreToolUse').unseen, true, text)
})

test('what hides behind 64 KiB of comment is not waved through', (t) => {
  const root = folder(t)
  const command = `# ${'x'.repeat(70_000)}\ngrep -r secret /`
  const ctx = testContext(root, {
    module: 'graph-pretooluse',
    event: 'PreToolUse',
    input: call('run_in_terminal', { command }),
  })
  assert.equal((graph.handle('PreToolUse', ctx) as { decision: string }).decision, 'ask')
})

test("a module's ask or deny counts although another of its fields is bad or cyclic", async (t) => {
  const cyclic: Json = {}
  cyclic['self'] = cyclic
  for (const decision of ['ask', 'deny'] as const)
    for (const more of [{ metrics: 7 }, { statePatch: cyclic }, { nonsense: 1 }, { warnings: 'x' }]) {
      const run = testRun(folder(t), { module: 'm', event: 'PreToolUse', input: call('read_file', {}) })
      const handle = () => ({ decision, denyReason: 'no', ...more })
      const module = { name: 'm', supports: new Set(['PreToolUse']), handle } as unknown as HookModule
      await askModules(run, [{ name: 'm', priority: 1, critical: false, own: false, module }])
      assert.deepEqual(
        [run.decision, run.reason, run.decidedBy],
        [decision, 'no', 'm'],
        JSON.stringify(Object.keys(more)),
      )
      assert.ok(run.events.some(({ kind }) => kind === 'ERROR_MODULE'))
    }
  assert.throws(
    () => readAction({ decision: 'allow', metrics: 7 }),
    (cause) => !(cause instanceof BadAction),
  )
})

test("a module's block and its stop count although another of its fields is bad; a critical one denies with it", async (t) => {
  const asked = async (event: 'Stop' | 'PreToolUse', action: object, critical: boolean) => {
    const run = testRun(folder(t), { module: 'm', event, input: call('read_file', {}) })
    const module = { name: 'm', supports: new Set([event]), handle: () => action } as unknown as HookModule
    await askModules(run, [{ name: 'm', priority: 1, critical, own: false, module }])
    return [run.decision, run.block, run.stop]
  }
  const said = { block: { reason: 'not yet' }, stop: { reason: 'enough' }, decision: null, nonsense: 1 }
  assert.deepEqual(await asked('Stop', said, false), ['allow', 'not yet', 'enough'])
  assert.deepEqual(await asked('PreToolUse', said, false), ['allow', undefined, 'enough'])
  assert.deepEqual(await asked('PreToolUse', said, true), ['deny', undefined, 'enough'])
  assert.deepEqual(await asked('Stop', { block: 'not yet', nonsense: 1 }, false), ['allow', undefined, undefined])
})

test('a search outside the scope of its node is held to the scope, in the words of each host', (t) => {
  const node = {
    id: 'n1',
    kind: 'explore',
    scope: ['src/a/**'],
    tools: ['grep_search', 'file_search', 'semantic_search'],
  }
  const clamped = (tool: string, input: Json) => {
    const action = judged(t, [node], call(tool, input))
    return action.updatedInput ?? action.decision
  }
  for (const include of ['lib/**', 'src/**', 'src/ab/**', 'src/a/../b/**', '**', '']) {
    assert.deepEqual(
      clamped('grep_search', { query: 'x', includePattern: include }),
      { includePattern: 'src/a/**' },
      include,
    )
    assert.deepEqual(clamped('textSearch', { query: 'x', includePattern: include }), { includePattern: 'src/a/**' })
    assert.deepEqual(clamped('Grep', { pattern: 'x', glob: include }), { glob: 'src/a/**' })
    assert.deepEqual(clamped('grep', { pattern: 'x', glob: include }), { glob: 'src/a/**' })
  }
  assert.deepEqual(clamped('file_search', { query: 'src/**' }), { query: 'src/a/**' })
  assert.deepEqual(clamped('Glob', { pattern: 'src/**/*.ts' }), { pattern: 'src/a/**/*.ts' })
  assert.deepEqual(clamped('Grep', { pattern: 'x', path: 'lib' }), { glob: 'src/a/**', path: '.' })
  assert.equal(clamped('Grep', { pattern: 'x', path: 'src/a' }), 'allow')
  assert.equal(clamped('grep_search', { query: 'x', includePattern: 'src/a/b/*.ts' }), 'allow')
  assert.equal(clamped('semantic_search', { query: 'x' }), 'ask')
})

test('a forbidden scope that is reached by a link or by the terminal prompts', (t) => {
  const node = {
    id: 'keep',
    kind: 'change',
    scope: ['src/secret/**'],
    tools: [],
    status: 'forbidden',
    reason: 'not yours',
  }
  const decision = (tool: string, input: Json) => judged(t, [node], call(tool, input)).decision
  for (const command of [
    'cat src/secret/key.ts',
    'cd src/secret && cat key.ts',
    'echo x >src/secret/key.ts',
    'cp ./src/./secret/key.ts /tmp/x',
    'tool --file=src/secret/key.ts',
    'cat link/key.ts',
  ])
    assert.equal(decision('run_in_terminal', { command }), 'ask', command)
  assert.equal(decision('Bash', { command: 'cat src/secret/key.ts' }), 'ask')
  assert.equal(decision('read_file', { filePath: 'link/key.ts' }), 'ask')
  assert.equal(decision('read_file', { filePath: 'src/secret/key.ts' }), 'deny')
  assert.equal(decision('run_in_terminal', { command: 'cat src/open.ts' }), 'allow')
  assert.equal(decision('read_file', { filePath: 'src/open.ts' }), 'allow')
})

function folder(t: { after(work: () => void): void }): string {
  const root = mkdtempSync(join(tmpdir(), 'dispatcher-closed-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  return root
}

const call = (tool_name: string, tool_input: Json): Json => ({ tool_name, tool_input })

function judged(
  t: { after(work: () => void): void },
  nodes: Json[],
  input: Json,
): { decision?: string; updatedInput?: Json } {
  const root = folder(t)
  mkdirSync(join(root, 'src/secret'), { recursive: true })
  writeFileSync(join(root, 'src/secret/key.ts'), '')
  symlinkSync(join(root, 'src/secret'), join(root, 'link'))
  const ctx = testContext(root, { module: 'planGraph-exec', event: 'PreToolUse', input })
  const plan = {
    version: 1,
    workId: 'w001',
    defaultPolicy: 'allow',
    nodes: nodes.map((node) => ({ description: 'd', dependencies: [], status: 'pending', ...node })),
  }
  mkdirSync(ctx.paths.featureOutput('planGraph-exec'), { recursive: true })
  writeFileSync(join(ctx.paths.featureOutput('planGraph-exec'), 'planGraph.json'), JSON.stringify(plan))
  const action = planGraph.handle('PreToolUse', ctx) as { decision?: string; updatedInput?: Json; warnings?: string[] }
  assert.deepEqual(action.warnings ?? [], [])
  return action
}
