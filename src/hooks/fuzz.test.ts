import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { sized } from '../../test/support/campaign-size.ts'
import { defineHook } from './define.ts'
import { createPlane } from './dispatch.ts'
import type { Handler } from './handler.ts'
import { readExit } from './handlers/ask.ts'
import type { Scope } from './plane.ts'
import { applyVerdict } from './step/apply.ts'
import { draftOf } from './step/draft.ts'
import { type StepName, stepNames } from './steps.ts'
import { readOutput } from './wire/output.ts'

const words = fc.constantFrom('allow', 'deny', 'ask', 'approve', 'block', 'break', 'veto', 'PreToolUse', '')
const keys = fc.constantFrom(
  ...['continue', 'decision', 'reason', 'hookSpecificOutput', 'hookEventName', 'permissionDecision', 'updatedInput'],
  ...['async', 'control', 'args', 'result', 'additional_context', '__proto__', 'constructor', 'toString', 'stopReason'],
)
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ maxDepth: 5 }, words, fc.jsonValue(), fc.dictionary(keys, tie('tree')), fc.array(tie('tree'))),
}))
/** What a hook may print: JSON that nearly fits, cut off, deep, huge, or no text at all. */
const output: fc.Arbitrary<Buffer> = fc.oneof(
  tree.map((value) => Buffer.from(JSON.stringify(value) ?? '')),
  fc.dictionary(keys, tree).map((value) => Buffer.from(JSON.stringify(value))),
  fc
    .tuple(fc.dictionary(keys, tree), fc.nat(40))
    .map(([value, at]) => Buffer.from(JSON.stringify(value).slice(0, -at))),
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
  fc
    .uint8Array({ maxLength: 100 })
    .map((bytes) => Buffer.concat([Buffer.from('{"reason":"'), bytes, Buffer.from('"}')])),
  fc.nat(200_000).map((depth) => Buffer.from('{"a":'.repeat(depth))),
  fc.nat(100_000).map((depth) => Buffer.from(`${'{"hookSpecificOutput":'.repeat(depth)}1${'}'.repeat(depth)}`)),
  fc.nat(50_000).map((depth) => Buffer.from(`{"args":${'['.repeat(depth)}${']'.repeat(depth)},"reason":"[[\\"["}`)),
  fc.nat(300_000).map((size) => Buffer.from(`{"reason":"${'x'.repeat(size)}"}`)),
)

test('random outputs neither crash the plane nor allow what a deny forbids', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-fuzz-'))
  try {
    const command = (text: string): Handler => ({
      event: 'PreToolUse',
      source: { kind: 'settings' },
      matcher: '',
      ifCondition: '',
      kind: 'command',
      shell: 'sh',
      command: text,
    })
    const step: Handler = { ...command('cat step'), event: 'before_tool_apply', onFailure: 'proceed' } as Handler
    const plane = createPlane([command('cat first'), step, command('echo forbidden >&2; exit 2')])
    const scope: Scope = { sessionId: '', conversationId: '', dbPath: '', cwd: folder, record() {} }
    await fc.assert(
      fc.asyncProperty(output, output, async (first, second) => {
        writeFileSync(join(folder, 'first'), first)
        writeFileSync(join(folder, 'step'), second)
        const state = { toolName: 'Bash', safety: 'destructive', args: {}, result: null } as const
        const fields = { tool_name: 'Bash', tool_input: {}, tool_use_id: 't' }
        const answer = await plane.ask('before_tool_apply', { ...state }, scope, { name: 'PreToolUse', fields })
        assert.ok(answer.decision === 'deny' || answer.control.kind === 'break')
      }),
      { numRuns: sized(30, 250) },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('no output makes the reading of an exit throw, and what is read is all or nothing', () => {
  const state = {
    ...{ input: [], additionalContext: [], feedback: [], results: [], output: { kind: 'text', text: '' } },
    ...{ toolName: 'x', tool: 'x', args: { a: 1 }, result: null, model: 'm', assistantText: null, resolved: null },
  }
  fc.assert(
    fc.property(output, fc.constantFrom<StepName>(...stepNames), fc.integer(), (bytes, name, exit) => {
      const said = readExit(exit % 3, bytes.toString(), '', false)
      readOutput('PreToolUse', said.kind === 'answer' ? said.value : said)
      const step = draftOf(name, state as never)
      const applied = applyVerdict(name, step, said.kind === 'answer' ? said.value : {})
      if (!applied.ok) assert.deepEqual(step, state)
      assert.equal(Object.getPrototypeOf(step), Object.prototype)
    }),
    { numRuns: 1_000 },
  )
})

const decisions = ['none', 'allow', 'ask', 'deny'] as const
const answers = fc.record(
  {
    continue: fc.constant(false),
    decision: fc.constantFrom('block', 'approve', 'odd'),
    reason: fc.constant('r'),
    hookSpecificOutput: fc.record(
      {
        hookEventName: fc.constant('PreToolUse'),
        permissionDecision: fc.constantFrom('allow', 'ask', 'deny', 'odd'),
        updatedInput: fc.constant({ command: 'changed' }),
      },
      { requiredKeys: ['hookEventName'] },
    ),
  },
  { requiredKeys: [] },
)
const guard = fc.record({
  does: fc.constantFrom('answers', 'throws', 'returns a number', 'hangs'),
  says: answers,
  turns: fc.nat(2),
  parallel: fc.boolean(),
  onFailure: fc.constantFrom(undefined, 'refuse' as const, 'proceed' as const),
  applies: fc.constantFrom('', 'yes', 'no'),
})
type Guard = typeof guard extends fc.Arbitrary<infer G> ? G : never

test('side by side, hooks are as strict as one after another, and none sees or passes on what a parallel one changed', async () => {
  const ask = async (each: readonly Guard[]) => {
    const shown: unknown[] = []
    const rows: number[] = []
    const plane = createPlane(
      each.map((guard) => guardOf(guard, shown)),
      { matchesRule: async (rule) => rule === 'yes' },
    )
    const scope: Scope = {
      ...{ sessionId: '', conversationId: '', dbPath: '', cwd: '/' },
      record: ({ ordinal }) => rows.push(ordinal),
    }
    const fields = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't' }
    return { ...(await plane.raise('PreToolUse', fields, scope)), shown, rows }
  }
  await fc.assert(
    fc.asyncProperty(fc.array(guard, { minLength: 1, maxLength: 6 }), async (each) => {
      const mixed = await ask(each)
      const alone = await ask(each.map((guard) => ({ ...guard, parallel: false })))
      assert.ok(decisions.indexOf(mixed.decision) >= decisions.indexOf(alone.decision))
      const changes = (isParallel: boolean) =>
        each.some(({ parallel, says }) => parallel === isParallel && says.hookSpecificOutput?.updatedInput)
      // the change that a parallel one wants refuses the call, before others can end the turn
      assert.ok(alone.stop === null || mixed.stop !== null || changes(true))
      if (mixed.decision !== 'deny') assert.deepEqual(mixed.updatedInput, alone.updatedInput)
      assert.deepEqual(mixed.rows, alone.rows)
      const inputs = changes(false) ? ['ls', 'changed'] : ['ls']
      for (const command of mixed.shown) assert.ok(inputs.includes(String(command)), String(command))
    }),
    { numRuns: sized(500, 5_000) },
  )
})

function guardOf({ does, says, turns, parallel, onFailure, applies }: Guard, shown: unknown[]): Handler {
  const run = async ({ tool_input }: { tool_input: { command?: unknown } }) => {
    shown.push(tool_input.command)
    tool_input.command = 'changed in place'
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
    if (does === 'throws') throw new Error('oh')
    if (does === 'hangs') return new Promise(() => {})
    if (does === 'returns a number') return 7
    return JSON.parse(JSON.stringify(says).replace('changed', parallel ? 'changed beside others' : 'changed'))
  }
  return defineHook('PreToolUse', run as never, {
    ...{ if: applies, timeoutMs: does === 'hangs' ? 2 : 5000 },
    ...(parallel && { parallel }),
    ...(onFailure && { onFailure }),
  })
}
