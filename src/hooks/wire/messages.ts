/** The wire: what is shown to a handler of an event or a step, and how its reply is read. */

import { type EventName, type Header, rowOf } from '../events.ts'
import type { Handler } from '../handler.ts'
import type { Reply } from '../handlers/ask.ts'
import { truncationMark } from '../handlers/command.ts'
import type { Scope } from '../plane.ts'
import { textBeforeJson } from '../round/invocation.ts'
import { isObject, type JsonObject, say } from '../shape.ts'
import { toEnvelope } from '../step/apply.ts'
import type { Control, StepName, Steps } from '../steps.ts'
import { blocked, merge, noOpinion, plainText, type Verdict, verdictOf } from '../verdict.ts'
import { readOutput, refusalIn, unknownOnly } from './output.ts'

/** What an event hook reads on stdin (spec 003 §6 and appendix A). */
export function eventInput(name: EventName, fields: JsonObject, scope: Scope): JsonObject {
  const header: Header = {
    hook_event_name: name,
    session_id: scope.sessionId,
    conversation_id: scope.conversationId,
    runtime_db_path: scope.dbPath,
    cwd: scope.cwd,
  }
  return { ...header, ...who(scope), ...fields }
}

/** What a step hook reads: the envelope and its header. A field of the step's own is never covered. */
export function stepInput(name: StepName, state: Steps[StepName], scope: Scope): JsonObject {
  return {
    session_id: scope.sessionId,
    cwd: scope.cwd,
    hook_event: name,
    ...(scope.conversationId !== '' && { conversation_id: scope.conversationId }),
    ...(scope.toolUseId !== undefined && { tool_use_id: scope.toolUseId }),
    ...who(scope),
    ...toEnvelope(name, state as never),
  }
}

const who = ({ permissionMode, agentId, agentType }: Scope) => ({
  ...(permissionMode !== undefined && { permission_mode: permissionMode }),
  ...(agentId !== undefined && { agent_id: agentId }),
  ...(agentType !== undefined && { agent_type: agentType }),
})

export interface ReadReply {
  readonly verdict: Verdict
  readonly failure?: string
  readonly warning?: string
}

/**
 * The verdict in the reply of an event's handler. A failure does not block, but for a timeout at a gate and where the
 * handler refuses on failure. A refusal in a bad answer counts nevertheless.
 */
export function readEventReply(
  {
    event,
    ordinal,
    profile,
    kind,
    parallel,
  }: Pick<Handler, 'event' | 'profile' | 'kind' | 'parallel'> & { readonly ordinal: number },
  reply: Reply,
  refusesOnFailure: boolean,
): ReadReply {
  const name = event as EventName
  const failed = (failure: string, said: Verdict = noOpinion): ReadReply => ({
    verdict:
      refusesOnFailure && said.decision !== 'deny'
        ? merge(said, blocked(name, ordinal, `the hook failed: ${failure}`))
        : said,
    failure,
  })
  switch (reply.kind) {
    case 'nothing':
    case 'detached':
      return { verdict: noOpinion }
    case 'text': {
      const garbled = refusesOnFailure ? whyGarbled(name, kind, reply.text) : undefined
      if (garbled !== undefined) return failed(garbled)
      return {
        verdict: plainText(name, reply.text),
        ...(reply.text.includes('\n{') && {
          warning: textBeforeJson,
        }),
      }
    }
    case 'block':
      return { verdict: blocked(name, ordinal, reply.text) }
    case 'failure':
      return failed(reply.why, countsAsBlock(name, reply) ? blocked(name, ordinal, reply.why) : noOpinion)
    case 'answer': {
      const read = reply.fault === undefined ? readOutput(name, reply.value, profile) : undefined
      const odd = refusesOnFailure && read?.ok ? whyOdd(name, reply.value, profile) : undefined
      if (odd !== undefined) return failed(odd)
      if (read?.ok) {
        const verdict = verdictOf(name, read.value, profile)
        if (!parallel || !verdict.input) return { verdict }
        const refusal = verdictOf(name, refusalIn(name, reply.value))
        return failed(changesInput, merge(refusal, blocked(name, ordinal, changesInput)))
      }
      const why = read ? `answered with what ${name} does not take: ${say(read.problem)}` : reply.fault!
      return failed(why, verdictOf(name, refusalIn(name, reply.value)))
    }
  }
}

/** The hooks beside it have judged the input as it was. */
const changesInput = 'changes the input, which a hook with "parallel" may not; remove "parallel" from it'

/**
 * Why text cannot be what a guard meant to say. Before a tool it is none, as in every other agent; elsewhere a command may print
 * what it likes beside its exit code, but not what looks like an answer. A server and a program that stays have nothing but
 * their answer.
 */
function whyGarbled(name: EventName, kind: Handler['kind'], text: string): string | undefined {
  if (text.endsWith(truncationMark)) return 'printed more than is read'
  if (kind !== 'command' || name === 'PreToolUse' || name === 'PermissionRequest')
    return `answered with text that is no JSON object: ${text.trim().slice(0, 80)}`
  return /(^|\n)\s*[[{"]|^\s*null\s*$|[\u0000\ufffd]/.test(text)
    ? 'printed what looks like an answer and is no JSON object'
    : undefined
}

/** Why an answer that can be read says nothing that the event takes, though it says something. */
function whyOdd(name: EventName, value: unknown, profile: Handler['profile']): string | undefined {
  const unknown = unknownOnly(name, value, profile)
  return unknown && `answered with ${unknown}, which ${name} does not take`
}

/** A timeout at these two counts as exit 2 (spec 003 §5.9). */
export const countsAsBlock = (event: EventName | StepName, reply: Reply): boolean =>
  reply.kind === 'failure' && reply.cause === 'timed-out' && (event === 'PreToolUse' || event === 'UserPromptSubmit')

/** The verdict in the reply of a step's handler: JSON, or a control that a function returned, or undefined. */
export function readStepReply(reply: Reply): unknown {
  if (reply.kind === 'answer') return reply.value
  if (reply.kind !== 'block') return undefined
  return { control: 'veto', ...(reply.text !== '' && { additional_context: [reply.text] }) }
}

export const isControl = (value: unknown): value is Control =>
  isObject(value) && ['proceed', 'break', 'continue', 'skip'].includes(value.kind as string)

/** Why a step's verdict says what it says, as far as it tells. */
export function whyOf(verdict: unknown): string {
  const said = isObject(verdict) ? verdict.additional_context : undefined
  const texts = Array.isArray(said) ? said.filter((text) => typeof text === 'string') : []
  return texts.join('\n').trimEnd()
}

/** Whether exit 2 can still refuse what the event is about. */
export const canRefuse = (name: EventName): boolean => ['deny', 'refuse'].includes(rowOf(name).onBlock)
