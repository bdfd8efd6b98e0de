/** What tools need of the agent that runs them. The agent implements it; tools know nothing else of the agent. */
import type { PermissionMode } from '../hooks/plane.ts'
import type { JsonObject } from '../hooks/shape.ts'
import type { Todo, ToolDefinitionLike, ToolOutput } from './output.ts'

export interface ToolHost {
  /** Moves the session's working directory (Bash `cd`); false when it lies outside the working directories. */
  moveTo(directory: string): Promise<boolean>
  /** What Read has shown the model, so that Edit and Write can tell stale knowledge. */
  readonly files: FileMemory
  /** Keeps a file's content as it is before it is changed, so that it can be rewound. Must be called before the write. */
  checkpoint(path: string): void
  /** False for a file that a rule keeps from being read: a search of its folder leaves it out. */
  mayShow(path: string): boolean
  readonly tasks: BackgroundTasks
  /** Asks the user; undefined when there is no user or no answer. */
  askUser(questions: readonly Question[]): Promise<Record<string, string> | undefined>
  setTodos(todos: readonly Todo[]): void
  todos(): readonly Todo[]
  runAgent(request: AgentRequest): Promise<ToolOutput>
  agentTypes(): readonly { readonly name: string; readonly description: string }[]
  skills: Skills
  enterPlanMode(): Promise<ToolOutput>
  /** `commands`: patterns of Bash commands that carrying it out will need. */
  exitPlanMode(plan: string, commands: readonly string[]): Promise<ToolOutput>
  readonly mcp: McpSide | undefined
  /** Tools that the model has not seen yet (ToolSearch). */
  deferredTools(): readonly ToolDefinitionLike[]
  /** Skills and agents that the model has not seen described (ToolSearch). */
  unlisted(): readonly Listing[]
  /** Makes tools part of the next request; gives those for which there is room. */
  revealTools(names: readonly string[]): readonly string[]
  /** Asks a small question of the session's model, without tools (WebFetch's prompt). */
  askModel(prompt: string, signal: AbortSignal): Promise<{ ok: boolean; text: string }>
  /** The provider's own web search; undefined where it has none. */
  searchWeb(
    query: string,
    domains: { readonly allowed: readonly string[]; readonly blocked: readonly string[] },
    signal: AbortSignal,
  ): Promise<WebSearch | undefined>
  /** Hosts and addresses that a rule names and WebFetch may therefore reach although they are private. */
  mayReachPrivate(host: string): boolean
  /** Shows the user a short message at once (Brief). */
  brief(message: string): void
}

export interface WebSearch {
  readonly found: readonly { readonly title: string; readonly url: string; readonly excerpt: string }[]
  /** What the provider's model says about it. */
  readonly text: string
  /** Set when nothing could be found out. */
  readonly problem?: string
}

export interface FileMemory {
  note(path: string, seen: SeenFile): void
  get(path: string): SeenFile | undefined
}

export interface SeenFile {
  readonly mtimeMs: number
  readonly size: number
  /** Whether all of it was shown. */
  readonly whole: boolean
}

export interface BackgroundTasks {
  /** Takes over a running child; its output is kept, bounded, until asked for. */
  start(task: {
    readonly kind: 'bash' | 'agent'
    readonly about: string
    run(signal: AbortSignal, write: (text: string) => void): Promise<{ exitCode: number | null; note?: string }>
  }): string
  /** New output since the last call, and the state; waits up to `waitMs` for its end. */
  output(id: string, waitMs: number, signal: AbortSignal): Promise<TaskState | undefined>
  stop(id: string): Promise<TaskState | undefined>
  /** While a command runs in the foreground: `move` is called when the user sends it to the background. Returns the end of it. */
  movable(move: () => void): () => void
}

export interface TaskState {
  readonly id: string
  readonly kind: 'bash' | 'agent'
  readonly about: string
  readonly status: 'running' | 'completed' | 'failed' | 'killed'
  readonly exitCode: number | null
  readonly output: string
}

export interface Question {
  readonly question: string
  readonly header: string
  readonly options: readonly { readonly label: string; readonly description: string }[]
  readonly multiSelect: boolean
  /** One of the options it must be: no free text. */
  readonly closed?: true
}

export interface AgentRequest {
  readonly description: string
  readonly prompt: string
  readonly type: string
  readonly model?: string
  readonly isolation?: 'worktree'
  readonly mode?: PermissionMode
  readonly background: boolean
  readonly toolUseId: string
  readonly signal: AbortSignal
  progress(text: string): void
}

export interface Skills {
  list(): readonly SkillListing[]
  /** The skill's text with its arguments filled in, or why it cannot be had. `toolUseId`: of the model's call, where it asks for it. */
  load(name: string, args: string, toolUseId?: string): Promise<LoadedSkill>
}

/** What the Skill and Agent tools take by name. */
export interface Listing {
  readonly kind: 'skill' | 'agent'
  readonly name: string
  readonly description: string
}

/** `forked`: the text is what a sub-agent answered, not the skill's own. `waits`: the sub-agent waits for an approval. */
export type LoadedSkill =
  | { readonly ok: true; readonly text: string; readonly forked?: true }
  | { readonly ok: false; readonly why: string; readonly waits?: ToolOutput['waits'] }

export interface SkillListing {
  readonly name: string
  readonly description: string
  readonly argumentHint?: string
  /** False: hidden from the model, which may not load it. */
  readonly forModel?: boolean
  /** False: it is no slash command. */
  readonly forUser?: boolean
}

export interface McpSide {
  listResources(server?: string): Promise<ToolOutput>
  readResource(server: string, uri: string, signal: AbortSignal): Promise<ToolOutput>
  callTool(name: string, input: JsonObject, signal: AbortSignal, progress: (text: string) => void): Promise<ToolOutput>
}
