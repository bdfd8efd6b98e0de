/** Hooks that the host registers in `initialize`: handlers of the plane that call back over the pipe. */
import { observingEvents } from '../../hooks/claude/events.ts'
import { type EventName, eventNames, isEventName } from '../../hooks/events.ts'
import type { Handler } from '../../hooks/handler.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { notKnown } from '../../hooks/text/nearest.ts'
import type { Pipe } from './pipe.ts'

type Read = Registered | { readonly problem: string }

interface Registered {
  readonly handlers: readonly Handler[]
  /** Events that the host listens to and ona never raises. */
  readonly neverRaised: readonly string[]
}

/** Reads all or nothing: a guard that is not understood must not be lost. */
export function hostHooks(hooks: unknown, pipe: Pick<Pipe, 'request'>): Read {
  if (hooks === undefined || hooks === null) return { handlers: [], neverRaised: [] }
  if (!isObject(hooks)) return { problem: 'hooks must be an object of events' }
  const handlers: Handler[] = []
  const neverRaised = Object.keys(hooks).filter((event) => observingEvents.includes(event))
  for (const [event, groups] of Object.entries(hooks)) {
    if (neverRaised.includes(event)) continue
    if (!isEventName(event)) return { problem: `hooks: the event ${notKnown(event, eventNames)}` }
    if (!Array.isArray(groups)) return { problem: `hooks.${event} must be a list` }
    for (const [at, group] of groups.entries()) {
      const read = readGroup(event, group, pipe)
      if (typeof read === 'string') return { problem: `hooks.${event}[${at}]${read}` }
      handlers.push(...read)
    }
  }
  return { handlers, neverRaised }
}

function readGroup(event: EventName, group: unknown, pipe: Pick<Pipe, 'request'>): Handler[] | string {
  if (!isObject(group)) return ' must be an object'
  const { matcher = '', hookCallbackIds: ids, timeout, onFailure } = group
  if (matcher !== null && typeof matcher !== 'string') return '.matcher must be a string'
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string'))
    return '.hookCallbackIds must be a list of strings'
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0)) return '.timeout must be seconds above 0'
  if (onFailure !== undefined && onFailure !== 'block' && onFailure !== 'continue')
    return '.onFailure must be "block" or "continue"'
  return ids.map((id: string) => ({
    kind: 'function',
    of: 'event',
    name: `host ${id}`,
    event,
    source: { kind: 'session' },
    profile: 'claude',
    matcher: matcher ?? '',
    ifCondition: '',
    ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
    ...(onFailure === 'block' && { onFailure: 'refuse' as const }),
    run: ((args: Called) => callBack(id, event, args, pipe)) as never,
  }))
}

interface Called {
  readonly event: JsonObject
  readonly context: { readonly toolUseId?: string; readonly signal: AbortSignal }
}

async function callBack(id: string, event: EventName, { event: input, context }: Called, pipe: Pick<Pipe, 'request'>) {
  const { toolUseId, signal } = context
  const answer = await pipe.request(
    { subtype: 'hook_callback', callback_id: id, input, ...(toolUseId && { tool_use_id: toolUseId }) },
    signal,
  )
  if (!answer) {
    // The host is gone: whatever its guard would have said, nobody said yes.
    if (gates.includes(event) && !signal.aborted)
      return { decision: 'block', reason: 'the program that registered this hook no longer answers' }
    throw new Error('the program that registered this hook no longer answers')
  }
  if ('problem' in answer) throw new Error(answer.problem)
  // A hook that detaches gives no verdict.
  return isObject(answer.value) && answer.value['async'] === true ? undefined : answer.value
}

const gates: readonly EventName[] = ['PreToolUse', 'UserPromptSubmit', 'PermissionRequest']
