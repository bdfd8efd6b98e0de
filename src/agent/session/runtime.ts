/** What the sessions of one process share: taken once at start and held. */
import type { EventFields, EventName } from '../../hooks/events.ts'
import type { Handler } from '../../hooks/handler.ts'
import type { Answer, Plane, Scope } from '../../hooks/plane.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import type { ServerConfig } from '../../mcp/config.ts'
import type { McpHub } from '../../mcp/hub.ts'
import type { Plugin } from '../../plugins/read-plugin.ts'
import type { ModelRequest, ModelUsage, Provider } from '../../providers/model.ts'
import type { Effort } from '../../providers/models/models.ts'
import type { Price, Prices, Thinking } from '../../providers/models/spec.ts'
import type { Fence } from '../../sandbox/fence.ts'
import type { Db } from '../../store/open.ts'
import type { Settings } from '../../store/settings/settings-shape.ts'
import type { McpSide } from '../../tools/host.ts'
import type { ToolOutput } from '../../tools/output.ts'
import type { Tool } from '../../tools/tool.ts'
import type { SkillCatalogue } from '../context/skill-catalogue.ts'
import type { AgentEvent, User } from '../events.ts'
import type { AgentKind } from '../subagents/agent-definitions.ts'
import type { Tasks } from '../subagents/background.ts'

export interface Runtime {
  readonly db: Db
  /** The snapshot that this process took; what others import later does not reach it. */
  readonly settings: Settings
  readonly plane: Plane
  readonly user: User
  readonly env: NodeJS.ProcessEnv
  /** For tools: the user's own PATH, none of our secrets. */
  readonly childEnv: NodeJS.ProcessEnv
  readonly home: string
  /** The folder whose settings are in force: rules stay anchored to it in worktrees. */
  readonly startDir?: string
  /** Where Bash commands run, when the settings enable a sandbox; made when it is first needed. */
  sandbox?(): Promise<Fence>
  /** The same for the scripts of test cases, which are sandboxed wherever that is possible. */
  testSandbox?(): Promise<Fence>
  readonly tasks?: Tasks
  /** Shell text that sets the variables which hooks have exported in a session. */
  readonly hookVariables?: (sessionId: string) => string
  readonly mcp?: McpHost
  readonly skills: SkillCatalogue
  readonly agents: readonly AgentKind[]
  readonly trusted: boolean
  readonly bare: boolean
  /** `--setting-sources`: also instructions, skills and agents are read from these places only. All by default. */
  readonly sources?: readonly string[]
  readonly plugins?: readonly Plugin[]
  /** The hooks of settings and plugins in force, as they were read at the start. */
  readonly handlers?: readonly Handler[]
  /** Added after our own system prompt. */
  readonly appendSystemPrompt?: string
  /** Tools that the model does not see and cannot call. */
  readonly withoutTools: readonly string[]
  /** What this run may cost, sub-agents included. */
  readonly budget?: { readonly usd: number; spent: number }
  /** What `/effort` changes, for all sessions of the process. */
  readonly reasoning: { effort?: Effort }
  /** Asked in this order when the model is overloaded. */
  readonly fallbackModels?: readonly string[]
  emit(event: AgentEvent): void
  /** Awaited where the thing has just happened. Whoever watches has no say in it, and must not throw. */
  observe?(what: Observed): Promise<void>
  /** US dollars a million tokens by wire model; before our own table. */
  readonly prices?: Prices
  spent(model: string, usage: ModelUsage, costUsd: number | null): void
  /** Watches paths that hooks asked for. */
  watch?(paths: readonly string[]): void
  /** Starts further MCP servers, for one of its sessions. */
  openServers?(servers: readonly ServerConfig[], session: () => ServerOwner | undefined): McpHub | undefined
  modelFor(name: string): Promise<ActiveModel | ModelProblem>
}

/** `request`: is sent to the model next. `tool-start`: everyone has agreed. `tool-end`: its rows are written. */
export type Observed =
  | { readonly type: 'request'; readonly request: ModelRequest }
  | { readonly type: 'reply' }
  | ({ readonly type: 'tool-start' } & ObservedCall)
  | ({ readonly type: 'tool-end'; readonly output: ToolOutput; readonly ms: number } & ObservedCall)

interface ObservedCall {
  readonly id: string
  readonly tool: string
  readonly input: JsonObject
}

/** The session that MCP servers ask questions of. */
export interface ServerOwner {
  readonly runtime: { readonly plane: Plane }
  readonly workingDirectories: readonly string[]
  scope(toolUseId: string | undefined, signal: AbortSignal): Scope
  raise<E extends EventName>(name: E, fields: () => EventFields[E], signal: AbortSignal): Promise<Answer>
}

/** What a session needs of an MCP hub; the rest of it is for the terminal. */
export interface McpHost
  extends McpSide,
    Partial<
      Pick<
        McpHub,
        | 'ready'
        | 'connect'
        | 'instructions'
        | 'prompts'
        | 'prompt'
        | 'signIn'
        | 'reconnect'
        | 'onChange'
        | 'enable'
        | 'setServers'
      >
    > {
  /** `alwaysLoad`: always sent to the model, however many there are. */
  tools(): readonly (Tool & { readonly alwaysLoad?: boolean })[]
  status(): readonly { readonly name: string; readonly status: string; readonly problem?: string }[]
}

export interface ModelProblem {
  readonly problem: string
  readonly error?: 'authentication_failed'
}

export interface ActiveModel {
  readonly provider: Provider
  readonly providerName: 'claude_code_subscription' | 'openai_compatible' | 'lm_studio_local'
  readonly modelId: string
  readonly wireModel: string
  /** For the user: `Claude Sonnet 4.5`. */
  readonly displayName?: string
  /** Tokens. */
  readonly window: number
  readonly maxOutput: number
  readonly thinking?: Thinking
  /** The effort levels that it takes. */
  readonly efforts?: readonly Effort[]
  /** Undefined: unknown. */
  readonly price?: Price
  /** `opus`, `sonnet`, `haiku`, where the family was chosen and not one model. */
  readonly alias?: string
  /** Why this one: `ANTHROPIC_API_KEY is set`. */
  readonly why: string
  /** The built-in scripted model. */
  readonly rehearsal: boolean
}
