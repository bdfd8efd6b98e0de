/** A run, from an input to an answer: one agent after another, until one answers without handing over. */

import type { AgentEvent } from '../agent/events.ts'
import { recover } from '../agent/session/history.ts'
import { errorOf } from '../hooks/kernel.ts'
import { textBlock, textOf } from '../hooks/step/blocks.ts'
import type { Block } from '../hooks/steps.ts'
import { addEvent } from '../store/audit.ts'
import { createConversation, createSession, getSession } from '../store/conversations.ts'
import { orAborted } from './abort.ts'
import { Agent, type AnyAgent } from './agent.ts'
import { AgentError } from './agent-error.ts'
import { type Leg, openLeg } from './agent-session.ts'
import { type Answer, readAnswer } from './answer.ts'
import { checkRunOptions } from './check-definition.ts'
import { Context, type Variables } from './context.ts'
import { handOver } from './handoff.ts'
import { type Firing, fire } from './hooks.ts'
import { readPath } from './key-spelling.ts'
import { type AgentRuntime, openRuntime, type RuntimeOptions, type Shared, shared, toStderr } from './runtime.ts'
import { fit, sayMisfits } from './schema.ts'
import { type FieldFailure, reshape } from './transform.ts'
import { newUsage, type RunUsage } from './usage.ts'

/** Without a runtime the run opens one of its own, with the options given here, and closes it at its end. */
export type RunOptions<ContextInput extends object> = {
  readonly input: string | readonly Block[]
  /** Shared by many runs; opened with `openRuntime`. */
  readonly runtime?: AgentRuntime
  /** The session of an earlier run to go on in; needs the runtime or database that has it. */
  readonly resume?: string
  readonly signal?: AbortSignal
  /** How often agents may hand over; 10 unless said. */
  readonly maxHandoffs?: number
  /** Hears everything as it happens: words, calls, hooks. */
  on?(event: AgentEvent): void
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
  if (!(agent instanceof Agent)) throw new TypeError('run: give it what defineAgent gives')
  checkRunOptions(options)
  const { context, resume, log = toStderr } = options
  const begin = <T>(work: () => T, tell = log) => begun(work, firingOf(agent, contextOf(context), tell))
  const runtime = await begin(() => options.runtime ?? openRuntime(options))
  try {
    const home = runtime[shared]
    const place = await begin(() => placeOf(agent, resume, home), home.log)
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
  { sessionId, conversationId, resumes }: ReturnType<typeof placeOf>,
): Promise<RunResult<unknown>> {
  const { input, context, maxHandoffs = 10 } = options
  const usage = newUsage()
  const agents: string[] = []
  let part: Part = { agent: first, input: typeof input === 'string' ? [textBlock(input)] : input, context }
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
}

type PartEnd = { readonly next: Part } | Omit<RunResult<unknown>, 'agents' | 'usage' | 'sessionId' | 'conversationId'>

/** One agent's part. Every failure is told to its onError hooks before it leaves. */
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
    leg = await openLeg({ ...around, agent, firing })
    await fire(firing, 'onStart', { input: textOf(part.input) })
    const end = await leg.turn(part.input)
    const answer = leg.wanted() ? undefined : await readAnswer(leg, firing, end.text)
    if (answer) return await finish(firing, answer)
    const wanted = leg.wanted()!
    const { to } = wanted.handoff
    const said = leg.session.messages
    const next = await orAborted(handOver(wanted, agent, said, firing.context as Context<never> as Context), signal)
    await fire(firing, 'onHandoff', { from: agent, to, reason: wanted.reason })
    return { next: { agent: to, input: [textBlock(next.input)], context: next.context } }
  } catch (cause) {
    await fire(firing, 'onError', { error: errorOf(cause) })
    throw cause
  } finally {
    await leg?.close()
  }
}

/** The answer is told, reshaped and told again. */
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

/** A new conversation, or the session that is gone on with. */
function placeOf({ name }: AnyAgent, resume: string | undefined, { runtime: { db }, cwd, closed }: Shared) {
  if (closed()) throw new AgentError('start', name, 'its runtime is closed')
  if (resume !== undefined) {
    const old = getSession(db, resume)
    if (!old) throw new AgentError('start', name, `there is no session ${resume} in ${db.path}`)
    recover(db, resume)
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
