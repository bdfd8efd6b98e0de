/** The plane: everyone who has a say, in one total order, asked one after another, and their answers made one. */
import type { EventFields, EventName } from './events.ts'
import type { Handler, Wrap } from './handler.ts'
import type { Control, StepName, Steps } from './steps.ts'
import type { PermissionUpdate } from './wire/permission-update.ts'

export type { PermissionMode, PermissionUpdate } from './wire/permission-update.ts'

export interface Plane {
  /**
   * Asks at a step: the handlers of the step and those of the event raised there. The step is changed in place; what
   * handlers of the event add for the model is put on the step where it has a place for it, else into the answer.
   */
  ask<S extends StepName>(name: S, step: Steps[S], scope: Scope, event?: Raised): Promise<Answer>
  /** Raises an event that belongs to no step. */
  raise<E extends EventName>(name: E, fields: EventFields[E], scope: Scope): Promise<Answer>
  /** Whether anyone would be asked; where not, nothing needs to be built. */
  listens(...names: (StepName | EventName)[]): boolean
  /** Starts ahead what the hooks of a tool call need. For when the model has been asked, and nobody waits for this process. */
  expectCalls(scope: Scope): void
  /** The same plane with handlers that come after all others of their kind; what was asked once is not asked again. */
  with(handlers: readonly Handler[]): Plane
  /** Ends the hooks that nobody waits for; their rows are recorded when it resolves. */
  close(): Promise<void>
}

/** The event that a step raises. For PreToolUse the plane keeps `tool_input` in step with `args`. */
export type Raised = { [E in EventName]: { readonly name: E; readonly fields: EventFields[E] } }[EventName] & {
  /** The fields that Claude Code has in another form; built when a hook of that profile runs. */
  claude?(): Record<string, unknown>
}

/** Who asks, and where. */
export interface Scope {
  readonly sessionId: string
  readonly conversationId: string
  readonly dbPath: string
  readonly cwd: string
  readonly projectDir?: string
  readonly permissionMode?: string
  readonly agentId?: string
  readonly agentType?: string
  readonly toolUseId?: string
  readonly signal?: AbortSignal
  /** Every command hook runs in this sandbox, whether or not it asks for one. */
  readonly wrap?: Wrap
  /** When it happened, where that is not now: hooks in TypeScript receive this time. */
  readonly at?: Date
  /** Takes one row for every handler that was asked or passed over. */
  record(invocation: Invocation): void
}

/** What a handler did, as the audit keeps it. */
export interface Invocation {
  readonly event: StepName | EventName
  readonly ordinal: number
  readonly matcher: string
  /** The command, or `function:name`, `prompt:…`, `http:…`, `builtin:…`. */
  readonly command: string
  readonly toolUseId: string | null
  readonly toolName: string | null
  readonly inputJson: string
  readonly exitCode: number | null
  readonly stdout: string | null
  readonly stderr: string | null
  readonly startedAt: string
  readonly completedAt: string | null
  readonly skippedReason: string | null
}

export type Decision = 'none' | 'allow' | 'ask' | 'deny'

/** What became of a round: all answers as one. */
export interface Answer {
  readonly control: Control
  readonly decision: Decision
  /** Why it was denied, blocked or asked; lines by ordinal where several blocked. */
  readonly reason: string
  /** Text for the model that the step itself has no place for. */
  readonly context: readonly string[]
  /** Text for the user (systemMessage). */
  readonly messages: readonly string[]
  /** `continue: false`: the turn ends here, for this reason. */
  readonly stop: string | null
  readonly suppressOutput: boolean
  /** PermissionRequest: rules and modes to change; and whether a denial also interrupts the turn. */
  readonly permissionUpdates: readonly PermissionUpdate[]
  readonly interrupt: boolean
  /** PermissionDenied: the model may try again. */
  readonly retry: boolean
  readonly initialUserMessage: string | null
  readonly watchPaths: readonly string[]
  readonly worktreePath: string | null
  readonly elicitation: { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, unknown> } | null
  /** Replaces the tool's input; undefined where nobody did, or where it has been written to the step's `args`. */
  readonly updatedInput: Record<string, unknown> | undefined
  /** PostToolUse: replaces an MCP tool's output; undefined where nobody did. */
  readonly updatedToolOutput: unknown
  /** The same for any tool, in the form of its `tool_response` in Claude Code. */
  readonly updatedClaudeOutput: unknown
  /** For the screen: who changed or stopped something, and who failed. */
  readonly notes: readonly HookNote[]
}

/** The answer where nobody was asked. */
export const quiet: Answer = {
  control: { kind: 'proceed' },
  decision: 'none',
  reason: '',
  context: [],
  messages: [],
  stop: null,
  suppressOutput: false,
  permissionUpdates: [],
  interrupt: false,
  retry: false,
  initialUserMessage: null,
  watchPaths: [],
  worktreePath: null,
  elicitation: null,
  updatedInput: undefined,
  updatedToolOutput: undefined,
  updatedClaudeOutput: undefined,
  notes: [],
}

export interface HookNote {
  readonly hook: string
  readonly event: StepName | EventName
  readonly effect: 'denied' | 'asked' | 'blocked' | 'changed' | 'stopped' | 'continued' | 'failed' | 'warned'
  readonly reason: string
  /** A guard failed, and what it guards went on unchecked. Never passed over in silence. */
  readonly failedOpen?: true
}
