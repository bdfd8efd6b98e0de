/** Tools from functions. */
import { errorOf } from '../hooks/kernel.ts'
import { record } from '../hooks/shape.ts'
import type { Safety } from '../hooks/steps.ts'
import { capped } from '../mcp/content.ts'
import { failed, said, type ToolOutput } from '../tools/output.ts'
import type { Tool } from '../tools/tool.ts'
import { orAborted } from './abort.ts'
import type { ContextFor, FunctionTool, ToolRun, ToolScope } from './agent-types.ts'
import { checkKeys, sdkKeys } from './check-definition.ts'
import { Context } from './context.ts'
import { type Fitted, fit, isSchema, jsonSchemaOf, type OutputOf, type Schema, sayMisfits } from './output/schema.ts'

export interface ToolDefinition<S extends Schema, Ctx extends Schema | undefined> {
  /** As the model calls it; a letter first, then letters, digits, `_` and `-`. */
  readonly name: string
  /** What the model sees. */
  readonly description: string
  readonly input: S
  /** The input as JSON Schema, where the library cannot say it itself (valibot). */
  readonly jsonSchema?: Readonly<Record<string, unknown>>
  /** What the run's context must have for this tool; without it any variable may be there. */
  readonly context?: Ctx
  /** Its safety class for hooks; `mutating` by default. */
  readonly safety?: Safety
  /** True: a user or a rule must allow each call. Otherwise giving the tool to an agent allows it where no rule speaks. */
  readonly needsPermission?: boolean
  /** What it returns goes to the model: text as it is, the rest as JSON. What it throws is a failed call. */
  run(input: OutputOf<S>, scope: ToolScope<ContextFor<Needs<Ctx>>>): unknown
}

type Needs<Ctx> = Ctx extends Schema ? OutputOf<Ctx> & object : object

export function defineTool<const S extends Schema, const Ctx extends Schema | undefined = undefined>(
  definition: ToolDefinition<S, Ctx>,
): FunctionTool<OutputOf<S>, Needs<Ctx>> {
  const { name, description, input, context, run } = definition
  const by = `defineTool(${JSON.stringify(name)})`
  checkKeys(by, definition, sdkKeys.tool)
  checkToolName(by, name)
  if (!isSchema(input)) throw new TypeError(`${by}: input must be a Standard Schema, such as z.object({ … })`)
  if (context !== undefined && !isSchema(context))
    throw new TypeError(`${by}: context must be a Standard Schema, such as z.object({ … })`)
  if (typeof run !== 'function') throw new TypeError(`${by}: run must be a function`)
  const described = definition.jsonSchema ?? jsonSchemaOf(input)
  if (!described)
    throw new TypeError(`${by}: ${input['~standard'].vendor} cannot describe its schema; give jsonSchema beside it`)
  const shape = {
    ...record({}),
    schema: () => described,
    check(value: unknown) {
      const fitted = fit(input, value)
      // an asynchronous schema is checked when the tool runs
      return fitted instanceof Promise || fitted.ok ? undefined : { path: '', why: sayMisfits(fitted.misfits) }
    },
  }
  return Object.freeze({
    name,
    description,
    input,
    ...(context && { context }),
    bind: ({ agent, context: given }: ToolRun): Tool => ({
      name,
      prompt: description,
      input: shape,
      safety: definition.safety ?? 'mutating',
      ...(definition.needsPermission !== true && { granted: true }),
      summary: (call) => JSON.stringify(call).slice(0, 200),
      async run(call, { toolUseId: toolCallId, signal, progress }) {
        const fitted: Fitted<unknown> = await orAborted(fit(input, call), signal)
        if (!fitted.ok) return failed(`${name}: the input does not fit: ${sayMisfits(fitted.misfits)}`)
        const known = await orAborted(contextFor(context, given), signal)
        if (!known.ok) return failed(`${name}: ${known.why}`)
        const scope = { context: known.context as never, agent, toolCallId, signal, progress }
        try {
          return resultOf(await orAborted(run(fitted.value as OutputOf<S>, scope), signal))
        } catch (cause) {
          return failed(errorOf(cause).message)
        }
      },
    }),
  })
}

export function checkToolName(by: string, name: string): void {
  if (!/^[A-Za-z][\w-]{0,63}$/.test(name) || name.startsWith('mcp__'))
    throw new TypeError(`${by}: a name is a letter and up to 63 letters, digits, _ or -, and does not begin with mcp__`)
}

type Known = { readonly ok: true; readonly context: Context<never> } | { readonly ok: false; readonly why: string }

/** The run's context as a tool declares it: checked, with the schema's own defaults. */
export async function contextFor(schema: Schema | undefined, given: Context<never>): Promise<Known> {
  if (!schema) return { ok: true, context: given }
  const fitted: Fitted<unknown> = await fit(schema, given.data)
  if (fitted.ok) return { ok: true, context: new Context(fitted.value as never) }
  return { ok: false, why: `the context does not fit: ${sayMisfits(fitted.misfits)}` }
}

/** What a function returned, as the model reads it. */
export function resultOf(value: unknown): ToolOutput {
  if (typeof value === 'string') return said(capped(value))
  return said(value === undefined ? 'done' : capped(JSON.stringify(value) ?? String(value)))
}
