/**
 * The types of an agent in code. They know one another (an agent has hooks, tools and handoffs, and each of these is given
 * the agent), so they share a file, below those that do the work.
 */
import type { ToolAnswer } from '../hooks/answers.ts'
import type { Handler } from '../hooks/handler.ts'
import type { PermissionMode } from '../hooks/plane.ts'
import type { Message } from '../providers/model.ts'
import type { ToolOutput } from '../tools/output.ts'
import type { Tool } from '../tools/tool.ts'
import type { Context, Variables } from './context.ts'
import type { OwnModel } from './model.ts'
import type { DeclaredFields, Fields, Transformed } from './output/fields.ts'
import type { OutputOf, Schema } from './output/schema.ts'

// biome-ignore lint/suspicious/noExplicitAny: a method is a hook or a transform, and is typed by its author
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
  readonly tools?: readonly (FunctionTool<unknown, ContextOf<NoInfer<Ctx>>> | string)[]
  /** Named hooks: they watch. */
  readonly hooks?: AgentHooks<ContextOf<Ctx>, RawOf<Output>, NoInfer<Method>>
  /** From `guard`, `defineHook` and `defineStepHook`: they govern, before the hooks of the settings. */
  readonly handlers?: readonly (Handler | Guard<ContextOf<NoInfer<Ctx>>>)[]
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
export type RawResultOf<Output, H> = H extends readonly []
  ? Output extends Schema
    ? OutputOf<Output>
    : unknown
  : unknown

/** What `defineAgent` returns. `ContextInput` is what `run` must be given, `Answer` and `Raw` what it resolves to. */
export interface Agent<ContextInput extends object = Variables, Answer = unknown, Raw = unknown> {
  readonly name: string
  readonly description: string
  readonly methods: Methods
  /** As it was defined. */
  readonly definition: AnyDefinition
  /** Handlers by hook, in order. */
  readonly hookTable: HookTable
  /** Whom it may hand over to. */
  readonly handoffs: readonly HandoffTo[]
  /** Never there; carries the types. */
  readonly types?: {
    readonly context: (input: ContextInput) => void
    readonly answer: Answer
    readonly raw: Raw
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

/** What a tool's function gets beside its input. */
export interface ToolScope<C extends object = Variables> {
  readonly context: Context<C>
  readonly agent: AnyAgent
  readonly toolCallId: string
  /** Aborted when the run is. */
  readonly signal: AbortSignal
  /** Reports progress to the listeners. */
  progress(text: string): void
}

/** A tool for agents. `Input` is what its schema gives; the context of an agent that has it must fit `Needs`. */
export interface FunctionTool<Input = unknown, Needs extends object = object> {
  readonly name: string
  readonly description: string
  /** The schema of its input, where it has one. */
  readonly input?: Schema
  /** The schema of the context that it needs, where it declares one. */
  readonly context?: Schema
  /** The tool as the loop knows it, for one run. */
  bind(run: ToolRun): Tool
  /** Never there; carries the types. */
  readonly types?: { readonly input: Input; readonly context: (context: Needs) => void }
}

/** The run that a tool is part of. */
export interface ToolRun {
  readonly agent: AnyAgent
  readonly context: Context<never>
  /** Runs another agent inside the call. */
  runAgent(agent: AnyAgent, input: string, call: { toolCallId: string; signal: AbortSignal }): Promise<ToolOutput>
}

/** The input of a guard. */
export interface GuardArgs<Input, C extends object> {
  /** As the tool would get it. */
  readonly input: Input
  readonly context: Context<C>
  readonly agent: AnyAgent
  readonly toolCallId: string
  readonly timestamp: Date
}

/** What `guard` returns: one of an agent's `handlers`. */
export interface Guard<Needs extends object = object> {
  /** The handler as the plane knows it, for one run. */
  bind(run: Pick<ToolRun, 'agent' | 'context'>): Handler
  /** Never there; carries the types. */
  readonly types?: { readonly context: (context: Needs) => void }
}

export type GuardAnswer = ToolAnswer | undefined

/** The context as a function sees it: without a schema any variable may be there. */
export type ContextFor<Needs extends object> = object extends Needs ? Variables : Needs

/** What each hook gets beside the standard three. Adding a hook is a line here, one in `hookFields`, and the place that fires it. */
export interface HookEvents<Raw = unknown> {
  /** The context is there and fits its schema. */
  onContextBuilt: object
  /** The first request is about to be sent to the model, as every step has left it. */
  onPromptGenerated: { readonly systemPrompt: string; readonly userPrompt: string }
  /** A reply was counted: one of the run's own, or one that a tool or a compaction asked for. */
  onTokensCounted: TokenCounts
  /** An answer does not fit, a field could not be reshaped, or the context is not as declared. */
  onValidationFailed: ValidationFailure
  /** The result is there, as the model gave it and as it was reshaped. */
  onResultReady: { readonly rawResult: Raw; readonly processedResult: Processed }
  /** The agent takes over: at the begin of a run, and after a handoff to it. */
  onStart: { readonly input: string }
  /** The agent has answered; reshaping comes next. */
  onEnd: { readonly output: Raw }
  /** The run has failed; what `run` rejects with. */
  onError: { readonly error: Error }
  /** A call was allowed by everyone and runs now. */
  onToolStart: ToolCall
  /** A call that ran is over; `error` is set where it failed. */
  onToolEnd: ToolCall & { readonly result: string; readonly error?: string; readonly durationMs: number }
  /** Another agent takes over. Fired on the one that hands over. */
  onHandoff: { readonly from: AnyAgent; readonly to: AnyAgent; readonly reason: string }
}

// biome-ignore lint/suspicious/noExplicitAny: its type is the transform's, which is not known yet where a hook is typed
export type Processed = any

export interface TokenCounts {
  /** The three input counts are disjoint; all four together are `totalTokens`. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly totalTokens: number
  /** US dollars; null where no price is known. */
  readonly estimatedCost: number | null
  readonly model: string
}

export type ValidationFailure = { readonly error: string } & (
  | {
      readonly errorType: 'context'
      readonly field: string
      readonly value: unknown
      readonly expectedType?: string
      readonly attempt?: undefined
    }
  | {
      readonly errorType: 'output'
      readonly field: string
      readonly value: unknown
      readonly expectedType?: string
      /** From 1. */
      readonly attempt: number
    }
  | {
      readonly errorType: 'transform'
      readonly field: string
      readonly value: unknown
      readonly expectedType?: string
      readonly attempt?: undefined
    }
)

export interface ToolCall {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly toolCallId: string
}

export type HookName = keyof HookEvents

/** What every hook gets. */
export interface StandardArgs<C extends object = Variables> {
  readonly context: Context<C>
  readonly agent: AnyAgent
  /** One moment for all handlers of a firing. */
  readonly timestamp: Date
}

export type HookArgs<N extends HookName, C extends object = Variables, Raw = unknown> = StandardArgs<C> &
  Readonly<HookEvents<Raw>[N]>

/** Takes one object. What it returns is awaited and changes nothing. */
export type HookFunction<N extends HookName, C extends object = Variables, Raw = unknown> = (
  args: HookArgs<N, C, Raw>,
) => unknown

/** A function, the name of one of the agent's methods, or several of them. */
export type AgentHooks<C extends object = Variables, Raw = unknown, Method extends string = string> = {
  readonly [N in HookName]?: HookFunction<N, C, Raw> | Method | readonly (HookFunction<N, C, Raw> | Method)[]
}

export type GlobalHooks = {
  readonly [N in HookName]?: HookFunction<N> | readonly HookFunction<N>[]
}

/** A hook, whatever it is for. */
export type AnyHook = (args: never) => unknown
/** Handlers by hook, in the order of registration. */
export type HookTable = Partial<Record<HookName, readonly { readonly name: string; readonly run: AnyHook }[]>>

/** What the next agent would get. */
export interface Handover {
  readonly from: AnyAgent
  readonly to: AnyAgent
  /** In the words of the agent that hands over. */
  readonly reason: string
  /** What was said and done, without the call that hands over. */
  readonly messages: readonly Message[]
  readonly context: Context
}

/** What it gets instead. `input` takes the place of the messages. */
export interface Filtered {
  readonly messages?: readonly Message[]
  readonly input?: string
  readonly context?: Context
}

export interface HandoffOptions {
  /** When to hand over, for the model; by default the agent's own description. */
  readonly description?: string
  readonly filter?: (handover: Handover) => Filtered | undefined | Promise<Filtered | undefined>
}

export interface Handoff<O = unknown> extends HandoffOptions {
  readonly to: Agent<never, O>
}
