/** Runs step vectors (test/fixtures/step-vectors.json says what they are) against the plane. */
import assert from 'node:assert/strict'
import { defineStepHook } from '../../src/hooks/define.ts'
import { createPlane } from '../../src/hooks/dispatch.ts'
import type { Handler, Render } from '../../src/hooks/handler.ts'
import { readExit } from '../../src/hooks/handlers/ask.ts'
import { builtins } from '../../src/hooks/handlers/builtin.ts'
import { runCommand } from '../../src/hooks/handlers/command.ts'
import { renderInput, stepReply } from '../../src/hooks/handlers/prompt.ts'
import type { JsonObject } from '../../src/hooks/shape.ts'
import { applyVerdict, runStepPipeline, toEnvelope, type VerdictError } from '../../src/hooks/step/apply.ts'
import { readBody, textBlock, wireBody } from '../../src/hooks/step/blocks.ts'
import {
  type Block,
  type Control,
  type StepName,
  type Steps,
  stepNames,
  type ToolResultBody,
} from '../../src/hooks/steps.ts'
import type { StepMatch } from '../../src/hooks/wire/matcher.ts'
import { readStepReply } from '../../src/hooks/wire/messages.ts'

export interface Vector {
  readonly id: string
  readonly kind: string
  readonly step?: StepName
  readonly init?: JsonObject
  readonly expect: JsonObject
  readonly [more: string]: unknown
}

/** Runs a whole turn with a scripted model: the turn loop's part of the traces. */
export type RunTrace = (turn: TraceTurn) => Promise<TracedTurn>

export interface TraceTurn {
  readonly handlers: readonly Handler[]
  readonly input: string
  /** Every tool that it calls exists, is allowed, and answers at once. */
  readonly model: readonly {
    readonly text: string
    readonly stop: string
    readonly tools?: readonly { readonly id: string; readonly name: string; readonly args: JsonObject }[]
  }[]
  readonly maxHookContinues: number
  readonly requestLimit: number
}

export interface TracedTurn {
  readonly stopReason: string
  readonly modelCalls: number
  /** What the turn added to the history. */
  readonly history: readonly { readonly role: string; readonly text?: string; readonly toolResults?: number }[]
  readonly toolsRun: readonly string[]
  /** By the tool's name. */
  readonly toolResults: Readonly<Record<string, { readonly text: string; readonly isError: boolean }>>
}

/** Fails by throwing. */
export async function runVector(vector: Vector, runTrace: RunTrace): Promise<void> {
  if (vector.kind === 'trace') return runTraceVector(vector, runTrace)
  const run = kinds[vector.kind]
  assert.ok(run, `there is no kind of vector called ${vector.kind}`)
  await run(vector)
}

const kinds: Record<string, (vector: Vector) => Promise<void> | void> = {
  envelope({ step, init, expect }) {
    assert.ok(stepNames.includes(expect.event_name as StepName))
    assert.deepEqual(toEnvelope(step!, build(step!, init!)), expect.envelope)
  },

  apply(vector) {
    const { step, init, verdict } = vector
    const expect = expected(vector)
    const state = build(step!, init!)
    const applied = applyVerdict(step!, state, verdict)
    if (expect.error) assert.deepEqual(applied, { ok: false, error: expect.error })
    else assert.deepEqual(applied.ok && applied.control, expect.control)
    checkState(vector, expect, state)
  },

  pipeline(vector) {
    const { step, init, verdicts, on_error } = vector
    const expect = expected(vector)
    const state = build(step!, init!)
    const errors: VerdictError[] = []
    const control = runStepPipeline(step!, state, verdicts as unknown[], (error) => {
      errors.push(error)
      return on_error === 'skip' ? undefined : (on_error as Control)
    })
    assert.deepEqual(control, expect.control)
    assert.deepEqual(errors, expect.errors ?? [])
    checkState(vector, expect, state)
  },

  async dispatch(vector) {
    const { step, init, handlers } = vector
    const expect = expected(vector)
    const state = build(step!, init!)
    const ran: string[] = []
    const seen = new Map<string, unknown>()
    const plane = createPlane(
      (handlers as VectorHandler[]).map((handler) => acting(handler, step!, ran)),
      { env: {} },
    )
    const answer = await plane.ask(step!, state, {
      sessionId: 'sess-1',
      conversationId: '',
      dbPath: '',
      cwd: 'work-dir',
      record: ({ command, inputJson }) => seen.set(command.replace('function:', ''), JSON.parse(inputJson)),
    })
    assert.deepEqual(answer.control, expect.control)
    assert.deepEqual(ran, expect.ran)
    for (const [name, envelope] of Object.entries((expect.seen ?? {}) as JsonObject)) {
      assert.deepEqual(seen.get(name), envelope)
    }
    checkState(vector, expect, state)
  },

  async command(vector) {
    const { step = 'before_tool_apply', init, process: child } = vector
    const { exit, stdout, stderr } = child as { exit: number | 'signal'; stdout: string; stderr: string }
    const ended = await runCommand({
      command: `printf %s "$OUT"; printf %s "$ERR" >&2; ${exit === 'signal' ? 'kill -9 $$' : `exit ${exit}`}`,
      shell: 'sh',
      cwd: process.cwd(),
      input: '{}',
      env: { ...process.env, OUT: stdout, ERR: stderr },
      timeoutMs: 20_000,
    })
    const said =
      ended.end === 'exited'
        ? readExit(ended.exitCode, ended.stdout, ended.stderr, false)
        : { kind: 'failure' as const, why: ended.note, cause: 'failed' as const }
    const verdict = readStepReply({ ...said, exitCode: null, stdout: null, stderr: null })
    const handler =
      said.kind === 'failure' ? { error: 'handler_failed' } : verdict === undefined ? { none: true } : { verdict }
    assert.deepEqual(handler, vector.expect.handler)
    if (!vector.step) return
    const state = build(step, init!)
    const applied = applyVerdict(step, state, verdict)
    assert.deepEqual(applied.ok && applied.control, vector.expect.control)
    checkState(vector, vector.expect, state)
  },

  render({ render, envelope, reply, expect }) {
    assert.equal(renderInput(render as Render, envelope as JsonObject), expect.text)
    assert.deepEqual(stepReply(reply as string), expect.verdict)
  },

  builtin({ builtin, envelope, expect }) {
    assert.deepEqual(builtins[builtin as string]!(envelope as JsonObject), expect.verdict)
  },
}

/** We apply a verdict wholly or not at all, and take an out-of-place control for proceed. */
function expected({ expect, fields_if_atomic, expect_if_downgraded }: Vector): JsonObject {
  return {
    ...expect,
    ...(fields_if_atomic !== undefined && { fields: fields_if_atomic }),
    ...(expect_if_downgraded as JsonObject | undefined),
  }
}

function checkState({ step, init }: Vector, { fields = {}, envelope }: JsonObject, state: Steps[StepName]): void {
  assert.deepEqual(project(state), { ...init, ...(fields as JsonObject) })
  if (envelope !== undefined) assert.deepEqual(toEnvelope(step!, state), envelope)
}

/** A step from a vector's fields, which are spelt as on the wire. */
function build<S extends StepName>(_: S, init: JsonObject): Steps[S] {
  const state = Object.fromEntries(
    Object.entries(init).map(([key, value]) => [camel(key), (readField[key] ?? ((same) => same))(value)]),
  )
  return state as unknown as Steps[S]
}

const blocks = (value: unknown) =>
  (value as (string | Block)[]).map((block) => (typeof block === 'string' ? textBlock(block) : block))
const readField: Record<string, (value: unknown) => unknown> = {
  input: blocks,
  additional_context: blocks,
  feedback: blocks,
  output: readBody,
  results: (value) =>
    (value as { tool_name: string; is_error: boolean }[]).map(({ tool_name, is_error }) => ({
      tool: tool_name,
      isError: is_error,
    })),
}

function project(state: Steps[StepName]): JsonObject {
  return Object.fromEntries(
    Object.entries(state).map(([key, value]) => [snake(key), (showField[snake(key)] ?? ((same) => same))(value)]),
  )
}

const texts = (value: unknown) => (value as Block[]).map((block) => (block.type === 'text' ? block.text : { ...block }))
const showField: Record<string, (value: unknown) => unknown> = {
  input: texts,
  additional_context: texts,
  feedback: texts,
  output: (value) => wireBody(value as ToolResultBody),
  result: (value) => {
    const result = value as Steps['before_tool_apply']['result']
    return result && { body: wireBody(result.body), is_error: result.isError }
  },
  results: (value) =>
    (value as { tool: string; isError: boolean }[]).map(({ tool, isError }) => ({
      tool_name: tool,
      is_error: isError,
    })),
}

const camel = (key: string) => key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const snake = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

interface VectorHandler {
  readonly name: string
  readonly event?: StepName
  readonly match?: StepMatch
  readonly timeout_ms?: number
  readonly does: {
    readonly verdict?: JsonObject
    readonly error?: string
    readonly panic?: string
    readonly hang?: true
    readonly builtin?: string
  }
}

/** A handler that does what the vector says. The originals are passed over when they fail, whatever the step. */
function acting(handler: VectorHandler, step: StepName, ran: string[]): Handler {
  const { name, does, match, timeout_ms } = handler
  const plain = {
    name,
    onError: 'proceed' as const,
    ...(match && { match }),
    ...(timeout_ms && { timeoutMs: timeout_ms }),
  }
  return defineStepHook(
    handler.event ?? step,
    ({ step: state }) => {
      ran.push(name)
      if (does.hang) return new Promise<undefined>(() => {})
      if (does.error) return Promise.reject(new Error(does.error))
      if (does.panic) throw new Error(does.panic)
      if (does.builtin) return builtins[does.builtin]!(toEnvelope(step, state as Steps[typeof step])) as never
      return does.verdict as never
    },
    plain,
  )
}

/**
 * Where the product rules otherwise than the original: a call goes all its way before the next one starts, its
 * permission comes after before_tool_apply and is asked for only when the rules say so, and a turn that ran out of
 * requests is not continued.
 */
const rulings: Record<string, JsonObject> = {
  'trace-one-tool': { events: eventsOf(1) },
  'trace-two-tools-order': { events: eventsOf(2) },
  'trace-request-cap-consults-hook': {
    model_calls: 1,
    stop_reason: 'max_turn_requests',
    turn_end_voluntary_seen: [false],
  },
}

function eventsOf(calls: number): StepName[] {
  const call: StepName[] = ['before_tool_apply', 'after_permission', 'after_tool_apply']
  return [
    'after_turn_enter',
    'before_ingest',
    'after_ingest',
    'before_generate',
    'after_generate',
    ...Array.from({ length: calls }, () => call).flat(),
    'after_tool_batch',
    'before_generate',
    'after_generate',
    'before_turn_end',
  ]
}

async function runTraceVector({ id, setup, expect }: Vector, runTrace: RunTrace): Promise<void> {
  const { input, model, hooks, max_hook_continues, request_limit } = setup as {
    input: string
    model: TraceTurn['model']
    hooks: Partial<Record<StepName, JsonObject[]>>
    max_hook_continues?: number
    request_limit?: { fixed: number }
  }
  const seen: { name: StepName; state: Steps[StepName] }[] = []
  const handlers = stepNames
    .filter((name) => name !== 'after_session_enter')
    .map((name) =>
      defineStepHook(name, ({ step }) => {
        const firing = seen.filter((each) => each.name === name).length
        seen.push({ name, state: structuredClone(step) })
        return hooks[name]?.[firing] as never
      }),
    )
  const turn = await runTrace({
    handlers,
    input,
    model,
    maxHookContinues: max_hook_continues ?? 3,
    requestLimit: request_limit?.fixed ?? 32,
  })
  const { original, proposed = {} } = expect as { original: JsonObject; proposed?: JsonObject }
  const { note: _, ...wanted } = { ...original, ...proposed, ...rulings[id] }
  const at = <S extends StepName>(name: S) =>
    seen.filter((each) => each.name === name).map(({ state }) => state as Steps[S])
  const facts: Record<string, () => unknown> = {
    events: () => withoutTurnEnter(seen.map(({ name }) => name)),
    stop_reason: () => turn.stopReason,
    model_calls: () => turn.modelCalls,
    turn_end_calls: () => at('before_turn_end').length,
    continues_so_far_seen: () => at('before_turn_end').map(({ continuesSoFar }) => continuesSoFar),
    turn_end_voluntary_seen: () => at('before_turn_end').map(({ voluntary }) => voluntary),
    history_added: () => turn.history.length,
    history_tail: () =>
      turn.history.slice(-(wanted.history_tail as unknown[]).length).map(({ role, text, toolResults }) => ({
        role,
        ...(text && { text }),
        ...(toolResults && { tool_results: toolResults }),
      })),
    tools_run: () => turn.toolsRun,
    after_permission: () => at('after_permission').map(({ tool, granted }) => ({ tool, granted })),
    tool_result_for_model: () =>
      Object.fromEntries(
        Object.keys(wanted.tool_result_for_model as JsonObject).map((tool) => {
          const { text, isError } = turn.toolResults[tool] ?? {}
          return [tool, { text, is_error: isError }]
        }),
      ),
  }
  for (const [fact, value] of Object.entries(wanted)) {
    assert.deepEqual(facts[fact]?.(), fact === 'events' ? withoutTurnEnter(value as StepName[]) : value, fact)
  }
  const enter = seen.findIndex(({ name }) => name === 'after_turn_enter')
  const generate = seen.findIndex(({ name }) => name === 'before_generate')
  assert.ok(generate < 0 || (enter >= 0 && enter < generate), 'after_turn_enter comes before the first request')
}

/** The vectors do not agree with each other on whether the turn is entered before or after its input is taken in. */
const withoutTurnEnter = (names: readonly StepName[]) => names.filter((name) => name !== 'after_turn_enter')
