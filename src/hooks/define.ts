/** Hooks in TypeScript: a function that takes one object. */
import { type Event, type EventFields, type EventName, eventNames, isEventName } from './events.ts'
import {
  type EventFunction,
  failureOf,
  type Handler,
  type OnFailure,
  type StepFunction,
  type StepReply,
} from './handler.ts'
import { type StepName, type Steps, stepNames } from './steps.ts'
import { notKnown } from './text/nearest.ts'
import type { StepMatch } from './wire/matcher.ts'
import type { Output } from './wire/output.ts'

/** What every hook gets, whatever it is for. */
export interface StandardArgs {
  readonly context: HookContext
  readonly agent: { readonly id: string | null; readonly type: string | null }
  readonly timestamp: Date
}

/** Where the hook runs. */
export interface HookContext {
  readonly sessionId: string
  readonly conversationId: string
  readonly dbPath: string
  readonly cwd: string
  readonly projectDir: string | undefined
  readonly permissionMode: string | undefined
  readonly toolUseId: string | undefined
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** `event` is the whole event as on the wire; its own fields are there by name too. */
export type HookArgs<E extends EventName> = StandardArgs & { readonly event: Readonly<Event<E>> } & Readonly<
    Omit<EventFields[E], keyof StandardArgs | 'event'>
  >

/** `step` may be changed; what is readonly in it is a fact. `event` is its name. */
export type StepArgs<S extends StepName> = StandardArgs & { readonly event: S; readonly step: Steps[S] }

interface CommonOptions {
  /** For the audit and the screen; the function's own name by default. */
  readonly name?: string
  readonly matcher?: string
  /** A permission rule, such as `Bash(git *)`, that the tool call must match. */
  readonly if?: string
  readonly timeoutMs?: number
  /** `refuse`: where it fails, what it guards is refused, as by exit code 2 of a command. */
  readonly onFailure?: OnFailure
  /** The same in the words of steps. */
  readonly onError?: 'block' | 'proceed'
  readonly once?: boolean
}

export interface HookOptions extends CommonOptions {
  /** Asked at the same time as the parallel hooks beside it; it may not change the input. */
  readonly parallel?: true
}

export interface StepHookOptions extends CommonOptions {
  readonly match?: StepMatch
}

/** Asked when the event happens; answers as a command hook would, or not at all. */
export function defineHook<E extends EventName>(
  event: E,
  handler: (args: HookArgs<E>) => Output<E> | undefined | Promise<Output<E> | undefined>,
  options: HookOptions = {},
): Handler {
  if (!isEventName(event)) throw new TypeError(`defineHook: the event ${notKnown(event, eventNames)}`)
  checkForm('defineHook', event, handler, 'event, context, agent, timestamp and the fields of the event')
  return { ...declared(event, handler, options), kind: 'function', of: 'event', run: handler as EventFunction }
}

/** Asked at the step; changes it in place, and may return a control or a verdict. */
export function defineStepHook<S extends StepName>(
  step: S,
  handler: (args: StepArgs<S>) => StepReply<S> | Promise<StepReply<S>>,
  { match, ...options }: StepHookOptions = {},
): Handler {
  if (!stepNames.includes(step)) throw new TypeError(`defineStepHook: the step ${notKnown(step, stepNames)}`)
  checkForm('defineStepHook', step, handler, 'event, step, context, agent and timestamp')
  if ('parallel' in options && options.parallel)
    throw new TypeError(
      `defineStepHook("${step}", …): parallel belongs to events; at a step each hook sees what the one before it changed`,
    )
  return {
    ...declared(step, handler, options),
    ...(match && { match, matcher: JSON.stringify(match) }),
    kind: 'function',
    of: 'step',
    run: handler as StepFunction,
  }
}

type AnyFunction = (args: never) => unknown

function declared(event: EventName | StepName, handler: AnyFunction, options: CommonOptions) {
  const { name = handler.name || 'anonymous', matcher = '', if: ifCondition = '', onError, ...rest } = options
  const onFailure = rest.onFailure ?? failureOf(onError)
  return {
    ...{ event, name, matcher, ifCondition, ...rest },
    ...(onFailure && { onFailure }),
    source: { kind: 'code' } as const,
  }
}

/** Rest and defaulted parameters count as none, so only a function of the old form is caught. */
function checkForm(by: string, name: string, handler: AnyFunction, keys: string): void {
  if (typeof handler !== 'function') throw new TypeError(`${by}("${name}", …) needs a function, not ${typeof handler}`)
  if (handler.length < 2) return
  throw new TypeError(
    `${by}("${name}", …): the function takes ${handler.length} parameters, but a hook gets one object. ` +
      `Write ${by}("${name}", ({ context, agent, timestamp }) => { … }); in it are ${keys}.`,
  )
}
