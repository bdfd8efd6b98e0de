/** The stages of a turn, each with the steps at which hooks have their say. */

import type { Answer } from '../hooks/plane.ts'
import { textBlock, textOf } from '../hooks/step/blocks.ts'
import type { Block, Steps, StopReason } from '../hooks/steps.ts'
import type { ModelFailure, Reply, ToolUse } from '../providers/model.ts'
import { addEvent } from '../store/audit.ts'
import { storable } from '../store/secrets.ts'
import { signOut } from '../store/session/session-lock.ts'
import { typedIn } from './context/attached-content.ts'
import { requestFor } from './context/prompt.ts'
import { recall } from './context/recall.ts'
import { helpAgainst, raiseStopFailure } from './model/model-failure.ts'
import { contextShare, spend } from './model/spend.ts'
import type { Session } from './session/session.ts'
import { startShellAhead } from './shell-ahead.ts'
import { grouped, runSideBySide } from './side-by-side.ts'
import { newsOf } from './subagents/background.ts'
import { interruptedResult, runToolCall } from './tool-call.ts'
import type { Source, TurnEnd } from './turn-end.ts'

/** A turn is entered: hooks may add to it or end it before anything is taken in. */
export async function enter(session: Session): Promise<TurnEnd | undefined> {
  session.emit({ type: 'turn-started' })
  if (session.rejected) return { ...session.rejected, text: '' }
  if (session.phase === 'planning') await session.stopCommands()
  const step: Steps['after_turn_enter'] = {
    isSubagent: session.agent !== undefined,
    agentType: session.agent?.type ?? null,
    additionalContext: [],
  }
  const { agent } = session
  const answer = await session.ask('after_turn_enter', step, agent && (() => subagentStart(agent)))
  session.carry(step.additionalContext)
  return ended(session, answer)
}

const subagentStart = (agent: { id: string; type: string }) =>
  ({ name: 'SubagentStart', fields: { agent_id: agent.id, agent_type: agent.type } }) as const

/** The prompt passes those who may rewrite or refuse it, and becomes part of the transcript. */
export async function ingest(session: Session, prompt: readonly Block[], source: Source): Promise<TurnEnd | undefined> {
  const before: Steps['before_ingest'] = { source, input: [...newsOf(session.tasks, session.model.window), ...prompt] }
  const raised = () => ({ name: 'UserPromptSubmit', fields: { prompt: textOf(typedIn(prompt)) } }) as const
  const answer = await session.ask('before_ingest', before, source === 'user' ? raised : undefined)
  if (answer.decision === 'deny') return { stop: 'refusal', text: '', why: answer.reason }
  const refused = ended(session, answer)
  if (refused) return refused.stop === 'cancelled' && session.signal.aborted ? refused : { ...refused, stop: 'refusal' }

  const remembered = source === 'user' ? recall(session, textOf(before.input)) : []
  const blocks = [...before.input, ...session.carried(), ...remembered, ...answer.context.map(textBlock)]
  session.say(blocks, source === 'user' ? 'prompt' : undefined)
  const after: Steps['after_ingest'] = { committedLen: 1, additionalContext: [] }
  const answered = await session.ask('after_ingest', after)
  if (after.additionalContext.length > 0) session.say(after.additionalContext)
  return ended(session, answered)
}

export interface Generated {
  readonly end?: TurnEnd
  readonly text: string
  readonly toolUses: readonly ToolUse[]
}

export const budgetSpent = 'the budget is spent'

export function overBudget({ runtime: { budget } }: Session): TurnEnd | undefined {
  if (!budget || budget.spent < budget.usd) return undefined
  return { stop: 'max_turn_requests', text: '', why: budgetSpent }
}

/** Asks the model, unless a hook answers in its place, and keeps what it said. */
export async function generate(session: Session): Promise<Generated> {
  const before: Steps['before_generate'] = {
    model: session.model.wireModel,
    messageCount: session.messages.length,
    attempt: session.requests + 1,
    assistantText: null,
  }
  const asked = await session.ask('before_generate', before)
  const refused = before.assistantText === null ? ended(session, asked) : undefined
  if (refused) return { end: refused, text: '', toolUses: [] }

  if (session.runtime.sandbox) void import('./sandboxed.ts').then((sandboxed) => sandboxed.prepareSandbox(session))
  const startedAt = performance.now()
  const reply = before.assistantText === null ? await ask(session, before.model) : spoken(session, before)
  const durationMs = Math.round(performance.now() - startedAt)
  const after: Steps['after_generate'] = {
    model: reply.model,
    usage: {
      input_tokens: reply.usage.inputTokens,
      output_tokens: reply.usage.outputTokens,
      cache_read_input_tokens: reply.usage.cacheReadTokens,
      cache_creation_input_tokens: reply.usage.cacheWriteTokens,
    },
    stop: reply.stop === 'tool_use' || reply.stop === 'error' ? 'end_turn' : reply.stop,
    error: reply.failure?.message ?? null,
  }
  const answer = await session.ask('after_generate', after)
  const text = reply.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  const end = (await stopOf(session, reply, text)) ?? ended(session, answer, text)
  const toolUses = reply.content.filter((block) => block.type === 'tool_use')
  keep(session, { ...reply, durationMs }, end)
  await session.observe({ type: 'reply' })
  // A turn that ends here leaves no call without a result.
  if (end) for (const call of toolUses) session.result(call, interruptedResult(end.why ?? end.stop))
  return { ...(end && { end }), text, toolUses }
}

async function ask(session: Session, model: string): Promise<Reply> {
  session.requests++
  session.emit({ type: 'request', model, messageCount: session.messages.length })
  const request = await requestFor(session, model)
  await session.observe({ type: 'request', request })
  session.runtime.plane.expectCalls(session.scope())
  const replying = session.model.provider.reply(request, (part) => {
    session.runtime.mcp?.connect?.()
    if (part.type !== 'tool-call') session.emit(safe(part))
  })
  startShellAhead(session)
  const reply = safe(await replying)
  const helped = reply.failure && (await helpAgainst(session, reply.failure))
  return helped ? ask(session, session.model.wireModel) : reply
}

/** A server's words about a failure may repeat a key that we hold. */
function safe<T extends object>(outcome: T & { readonly failure?: ModelFailure }): T {
  const { failure } = outcome
  return failure ? { ...outcome, failure: { ...failure, message: storable(failure.message) } } : outcome
}

/** A hook's words in the model's place. */
function spoken(session: Session, step: Steps['before_generate']): Reply {
  const text = step.assistantText!
  session.emit({ type: 'text', text })
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  return { content: [{ type: 'text', text }], stop: 'end_turn', usage, model: step.model }
}

/** The assistant's row and what it cost, in one commit. */
function keep(session: Session, reply: Reply & { durationMs: number }, end: TurnEnd | undefined): void {
  const cut = end !== undefined && (reply.stop === 'cancelled' || reply.stop === 'error' || reply.stop === 'max_tokens')
  const content = cut ? reply.content.filter((block) => block.type === 'text' && block.text !== '') : reply.content
  const cost = spend(session, reply)
  session.commit(() => {
    if (content.length > 0) session.assistant(content)
    addEvent(session.db, {
      conversationId: session.conversationId,
      sessionId: session.id,
      type: 'model_reply',
      detail: {
        ...{ provider: session.model.providerName, model: reply.model, stop: reply.stop },
        ...{ ...reply.usage, costUsd: cost, durationMs: reply.durationMs },
      },
    })
    if (end?.stop === 'cancelled') session.say([textBlock('[Request interrupted by user]')])
  })
  const toolUses = content.filter((block) => block.type === 'tool_use')
  session.emit({ type: 'assistant', text: textOf(content), toolUses, usage: reply.usage, stop: reply.stop })
  session.emit({ type: 'usage', usage: reply.usage, costUsd: cost, contextShare: contextShare(session) })
}

async function stopOf(session: Session, reply: Reply, text: string): Promise<TurnEnd | undefined> {
  if (reply.stop === 'cancelled') return { stop: 'cancelled', text }
  if (reply.stop === 'refusal') return { stop: 'refusal', text, why: 'the model refused' }
  if (reply.stop !== 'error' && reply.stop !== 'max_tokens') return undefined
  const failure = reply.failure ?? { kind: 'max-output-tokens', message: 'the reply reached the output limit' }
  await raiseStopFailure(session, failure, text)
  return { stop: reply.stop, text, why: failure.message, failure }
}

/** Runs the calls of one reply in the order they were declared, one after another; sub-agents side by side. */
export async function runTools(session: Session, calls: readonly ToolUse[]): Promise<TurnEnd | undefined> {
  const results: { tool: string; isError: boolean }[] = []
  let end: TurnEnd | undefined
  for (const group of grouped(session, calls)) {
    if (end || session.signal.aborted) {
      for (const call of group) session.result(call, interruptedResult(end?.why ?? 'the turn was interrupted'))
      continue
    }
    const [first] = group as [ToolUse]
    const done = group.length > 1 ? await runSideBySide(session, group) : [await runToolCall(session, first)]
    for (const [at, { output }] of done.entries()) results.push({ tool: group[at]!.name, isError: output.isError })
    const ends = done.flatMap((each) => each.end ?? [])
    end = ends.find(({ approval }) => approval) ?? ends[0]
  }
  if (end?.approval) return end // what the model says next comes after that call's result
  if (session.signal.aborted) {
    session.commit(() => session.say([textBlock('[Request interrupted by user for tool use]')]))
    return { stop: 'cancelled', text: '' }
  }
  const step: Steps['after_tool_batch'] = { results, additionalContext: [] }
  const answer = await session.ask('after_tool_batch', step)
  for (const blocks of [step.additionalContext, newsOf(session.tasks, session.model.window), session.takeQueued()])
    if (blocks.length > 0) session.say(blocks)
  if (session.pending.length > 0) session.commit(() => {})
  end ??= ended(session, answer)
  if (!end && session.requests >= session.maxRequests) {
    return (await atTurnEnd(session, '', 'max_turn_requests')) ?? { stop: 'max_turn_requests', text: '' }
  }
  return end
}

/** The model has nothing more to do. A hook may send it round again, if the stop was its own choice and not too often. */
export async function atTurnEnd(
  session: Session,
  text: string,
  stop: StopReason = 'end_turn',
): Promise<TurnEnd | undefined> {
  const voluntary = stop === 'end_turn'
  if (voluntary && session.continues >= session.maxContinues) return { stop, text }
  const step: Steps['before_turn_end'] = {
    stopReason: stop,
    continuesSoFar: session.continues,
    voluntary,
    feedback: [],
  }
  const stopFields = { stop_hook_active: session.continues > 0, last_assistant_message: text }
  const { agent } = session
  const answer = await session.ask('before_turn_end', step, () =>
    agent
      ? {
          name: 'SubagentStop',
          fields: { ...stopFields, agent_id: agent.id, agent_transcript_path: '', agent_type: agent.type },
        }
      : { name: 'Stop', fields: stopFields },
  )
  if (!voluntary || answer.stop !== null || answer.control.kind !== 'continue') {
    return ended(session, answer, text) ?? { stop, text }
  }
  session.continues++
  const feedback =
    step.feedback.length > 0 ? step.feedback : [textBlock('A hook asks you to go on: the work is not done.')]
  return ingest(session, feedback, 'continuation')
}

export function finish(session: Session, end: TurnEnd): TurnEnd {
  session.commit(() => {
    signOut(session)
    addEvent(session.db, {
      conversationId: session.conversationId,
      sessionId: session.id,
      type: 'turn_end',
      detail: { stop: end.stop, requests: session.requests, ...(end.why && { why: end.why }) },
    })
  })
  session.finished()
  hintAtTests(session, end)
  session.emit({ type: 'turn-ended', stop: end.stop, text: end.text, ...(end.failure && { failure: end.failure }) })
  return end
}

/** The end that an answer puts to the turn, if it does. */
function ended(session: Session, answer: Answer, text = ''): TurnEnd | undefined {
  if (session.signal.aborted) return { stop: 'cancelled', text }
  if (answer.stop !== null) return { stop: 'end_turn', text, why: answer.stop }
  if (answer.control.kind === 'break') return { stop: answer.control.reason, text, why: answer.reason }
  return undefined
}

/** Once a session: after work on an approved plan, what comes next. */
function hintAtTests(session: Session, { stop }: TurnEnd): void {
  if (session.agent || session.hintedAtTests || stop !== 'end_turn' || session.phase !== 'implement') return
  session.hintedAtTests = true
  const text = 'When the plan is carried out: /test has its tests written, without sight of the code, and run.'
  session.emit({ type: 'notice', level: 'info', text })
}
