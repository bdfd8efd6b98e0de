/** What the operator, the SDK or an editor asks for when a session starts. */
import type { Handler } from '../../hooks/handler.ts'
import type { PermissionMode } from '../../hooks/plane.ts'
import type { ServerConfig } from '../../mcp/config.ts'
import type { Plugin } from '../../plugins/read-plugin.ts'
import type { ModelUsage } from '../../providers/model.ts'
import type { Effort } from '../../providers/models/models.ts'
import type { SettingsRequest } from '../../store/settings/settings.ts'
import type { AgentEvent, User } from '../events.ts'
import type { AgentKind } from '../subagents/agent-definitions.ts'
import type { Session } from './session.ts'

export interface StartOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly user: User
  /** Somebody sits at a terminal: a connection of a sandboxed command waits for their answer. */
  readonly promptsForHosts?: boolean
  on(event: AgentEvent): void
  onUsage?(model: string, usage: ModelUsage, costUsd: number | null): void
  /** The database; by default the one that the environment names. */
  readonly db?: string
  readonly model?: string
  readonly effort?: Effort
  readonly mode?: PermissionMode
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly ask?: readonly string[]
  readonly tools?: readonly string[]
  readonly addDirs?: readonly string[]
  readonly systemPrompt?: string
  readonly appendSystemPrompt?: string
  readonly withoutSkills?: boolean
  /** The skills that the model is offered; all by default. */
  readonly onlySkills?: readonly string[]
  readonly settings?: NonNullable<SettingsRequest['flags']>
  readonly agents?: readonly AgentKind[]
  readonly agent?: string
  readonly mcpConfig?: readonly string[]
  readonly strictMcp?: boolean
  /** MCP servers that are not declared in any file or flag, such as those in the process that drives ona. */
  readonly servers?: readonly ServerConfig[]
  /** Plugins whose commands, skills, agents, hooks and servers take part. */
  readonly plugins?: readonly Plugin[]
  /** Servers may be added while the session runs. */
  readonly moreServers?: boolean
  /** No MCP server is started. */
  readonly withoutMcp?: boolean
  /** Shows a page to the user, to sign in to a server. */
  openUrl?(url: string): void | Promise<void>
  readonly sessionId?: string
  /** An id or name to go on with; true for the newest of this folder. */
  readonly resume?: string | true
  readonly fork?: boolean
  readonly name?: string
  readonly maxRequests?: number
  readonly maxBudgetUsd?: number
  readonly bare?: boolean
  readonly trust?: boolean
  readonly setup?: 'init' | 'maintenance'
  /** Works in a git worktree of this name; "" for a new one. */
  readonly worktree?: string
  /** Hooks are notified that the agent waits this long after a turn; without it they are not. */
  readonly idleNoticeMs?: number
  /** Asked when the model is overloaded, in this order. */
  readonly fallbackModels?: readonly string[]
  /** In-process handlers: our own, and those of the SDK. */
  readonly handlers?: readonly Handler[]
  /** Ends what the session has under way, from its first hook on. */
  readonly signal?: AbortSignal
  /** Called when all is over but the database is still open. */
  atEnd?(session: Session): Promise<void>
  /** Without any credential the rehearsal model is used: at a terminal, and where the SDK was given its lines. */
  readonly rehearsalByDefault?: boolean
  /** Starts the built-in model's server when it is the one chosen. */
  startRehearsal?(): Promise<{ readonly baseUrl: string; readonly model: string; close(): void }>
}

export interface StartProblem {
  readonly problem: string
  /** What was asked for makes no sense, as against: it did not work. */
  readonly usage?: boolean
  /** No credential, or none that can be read. */
  readonly error?: 'authentication_failed'
  /** No session has the id or the name that was asked for. */
  readonly unknownSession?: boolean
}
