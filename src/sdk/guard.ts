/** Hooks that know the tool they are about: its input has the tool's own type. */

import { type HookArgs, type HookOptions, defineHook as ofPlane } from '../hooks/define.ts'
import type { EventFields, EventName } from '../hooks/events.ts'
import type { Handler } from '../hooks/handler.ts'
import type { Output } from '../hooks/wire/output.ts'
import type { ContextFor, FunctionTool, Guard, GuardAnswer, GuardArgs } from './agent-types.ts'
import type { Variables } from './context.ts'
import { type Fitted, fit, sayMisfits } from './output/schema.ts'
import { contextFor } from './tool.ts'

type Answered = GuardAnswer | Promise<GuardAnswer>
type AnyInput = Readonly<Record<string, unknown>>

/**
 * Asked before each call of the tool, with `deny(reason)`, `ask(reason)`, `allow()` or nothing for an answer. One that
 * throws, or is given what does not fit, refuses the call.
 */
export function guard<Input, Needs extends object>(
  tool: FunctionTool<Input, Needs>,
  handler: (args: GuardArgs<Input, ContextFor<Needs>>) => Answered,
  options?: GuardOptions,
): Guard<Needs>
/** Of a built-in or MCP tool, by name. */
export function guard(
  tool: string,
  handler: (args: GuardArgs<AnyInput, Variables>) => Answered,
  options?: GuardOptions,
): Guard
export function guard(
  tool: FunctionTool | string,
  handler: (args: GuardArgs<never, never>) => Answered,
  options: GuardOptions = {},
): Guard {
  const name = nameOf('guard', tool)
  if (typeof handler !== 'function') throw new TypeError(`guard(${JSON.stringify(name)}, …) needs a function`)
  const schemas: Pick<FunctionTool, 'input' | 'context'> = typeof tool === 'string' ? {} : tool
  return Object.freeze({
    bind: ({ agent, context }): Handler =>
      ofPlane(
        'PreToolUse',
        async ({ tool_input, tool_use_id, timestamp }) => {
          const fitted: Fitted<unknown> = schemas.input
            ? await fit(schemas.input, tool_input)
            : { ok: true, value: tool_input }
          if (!fitted.ok) throw new Error(`the input does not fit: ${sayMisfits(fitted.misfits)}`)
          const known = await contextFor(schemas.context, context)
          if (!known.ok) throw new Error(known.why)
          const input = fitted.value as never
          return handler({ input, context: known.context, agent, toolCallId: tool_use_id, timestamp })
        },
        { name: handler.name || `guard of ${name}`, onFailure: 'refuse', ...options, matcher: name },
      ),
  } satisfies Guard)
}

export type GuardOptions = Pick<HookOptions, 'name' | 'timeoutMs'>

/** Events that are about one call. */
type ToolEvent = { [E in EventName]: EventFields[E] extends { tool_input: unknown } ? E : never }[EventName]

type ToolArgs<E extends EventName, Input> = Omit<HookArgs<E>, 'tool_input'> & { readonly tool_input: Input }
type Said<E extends EventName> = Output<E> | undefined | Promise<Output<E> | undefined>

/** Asked when the event happens; answers as a command hook would, or not at all. */
export function defineHook<E extends EventName>(
  event: E,
  handler: (args: HookArgs<E>) => Said<E>,
  options?: HookOptions,
): Handler
/** Of one tool: `tool_input` has the type of the tool's input. */
export function defineHook<E extends ToolEvent, Input>(
  event: E,
  tool: FunctionTool<Input, never>,
  handler: (args: ToolArgs<E, Input>) => Said<E>,
  options?: HookOptions,
): Handler
export function defineHook(event: EventName, ...rest: readonly unknown[]): Handler {
  const [first, second, third] = rest
  if (typeof first === 'function') return ofPlane(event, first as never, second as HookOptions)
  const matcher = nameOf('defineHook', first as FunctionTool)
  return ofPlane(event, second as never, { ...(third as HookOptions), matcher })
}

function nameOf(by: string, tool: FunctionTool | string): string {
  const name = typeof tool === 'string' ? tool : tool?.name
  if (typeof name === 'string' && name !== '') return name
  throw new TypeError(`${by}: name a tool, or give it what defineTool returned`)
}
