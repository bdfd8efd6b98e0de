/** The words of the dispatcher: what a module is given, and what it may answer. */

export const eventNames = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PreCompact',
  'Stop',
  'SubagentStart',
  'SubagentStop',
] as const
export type EventName = (typeof eventNames)[number]

export type Decision = 'allow' | 'ask' | 'deny'
export type Phase = 'UNINITIALIZED' | 'PLANNING' | 'EXECUTING' | 'COMPLETE' | 'BLOCKED'
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type Json = Record<string, unknown>

export interface Ids {
  /** Eight lowercase hex digits. */
  readonly sessionId: string
  /** `w` and three digits: the piece of work in hand. */
  readonly workId: string
  /** `u00` is the main agent, `a01`… its subagents. */
  readonly agentId: string
  readonly turnId: number
  /** `<event>-<turn>-<ms>`; two processes may share one, so records carry the pid too. */
  readonly hookRunId: string
}

/** What the host said, in one spelling for all hosts. What a host leaves out is undefined. */
export interface HostEvent {
  readonly name: EventName
  readonly toolName?: string
  /** The tool under VS Code's name, whichever host is asking: `Bash` and `bash` are `run_in_terminal`. */
  readonly tool?: string
  readonly toolInput?: Json
  readonly toolOutput?: unknown
  readonly toolError?: string
  readonly toolUseId?: string
  readonly prompt?: string
  readonly transcript_path?: string
  readonly subagentId?: string
  readonly subagentType?: string
  readonly subagentPrompt?: string
  readonly subagentResult?: string
  readonly compactSummary?: string
  readonly customInstructions?: string
  readonly stopHookActive?: boolean
  readonly source?: string
  readonly trigger?: string
  readonly cwd?: string
  readonly timestamp?: string
  readonly model?: string
  readonly permissionMode?: string
  readonly hostSessionId?: string
  /** The files and folders the call names, from the repository's root where they lie in it. */
  readonly paths: readonly string[]
}

export interface Neo4jCapability {
  readonly enabled: boolean
  readonly reachable: boolean
  readonly schemaVersion?: string
  readonly lastCheckTs?: number
}

export interface Subagent {
  readonly aid: string
  readonly type?: string
  readonly startedTs?: number
  readonly stoppedTs?: number
}

export interface CoreState {
  readonly sessionId: string
  readonly workId: string
  readonly lastTurnId: number
  readonly phase: Phase
  /** The phase to go back to; there only while `phase` is BLOCKED. */
  readonly prevPhase?: Phase
  /** How much of events.jsonl this snapshot has taken in. */
  readonly lastEventOffset?: number
  readonly hostSessionId?: string
  readonly createdTs?: number
  readonly lastActiveTs?: number
}

export interface PlanState {
  readonly currentPath?: string
  readonly mtime?: number
  readonly size?: number
  readonly hash?: string
  readonly status?: 'none' | 'proposed' | 'accepted' | 'rejected' | 'stale'
  readonly warnedMissing?: string
}

export interface State {
  readonly core: CoreState
  readonly plan?: PlanState
  readonly cap?: { readonly neo4j?: Neo4jCapability }
  readonly agents?: Readonly<Record<string, Subagent>>
  readonly rlm?: Json
  readonly memory?: Json
  readonly [extra: string]: unknown
}

export interface EventRecord {
  readonly kind: string
  readonly toolName?: string
  readonly decision?: Decision
  readonly reason?: string
  readonly phase?: Phase
  readonly paths?: readonly string[]
  readonly data?: Json
  readonly error?: { readonly module: string; readonly message: string; readonly stackHash?: string }
  readonly ms?: number
}

/** A line of events.jsonl. */
export interface LoggedEvent extends EventRecord {
  readonly ts: number
  readonly event: EventName
  readonly producer: string
  readonly hookRunId?: string
  readonly turnId?: number
  readonly workId?: string
}

export interface ArtifactRecord {
  readonly kind: string
  /** From the session's root; must exist. */
  readonly ref: string
  readonly hash?: string
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly dependsOn?: readonly string[]
  readonly agentId?: string
  readonly supersedes?: string
}

export interface ContextItem {
  readonly key: string
  readonly value: string
}

/** What a module answers. Every field may be left out; `undefined` as a whole means "nothing to say". */
export interface HookAction {
  /** PreToolUse only. */
  readonly decision?: Decision
  /** Why, for ask and deny. */
  readonly denyReason?: string
  /** Stamps on the tool's input; `_hook…` keys. Only the manifest's owner (session) is heard. */
  readonly inputMetadata?: Json
  /** Keys of the tool's input to replace. Only the manifest's owner (planGraph-exec) is heard. */
  readonly updatedInput?: Json
  readonly additionalContext?: readonly ContextItem[]
  /** JSON merge-patch on the state: pointers only, no counters, no arrays. */
  readonly statePatch?: Json
  readonly emitEvents?: readonly EventRecord[]
  readonly registerArtifacts?: readonly ArtifactRecord[]
  readonly warnings?: readonly string[]
  readonly metrics?: Json
  /** Stop, SubagentStop, PostToolUse, UserPromptSubmit: hold it up, and say why. */
  readonly block?: { readonly reason: string }
  /** Ends the whole run of the agent. */
  readonly stop?: { readonly reason: string }
}

export interface Paths {
  readonly repoRoot: string
  readonly hooksRoot: string
  readonly workRoot: string
  readonly sessionRoot: string
  readonly stateFile: string
  readonly eventsFile: string
  readonly registryFile: string
  readonly promptsFile: string
  readonly configFile: string
  readonly policyFile: string
  readonly followupRulesFile: string
  readonly manifestFile: string
  readonly schemaDir: string
  readonly traceFile: string
  featureRoot(slug: string): string
  featureLogs(slug: string): string
  featureOutput(slug: string): string
  /** From the session's root: what artifact records hold. */
  relRef(absPath: string): string
  /** From the repository's root with forward slashes; a path outside it stays absolute. */
  repoRelative(absPath: string): string
}

/** Writing for modules: kept below the session's root, whatever the path says. */
export interface SessionFiles {
  /** Adds one JSON line to a file when the event is committed. */
  append(path: string, record: Json): void
  /** Replaces a file as a whole. False when it could not be written or lies outside the session. */
  replace(path: string, text: string): boolean
  /** Makes a folder. False when it could not be made or lies outside the session. */
  folder(path: string): boolean
}

export interface Context {
  readonly ids: Ids
  readonly event: HostEvent
  readonly paths: Paths
  /** Read only: a change is asked for with `statePatch`. */
  readonly state: State
  readonly isNewSession: boolean
  /** This module's part of config.json. */
  readonly config: Json
  /** This module's folders in the session. */
  readonly feature: { readonly root: string; readonly logs: string; readonly output: string }
  readonly cap: { readonly neo4j: Neo4jCapability }
  readonly timers: { readonly startMs: number; readonly budgetMs: number; elapsed(): number }
  readonly manifest: { readonly enforcePhases: boolean }
  /** Events of this run that are not yet in the log. */
  readonly pendingEvents: readonly LoggedEvent[]
  readonly files: SessionFiles
  /** Goes to this module's logs/debug.log. */
  log(level: LogLevel, message: string, data?: unknown): void
}

export interface Outcome {
  readonly decision: Decision
  readonly decidedBy: string
}

export interface HookModule {
  /** As in the manifest. */
  readonly name: string
  readonly supports: ReadonlySet<EventName>
  /** Lower runs first. */
  readonly priority: number
  /** False: not asked on PreToolUse. */
  readonly hotPathSafe: boolean
  /** True: its failure denies the call. */
  readonly critical: boolean
  handle(eventName: EventName, ctx: Context): HookAction | undefined | Promise<HookAction | undefined>
  /** Called once with what was decided on PreToolUse; only its patch and events are taken. Must be quick. */
  settled?(ctx: Context, outcome: Outcome): HookAction | undefined
}
