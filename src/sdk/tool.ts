/** Tools from functions. */
import { errorOf } from '../hooks/kernel.ts'
import { record } from '../hooks/shape.ts'
import type { Safety } from '../hooks/steps.ts'
import { capped } from '../mcp/content.ts'
import { failed, said, type ToolOutput } from '../tools/output.ts'
import type { Tool } from '../tools/tool.ts'
import { orAborted } from './abort.ts'
import type { AnyAgent } from './agent.ts'
import { checkKeys, sdkKeys } from './check-definition.ts'
import type { Context } from './context.ts'
import { type Fitted, fit, isSchema, jsonSchemaOf, type OutputOf, type Schema, sayMisfits } from './schema.ts'

export interface ToolScope {
  readonly context: Context
  readonly agent: AnyAgent
  readonly toolCallId: string
  /** Aborted when the run is. */
  readonly signal: AbortSignal
  /** Tells whoever watches what is going on. */
  progress(text: string): void
}

export interface ToolDefinition<S extends Schema> {
  /** As the model calls it; a letter first, then letters, digits, `_` and `-`. */
  readonly name: string
  /** What the model is told. */
  readonly description: string
  readonly input: S
  /** The input as JSON Schema, where the library cannot say it itself (valibot). */
  readonly jsonSchema?: Readonly<Record<string, unknown>>
  /** What hooks are told of it; `mutating` unless said. */
  readonly safety?: Safety
  /** True: a person or a rule must allow each call. Otherwise giving the tool to an agent allows it where no rule speaks. */
  readonly needsPermission?: boolean
  /** What it gives is told to the model: text as it is, the rest as JSON. What it throws is told as a failed call. */
  run(input: OutputOf<S>, scope: ToolScope): unknown
}

export interface FunctionTool {
  readonly name: string
  readonly description: string
  /** The tool as the loop knows it, for one run. */
  bind(agent: AnyAgent, context: Context<never>): Tool
}

export function defineTool<const S extends Schema>(definition: ToolDefinition<S>): FunctionTool {
  const { name, description, input, run } = definition
  const by = `defineTool(${JSON.stringify(name)})`
  checkKeys(by, definition, sdkKeys.tool)
  if (!/^[A-Za-z][\w-]{0,63}$/.test(name) || name.startsWith('mcp__'))
    throw new TypeError(`${by}: a name is a letter and up to 63 letters, digits, _ or -, and does not begin with mcp__`)
  if (!isSchema(input)) throw new TypeError(`${by}: input must be a Standard Schema, such as z.object({ … })`)
  if (typeof run !== 'function') throw new TypeError(`${by}: run must be a function`)
  const described = definition.jsonSchema ?? jsonSchemaOf(input)
  if (!described)
    throw new TypeError(`${by}: ${input['~standard'].vendor} cannot describe its schema; give jsonSchema beside it`)
  const shape = {
    ...record({}),
    schema: () => described,
    check(value: unknown) {
      const fitted = fit(input, value)
      // an asynchronous schema is asked when the tool runs
      return fitted instanceof Promise || fitted.ok ? undefined : { path: '', why: sayMisfits(fitted.misfits) }
    },
  }
  return Object.freeze({
    name,
    description,
    bind: (agent: AnyAgent, context: Context<never>): Tool => ({
      name,
      prompt: description,
      input: shape,
      safety: definition.safety ?? 'mutating',
      ...(definition.needsPermission !== true && { granted: true }),
      summary: (given) => JSON.stringify(given).slice(0, 200),
      async run(given, { toolUseId: toolCallId, signal, progress }) {
        const fitted: Fitted<unknown> = await orAborted(fit(input, given), signal)
        if (!fitted.ok) return failed(`${name}: the input does not fit: ${sayMisfits(fitted.misfits)}`)
        const scope = { context: context as Context<never> as Context, agent, toolCallId, signal, progress }
        try {
          return told(await orAborted(run(fitted.value as OutputOf<S>, scope), signal))
        } catch (cause) {
          return failed(errorOf(cause).message)
        }
      },
    }),
  })
}

function told(value: unknown): ToolOutput {
  if (typeof value === 'string') return said(capped(value))
  return said(value === undefined ? 'done' : capped(JSON.stringify(value) ?? String(value)))
}
