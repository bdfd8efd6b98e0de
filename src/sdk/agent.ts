/** An agent in code: what it is told, what it may use, who watches it, and what its answer becomes. */
import type { Handler } from '../hooks/handler.ts'
import type { PermissionMode } from '../hooks/plane.ts'
import { checkDefinition, checkFields } from './check-definition.ts'
import type { Context, Variables } from './context.ts'
import type { DeclaredFields, Fields, Transformed } from './fields.ts'
import type { Handoff } from './handoff.ts'
import { type AgentHooks, type HookTable, readHooks } from './hooks.ts'
import type { OwnModel } from './model.ts'
import type { InputOf, OutputOf, Schema } from './schema.ts'
import type { FunctionTool } from './tool.ts'

// biome-ignore lint/suspicious/noExplicitAny: a method is a hook or a transform, and is typed by whoever writes it
type AnyMethod = (...args: any[]) => unknown
export type Methods = Readonly<Record<string, AnyMethod>>

export interface AgentDefinition<
  Output extends Schema | undefined,
  Ctx extends Schema | undefined,
  M,
  Method extends string,
  F,
  From,
  Inner,
  H extends readonly HandoffTo[],
> {
  /** Letters, digits, `_` and `-`; hooks and rules know the agent by it. */
  readonly name: string
  /** For those who may hand over to it. */
  readonly description?: string
  /** An id or name as `ona --model` takes it, or a model of your own. By default whatever there are credentials for. */
  readonly model?: string | OwnModel
  /** The whole system prompt; hooks of SessionStart may add to it. */
  readonly instructions:
    | string
    | ((args: { readonly context: Context<ContextOf<Ctx>>; readonly agent: AnyAgent }) => string | Promise<string>)
  /** What the context must be; without it any. */
  readonly context?: Ctx
  /** What the answer must be. An answer that does not fit goes back to the model with the error. */
  readonly output?: Output
  /** The output as JSON Schema, where the library cannot say it itself (valibot). */
  readonly outputJsonSchema?: Readonly<Record<string, unknown>>
  /** How often a wrong answer goes back; 2 unless said. */
  readonly maxOutputRetries?: number
  /** Functions, built-in tools by name, and MCP tools by name: `mcp__server__tool`, or `mcp__server` for all of one server. */
  readonly tools?: readonly (FunctionTool | string)[]
  /** Named hooks: they watch. */
  readonly hooks?: AgentHooks<ContextOf<Ctx>, RawOf<Output>, NoInfer<Method>>
  /** Handlers of the plane, from `defineHook` and `defineStepHook`: they govern, before the hooks of the settings. */
  readonly handlers?: readonly Handler[]
  readonly resultTransform?: F & DeclaredFields<RawOf<Output>, ContextOf<Ctx>, NoInfer<Method>, From, Inner>
  /** Called by hooks and transforms that name them, and by one another: `this.other(…)`. */
  readonly methods?: M & Readonly<Record<Method, AnyMethod>> & ThisType<Unknown>
  /** Whom it may hand over to. A function where two agents know each other. */
  readonly handoffs?: H | (() => H)
  /** Rules for this agent beside those of the settings. */
  readonly permissions?: AgentPermissions
  /** Requests to the model in one turn; 50 unless said. */
  readonly maxRequests?: number
  /** Tokens of one reply; the model's own limit unless said. */
  readonly maxTokens?: number
  /** How long a hook is waited for; 5,000 unless said. */
  readonly hookTimeoutMs?: number
}

export interface AgentPermissions {
  readonly allow?: readonly string[]
  readonly ask?: readonly string[]
  readonly deny?: readonly string[]
  readonly mode?: PermissionMode
}

export type HandoffTo<O = unknown> = Agent<never, O> | Handoff<O>

// biome-ignore lint/suspicious/noExplicitAny: without a schema an answer is words, or whatever JSON the model gave
type Unknown = any
export type RawOf<Output> = Output extends Schema ? OutputOf<Output> : Unknown
export type ContextOf<Ctx> = Ctx extends Schema ? OutputOf<Ctx> & object : Variables

/** What `run` gives for an agent: its fields where it reshapes, what its schema says, else text; or the answer of one it hands over to. */
export type AnswerOf<Output, M, F, H> =
  | ([keyof F] extends [never] ? (Output extends Schema ? OutputOf<Output> : string) : Transformed<F, M, RawOf<Output>>)
  | (H extends readonly (infer To)[] ? AnswerOfHandoff<To> : never)

type AnswerOfHandoff<To> = To extends Agent<never, infer O> ? O : To extends Handoff<infer O> ? O : never

/** As the model gives it; of an agent that may hand over, nobody knows whose it will be. */
type RawResultOf<Output, H> = H extends readonly [] ? (Output extends Schema ? OutputOf<Output> : unknown) : unknown

/** `ContextInput` is what `run` must be given, `Answer` and `Raw` what it gives. */
export class Agent<ContextInput extends object = Variables, Answer = unknown, Raw = unknown> {
  readonly name: string
  readonly description: string
  readonly methods: Methods
  /** As it was defined. */
  readonly definition: AnyDefinition
  /** Handlers by hook, in order. */
  readonly hookTable: HookTable
  /** Never there; carries the types. */
  declare readonly types?: {
    readonly context: (input: ContextInput) => void
    readonly answer: Answer
    readonly raw: Raw
  }

  /** Use `defineAgent`. */
  constructor(definition: AnyDefinition) {
    const { name, description = '', methods = {}, hooks = {} } = definition
    const by = `defineAgent(${JSON.stringify(name)})`
    checkDefinition(by, definition)
    this.name = name
    this.description = description
    this.methods = Object.freeze({ ...methods })
    this.definition = Object.freeze({ ...definition })
    this.hookTable = readHooks(by, hooks, this.methods)
    checkFields(`${by}: resultTransform`, definition.resultTransform ?? {}, this.methods)
    if (typeof definition.handoffs !== 'function') checkHandoffs(by, definition.handoffs)
    Object.freeze(this)
  }

  /** Whom it may hand over to. */
  get handoffs(): readonly HandoffTo[] {
    const { handoffs = [] } = this.definition
    return typeof handoffs === 'function' ? checkHandoffs(`agent "${this.name}"`, handoffs()) : handoffs
  }
}

export type AnyAgent = Agent<never, unknown>
export type AnyDefinition = AgentDefinition<
  Schema | undefined,
  undefined,
  Methods,
  string,
  Fields,
  Fields,
  Fields,
  readonly HandoffTo[]
>

export function defineAgent<
  const Output extends Schema | undefined = undefined,
  const Ctx extends Schema | undefined = undefined,
  M = Record<never, never>,
  Method extends string = never,
  F = Record<never, never>,
  From = Record<never, never>,
  Inner = Record<never, never>,
  const H extends readonly HandoffTo[] = readonly [],
>(
  definition: AgentDefinition<Output, Ctx, M, Method, F, From, Inner, H>,
): Agent<Ctx extends Schema ? InputOf<Ctx> & object : Variables, AnswerOf<Output, M, F, H>, RawResultOf<Output, H>> {
  return new Agent(definition as unknown as AnyDefinition)
}

function checkHandoffs(by: string, given: readonly HandoffTo[] = []): readonly HandoffTo[] {
  for (const each of given)
    if (!(each instanceof Agent) && !(each?.to instanceof Agent))
      throw new TypeError(`${by}: handoffs must be agents, or what handoff(agent) gives`)
  return given
}
