/** The hooks of an agent: who is notified, in which order, and what a failure does. Hooks observe; steps govern. */
import { askInOrder, type Outcome } from '../hooks/kernel.ts'
import { notKnown } from '../hooks/text/nearest.ts'
import type { AnyAgent, AnyHook, GlobalHooks, HookEvents, HookName, HookTable, StandardArgs } from './agent-types.ts'
import type { Context } from './context.ts'
import { addSpellings, bothSpellings } from './output/key-spelling.ts'

/** For messages: what each hook has beside context, agent and timestamp. */
const hookFields: Record<HookName, readonly string[]> = {
  onContextBuilt: [],
  onPromptGenerated: ['systemPrompt', 'userPrompt'],
  onTokensCounted: ['inputTokens', 'outputTokens', 'totalTokens', 'estimatedCost', 'model'],
  onValidationFailed: ['error', 'errorType', 'field', 'value', 'expectedType'],
  onResultReady: ['rawResult', 'processedResult'],
  onStart: ['input'],
  onEnd: ['output'],
  onError: ['error'],
  onToolStart: ['tool', 'args', 'toolCallId'],
  onToolEnd: ['tool', 'args', 'toolCallId', 'result', 'error', 'durationMs'],
  onHandoff: ['from', 'to', 'reason'],
}

export const hookNames = Object.keys(hookFields) as readonly HookName[]

/** Reads hooks once, at definition: whatever cannot work is refused there, with what to write instead. */
export function readHooks(by: string, hooks: object, methods?: Readonly<Record<string, unknown>>): HookTable {
  const table: HookTable = {}
  for (const [hook, given] of Object.entries(hooks)) {
    if (given === undefined) continue
    if (!Object.hasOwn(hookFields, hook)) throw new TypeError(`${by}: the hook ${notKnown(hook, hookNames)}`)
    const name = hook as HookName
    table[name] = [given].flat().map((each: unknown) => readHandler(`${by}: ${name}`, name, each, methods))
  }
  return table
}

function readHandler(by: string, hook: HookName, given: unknown, methods?: Readonly<Record<string, unknown>>) {
  if (typeof given === 'string') {
    const method = methods && Object.hasOwn(methods, given) ? methods[given] : undefined
    if (typeof method !== 'function')
      throw new TypeError(
        methods
          ? `${by} names a method that the agent lacks: it ${notKnown(given, Object.keys(methods))}`
          : `${by} is "${given}"; a hook for all agents must be a function`,
      )
    checkForm(by, hook, method as AnyHook)
    return { name: given, run: (args: never) => (method as AnyHook).call(methods, args) }
  }
  if (typeof given !== 'function')
    throw new TypeError(`${by} must be a function or a method's name, not ${typeof given}`)
  checkForm(by, hook, given as AnyHook)
  return { name: given.name || 'anonymous', run: given as AnyHook }
}

/** Rest and defaulted parameters count as none, so only a function of the old, positional form is caught. */
function checkForm(by: string, hook: HookName, handler: AnyHook): void {
  if (handler.length < 2) return
  const keys = [...hookFields[hook], 'context', 'agent', 'timestamp'].join(', ')
  throw new TypeError(
    `${by} takes ${handler.length} parameters, but a hook gets one object. Write ${hook}: ({ ${keys} }) => { … } with those you need.`,
  )
}

const everywhere = new Set<HookTable>()

/** Hooks for every agent of this process, asked before an agent's own. Gives a function that takes them away again. */
export function addGlobalHooks(hooks: GlobalHooks): () => void {
  const table = readHooks('addGlobalHooks', hooks)
  everywhere.add(table)
  return () => void everywhere.delete(table)
}

export interface HookFailure {
  readonly hook: HookName
  readonly agent: string
  readonly handler: string
  readonly cause: unknown
}

export interface Firing {
  readonly agent: AnyAgent
  readonly context: Context<never>
  readonly hooks: HookTable
  /** A handler that has not settled by then is left behind. */
  readonly timeoutMs: number
  /** Nobody is waited for once it is aborted. */
  readonly signal?: AbortSignal
  failed(failure: HookFailure): void
}

/** Notifies every hook, one after another. Never throws: a failure is reported, and the next hook runs. */
export async function fire<N extends HookName>(
  { agent, context, hooks, timeoutMs, signal, failed }: Firing,
  hook: N,
  fields: HookEvents[N] & { readonly [K in keyof StandardArgs]?: never },
): Promise<void> {
  const handlers = [...[...everywhere].flatMap((table) => table[hook] ?? []), ...(hooks[hook] ?? [])]
  if (handlers.length === 0) return
  const interrupt = signal?.aborted ? undefined : signal // an aborted run still fires onError, and waits for it
  const args = argsOf(fields, { context, agent, timestamp: new Date() })
  await askInOrder(handlers, {
    admit: () => true,
    question: ({ run }) => ({ call: () => run(args as never), read: () => undefined, limitMs: timeoutMs, interrupt }),
    settle({ name }, outcome) {
      const cause = causeOf(outcome, interrupt)
      if (cause !== undefined) failed({ hook, agent: agent.name, handler: name, cause })
      return false
    },
  })
}

function causeOf(outcome: Outcome<unknown>, interrupt: AbortSignal | undefined): unknown {
  if (outcome.kind === 'failed') return outcome.cause ?? new Error(`it threw ${outcome.cause}`)
  if (outcome.kind === 'timed-out') return new Error(`it did not settle within ${outcome.afterMs} ms`)
  return outcome.kind === 'interrupted' ? interrupt?.reason : undefined
}

/** One frozen object for all handlers of a firing; the standard three win over whatever the fields hold. */
function argsOf(fields: object, standard: object): object {
  const own = Object.entries(fields).map(([key, value]) => [key, bothSpellings(value, { freeze: true })])
  const args = { ...Object.fromEntries(own), ...standard }
  addSpellings(args)
  return Object.freeze(args)
}
