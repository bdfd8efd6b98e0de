/** A run, from an input to an answer: one agent after another, until one answers without handing over. */

import { hasOpenCalls } from '../agent/approvals.ts'
import { recover } from '../agent/session/history.ts'
import { errorOf } from '../hooks/kernel.ts'
import { textBlock, textOf } from '../hooks/step/blocks.ts'
import type { Block } from '../hooks/steps.ts'
import { keepWaitingCall, takeWaitingCall } from '../store/approvals.ts'
import { addEvent } from '../store/audit.ts'
import { createConversation, createSession, getSession } from '../store/conversations.ts'
import { newId } from '../store/open.ts'
import { failed } from '../tools/output.ts'
import { orAborted } from './abort.ts'
import { isAgent } from './agent.ts'
import { AgentError } from './agent-error.ts'
import { type Leg, openLeg, report } from './agent-session.ts'
import type { Agent, AnyAgent, ToolRun } from './agent-types.ts'
import { checkRunOptions } from './check-definition.ts'
import { Context, type Variables } from './context.ts'
import { handOver } from './handoff.ts'
import { type Firing, fire } from './hooks.ts'
import { type Answer, readAnswer } from './output/answer.ts'
import { readPath } from './output/key-spelling.ts'
import { fit, sayMisfits } from './output/schema.ts'
import { type FieldFailure, reshape } from './output/transform.ts'
import type { OnRunEvent, RunEvent } from './run-event.ts'
import { type AgentRuntime, openRuntime, type RuntimeOptions, type Shared, shared, toStderr } from './runtime.ts'
import { resultOf } from './tool.ts'
import { newUsage, type RunUsage } from './usage.ts'

/** Without a runtime the run opens one of its own, with the options given here, and closes it at its end. */
export type RunOptions<ContextInput extends object> = {
  /** Empty, with `resume`: the run continues at the call that waited for an approval. */
  readonly input: string | readonly Block[]
  /** Shared by many runs; opened with `openRuntime`. */
  readonly runtime?: AgentRuntime
  /** The session of an earlier run to go on in; needs the runtime or database that has it. */
  readonly resume?: string
  readonly signal?: AbortSignal
  /** How often agents may hand over; 10 unless said. */
  readonly maxHandoffs?: number
  /** Hears everything as it happens: words, calls, hooks. */
  readonly on?: OnRunEvent
} & ContextOption<ContextInput> &
  RuntimeOptions

/** Must be given where the agent declares one that cannot be empty. Of `AnyAgent` nothing is known. */
type ContextOption<ContextInput extends object> = [ContextInput] extends [never]
  ? { readonly context?: Variables | Context }
  : Record<never, never> extends ContextInput
    ? { readonly context?: ContextInput | Context<ContextInput> }
    : { readonly context: ContextInput | Context<ContextInput> }

export interface RunResult<Answer, Raw = unknown> {
  /** The answer: reshaped, as the schema gives it, or text. */
  readonly output: Answer
  /** As the model gave it, checked by the schema where there is one. */
  readonly rawResult: Raw
  /** After the transforms; the raw result where there are none. */
  readonly processedResult: Answer
  /** Fields that could not be made and hold their defaults. */
  readonly fieldErrors: readonly FieldFailure[]
  /** The model's last words. */
  readonly text: string
  /** What the last agent saw. */
  readonly context: Context
  /** Who answered. */
  readonly agent: AnyAgent
  /** Who had a part in it, in order. */
  readonly agents: readonly string[]
  readonly usage: RunUsage
  readonly sessionId: string
  readonly conversationId: string
}

/** Rejects with an AgentError when there is no answer, and with the signal's reason when it was aborted. */
export async function run<ContextInput extends object, Answer, Raw>(
  agent: Agent<ContextInput, Answer, Raw>,
  options: RunOptions<ContextInput>,
): Promise<RunResult<Answer, Raw>> {
  if (!isAgent(agent)) throw new TypeError('run: give it what defineAgent gives')
  checkRunOptions(options)
  const { context, log = toStderr } = options
  const begin = <T>(work: () => T, tell = log) => begun(work, firingOf(agent, contextOf(context), tell))
  const runtime = await begin(() => options.runtime ?? openRuntime(options))
  try {
    const home = runtime[shared]
    const place = await begin(() => placeOf(agent, options, home), home.log)
    return (await runAll(agent, options as AnyOptions, home, place)) as RunResult<Answer, Raw>
  } finally {
    if (!options.runtime) await runtime.close()
  }
}

type AnyOptions = RunOptions<Record<string, unknown>>

/** A run that cannot begin has failed as well. */
async function begun<T>(work: () => T, firing: Firing): Promise<T> {
  try {
    return work()
  } catch (cause) {
    await fire(firing, 'onError', { error: errorOf(cause) })
    throw cause
  }
}

interface Part {
  readonly agent: AnyAgent
  readonly input: readonly Block[]
  readonly context: unknown
}

async function runAll(
  first: AnyAgent,
  options: AnyOptions,
  home: Shared,
  { sessionId, conversationId, resumes }: Place,
  usage = newUsage(),
  depth = 0,
): Promise<RunResult<unknown>> {
  const { input, context, maxHandoffs = 10 } = options
  const agents: string[] = []
  let part: Part = { agent: first, input: blocksOf(input, resumes), context }
  let session = sessionId
  for (;;) {
    agents.push(part.agent.name)
    const handoffsLeft = maxHandoffs - agents.length + 1
    const done = await runPart(part, {
      home,
      options,
      usage,
      handoffsLeft,
      session,
      depth,
      resumes: resumes && agents.length === 1,
    })
    if (!('next' in done)) return { ...done, agents, usage: usage.total(), sessionId: session, conversationId }
    part = done.next
    session = createSession(home.runtime.db, conversationId).sessionId
  }
}

interface Surroundings {
  readonly home: Shared
  readonly options: AnyOptions
  readonly usage: ReturnType<typeof newUsage>
  readonly handoffsLeft: number
  readonly session: string
  readonly resumes: boolean
  /** How many agents run around it, each in a call of the next one out. */
  readonly depth: number
}

/** Where a run takes place. */
interface Place {
  readonly sessionId: string
  readonly conversationId: string
  readonly resumes: boolean
}

const blocksOf = (input: AnyOptions['input'], resumes: boolean): readonly Block[] => {
  if (typeof input !== 'string') return input
  return input === '' && resumes ? [] : [textBlock(input)]
}

type PartEnd = { readonly next: Part } | Omit<RunResult<unknown>, 'agents' | 'usage' | 'sessionId' | 'conversationId'>

/** One agent's part. Every failure reaches its onError hooks before it is thrown. */
async function runPart(part: Part, around: Surroundings): Promise<PartEnd> {
  const { agent } = part
  const given = contextOf(part.context)
  const { signal } = around.options
  let firing: Firing = { ...firingOf(agent, given, around.home.log, (detail) => addFailedHook(around, detail)), signal }
  let leg: Leg | undefined
  try {
    signal?.throwIfAborted()
    firing = { ...firing, context: await checkedContext(given, firing) }
    await fire(firing, 'onContextBuilt', {})
    const runAgent: ToolRun['runAgent'] = (inner, input, call) =>
      runInCall(inner, { input, context: firing.context, ...call }, around)
    leg = await openLeg({ ...around, agent, firing, runAgent })
    await fire(firing, 'onStart', { input: textOf(part.input) })
    const end = await leg.turn(part.input)
    const answer = leg.wanted() ? undefined : await readAnswer(leg, firing, end.text)
    if (answer) return await finish(firing, answer)
    const wanted = leg.wanted()!
    const { to } = wanted.handoff
    const said = leg.session.messages
    const next = await orAborted(handOver(wanted, agent, said, firing.context as Context<never> as Context), signal)
    report(around, { type: 'handoff', agentName: agent.name, to: to.name, reason: wanted.reason })
    await fire(firing, 'onHandoff', { from: agent, to, reason: wanted.reason })
    return { next: { agent: to, input: [textBlock(next.input)], context: next.context } }
  } catch (cause) {
    await fire(firing, 'onError', { error: errorOf(cause) })
    throw cause
  } finally {
    await leg?.close()
  }
}

/** More than this is a circle of agents that call one another. */
const maxDepth = 5

interface InnerCall {
  readonly input: string
  readonly context: Context<never>
  readonly toolCallId: string
  readonly signal: AbortSignal
}

/** An agent that another one calls as a tool: a run of its own, in a session beside the caller's. */
async function runInCall(agent: AnyAgent, call: InnerCall, around: Surroundings): ReturnType<ToolRun['runAgent']> {
  const { home, options, session, usage, depth } = around
  const { db } = home.runtime
  const { toolCallId } = call
  if (depth >= maxDepth) return failed(`agents call one another ${maxDepth} deep; answer without ${agent.name}`)
  const { conversationId } = getSession(db, session)!
  const before = takeWaitingCall(db, session, toolCallId)
  const ofCaller = { sessionId: session, agentId: newId(db), agentType: agent.name }
  const sessionId = before?.childSessionId ?? createSession(db, conversationId, undefined, ofCaller).sessionId
  if (before) recover(db, sessionId)
  const at = { sessionId, conversationId, resumes: before !== undefined }
  const on = options.on && ((event: RunEvent) => options.on?.({ parentToolCallId: toolCallId, ...event }))
  const { signal, context } = call
  const input = before ? '' : call.input
  const inner = { ...options, input, signal, context: context as never, ...(on && { on }) }
  try {
    const speaker = before ? (agentNamed(agent, JSON.parse(before.detail).agentName) ?? agent) : agent
    return resultOf((await runAll(speaker, inner, home, at, usage, depth + 1)).output)
  } catch (cause) {
    if (!(cause instanceof AgentError) || cause.approval === undefined) return failed(errorOf(cause).message)
    const { approval, message: why } = cause
    const detail = JSON.stringify({ agentName: cause.agent })
    keepWaitingCall(db, { sessionId: session, toolUseId: toolCallId, childSessionId: cause.sessionId!, detail })
    return { ...failed(why), waits: { approval, why } }
  }
}

/** The agent that was at work, which may be one that was handed over to. */
function agentNamed(first: AnyAgent, name: string): AnyAgent | undefined {
  const seen = new Set([first])
  for (const agent of seen) {
    if (agent.name === name) return agent
    for (const each of agent.handoffs) seen.add('to' in each ? each.to : each)
  }
  return undefined
}

/** The answer is reported, transformed and reported again. */
async function finish(firing: Firing, answer: Answer): Promise<PartEnd> {
  const { agent } = firing
  await fire(firing, 'onEnd', { output: answer.value })
  const { resultTransform } = agent.definition
  const scope = { agent, context: firing.context, methods: agent.methods }
  const reshaped =
    resultTransform && (await orAborted(reshape(resultTransform, answer.value, answer.text, scope), firing.signal))
  for (const failure of reshaped?.failures ?? []) {
    await fire(firing, 'onValidationFailed', { errorType: 'transform', ...failure })
  }
  const output = reshaped ? reshaped.result : answer.value
  await fire(firing, 'onResultReady', { rawResult: answer.value, processedResult: output })
  return {
    output,
    rawResult: answer.value,
    processedResult: output,
    fieldErrors: reshaped?.failures ?? [],
    text: answer.text,
    context: firing.context as Context<never> as Context,
    agent,
  }
}

async function checkedContext(given: Context, firing: Firing): Promise<Context<never>> {
  const schema = firing.agent.definition.context
  if (!schema) return given as Context<never>
  const fitted = await orAborted(fit(schema, given.data), firing.signal)
  if (fitted.ok) return new Context(fitted.value as never)
  for (const { field, error, expectedType } of fitted.misfits) {
    const value = field === '' ? given.data : readPath(given.data, field)
    await fire(firing, 'onValidationFailed', { errorType: 'context', error, field, value, expectedType })
  }
  throw new AgentError('context', firing.agent.name, `the context does not fit: ${sayMisfits(fitted.misfits)}`)
}

/** A new conversation, or the session that is resumed. */
function placeOf(
  { name }: AnyAgent,
  { resume, input }: { readonly resume?: string; readonly input: unknown },
  { runtime: { db }, cwd, closed }: Shared,
): Place {
  if (closed()) throw new AgentError('start', name, 'its runtime is closed')
  if (resume !== undefined) {
    const old = getSession(db, resume)
    if (!old) throw new AgentError('start', name, `there is no session ${resume} in ${db.path}`)
    recover(db, resume)
    if (input === '' && !hasOpenCalls({ db, id: resume }))
      throw new AgentError('start', name, `no call of the session ${resume} waits for an approval; give it an input`)
    return { sessionId: resume, conversationId: old.conversationId, resumes: true }
  }
  return db.transaction(() => {
    const { id: conversationId } = createConversation(db, { projectDir: cwd })
    const { sessionId } = createSession(db, conversationId)
    addEvent(db, { conversationId, sessionId, type: 'session_start', detail: { cwd, agent: name } })
    return { sessionId, conversationId, resumes: false }
  })
}

const contextOf = (given: unknown): Context =>
  given instanceof Context ? given : new Context((given ?? {}) as Record<string, unknown>)

/** A hook that failed is logged, and is a row once there is a session; the run goes on. */
function firingOf(agent: AnyAgent, context: Context, log: Shared['log'], record?: (detail: object) => void): Firing {
  return {
    agent,
    context: context as Context<never>,
    hooks: agent.hookTable,
    timeoutMs: agent.definition.hookTimeoutMs ?? 5000,
    failed({ hook, handler, cause }) {
      const text = `agent "${agent.name}": the hook ${hook} (${handler}) failed`
      log({ level: 'error', text, hook, agent: agent.name, cause })
      record?.({ hook, handler, agent: agent.name, why: errorOf(cause).message })
    },
  }
}

function addFailedHook({ home: { runtime }, session: sessionId }: Surroundings, detail: object): void {
  const conversationId = getSession(runtime.db, sessionId)?.conversationId ?? ''
  addEvent(runtime.db, { conversationId, sessionId, type: 'agent_hook_failed', detail: { ...detail } })
}
