/** A session: one transcript being written, and all that a turn needs at hand. */
import type { EventFields, EventName } from '../../hooks/events.ts'
import type { Wrap } from '../../hooks/handler.ts'
import { type Answer, type Invocation, type PermissionMode, quiet, type Raised, type Scope } from '../../hooks/plane.ts'
import type { Block, StepName, Steps, StopReason } from '../../hooks/steps.ts'
import { modeInForce } from '../../permissions/modes.ts'
import type { PermissionSettings } from '../../permissions/question.ts'
import { withGranted } from '../../permissions/rules/update.ts'
import type { ContentBlock, Message, Reply, ToolUse } from '../../providers/model.ts'
import { recordHooks } from '../../store/audit.ts'
import { getConversation, touchConversation } from '../../store/conversations.ts'
import { type Db, newId } from '../../store/open.ts'
import { storable } from '../../store/secrets.ts'
import { signIn } from '../../store/session/session-lock.ts'
import { type StoredUses, usesIn, withReferences } from '../../store/session/stored-once.ts'
import { appendEntry, type Entry, type ToolResultEntry } from '../../store/session/transcript.ts'
import type { AgentRequest, LoadedSkill, SeenFile } from '../../tools/host.ts'
import type { Todo, ToolOutput } from '../../tools/output.ts'
import type { Tool } from '../../tools/tool.ts'
import { append } from '../context/messages.ts'
import { boundedResult } from '../context/window.ts'
import type { AgentEvent, PermissionAnswer, PermissionRequest, SpeakingAgent } from '../events.ts'
import type { Pace } from '../pace.ts'
import { createTasks, type Tasks } from '../subagents/background.ts'
import { type Toolbox, toolsOf } from '../toolbox.ts'
import type { TurnEnd } from '../turn-end.ts'
import type { ActiveModel, Observed, Runtime } from './runtime.ts'

export interface SessionStart {
  readonly runtime: Runtime
  readonly services: SessionServices
  readonly id: string
  readonly conversationId: string
  readonly cwd: string
  readonly projectDir: string
  readonly mode: PermissionMode
  readonly model: ActiveModel
  readonly permissions: PermissionSettings
  readonly messages: Message[]
  /** Set for a sub-agent. */
  readonly agent?: AgentIdentity
  readonly parent?: Session
  /** What hooks know the session's own agent by; one of code has a name. */
  readonly agentType?: string
  readonly tools?: Toolbox
  readonly systemPrompt?: string
  /** Sees nothing of the project: no instructions, no surroundings, no memories. */
  readonly isolated?: boolean
  /** Nothing that hooks add or change gets in; what they deny or stop still holds. */
  readonly sealed?: boolean
  /** The sandbox that its command hooks run in. */
  readonly hookWrap?: Wrap
}

export type AgentIdentity = SpeakingAgent

/** What a tool may start that is a session or a dialog of its own (session-services.ts). */
export interface SessionServices {
  /** Leaves a call open for an answer that comes later; undefined where the settings do not ask for that. */
  awaitApproval(call: WaitingCall, request: PermissionRequest): string | undefined
  loadSkill(session: Session, name: string, args: string, toolUseId?: string): Promise<LoadedSkill>
  runAgent(session: Session, request: SubagentTask): Promise<ToolOutput>
  /** Resumes an agent in the background that waited for an approval. */
  resumeAgent(session: Session, toolUseId: string): Promise<void>
  enterPlanMode(session: Session): Promise<ToolOutput>
  exitPlanMode(session: Session, plan: string, commands?: readonly string[]): Promise<ToolOutput>
}

/** A call in flight, as far as an approval is concerned. */
export interface WaitingCall {
  readonly session: Session
  readonly use: ToolUse
  waiting?: string
  end?: TurnEnd
}

/** What a sub-agent is to do: the Agent tool's request, or a skill that runs as one. */
export interface SubagentTask extends Omit<AgentRequest, 'toolUseId' | 'progress'> {
  /** The call that starts it, where it is one. */
  readonly toolUseId?: string
  /** Set when it runs beside others. */
  readonly pace?: Pace
  /** Rules that hold for this sub-agent alone. */
  readonly granted?: readonly string[]
}

export class Session {
  readonly runtime: Runtime
  readonly services: SessionServices
  readonly id: string
  readonly conversationId: string
  readonly agent: AgentIdentity | undefined
  /** The session that started this one. */
  readonly parent: Session | undefined
  readonly agentType: string | undefined
  readonly db: Db
  readonly messages: Message[]
  readonly toolbox: Toolbox
  readonly tasks: Tasks
  readonly seenFiles = new Map<string, SeenFile>()
  /** Files kept since the last prompt. */
  readonly checkpointed = new Set<string>()
  /** Replaces our own system prompt (a sub-agent's definition, --system-prompt). */
  readonly systemPrompt: string | undefined
  readonly isolated: boolean
  readonly sealed: boolean
  readonly hookWrap: Wrap | undefined
  cwd: string
  projectDir: string
  mode: PermissionMode
  model: ActiveModel
  permissions: PermissionSettings
  todos: readonly Todo[] = []
  /** Rules that a skill allows while it is in force: to the end of the turn. */
  granted: string[] = []
  /** A hook rejected the session at its start: every turn ends at once. */
  rejected: { readonly stop: StopReason; readonly why: string } | undefined
  /** What SessionStart hooks added: a section of the system prompt from then on. */
  startContext: string[] = []
  /** Hook rows that wait for the next commit. */
  pending: Invocation[] = []
  /** The calls of the last reply, as the transcript holds them. */
  uses: StoredUses = new Map()
  requests = 0
  continues = 0
  maxRequests = Number.POSITIVE_INFINITY
  maxContinues = 3
  /** How many of the runtime's fallback models were turned to. */
  fallbacksTried = 0
  /** Compactions in a row that left no room. */
  refills = 0
  /** Tokens in the window after the last reply. */
  contextTokens = 0
  /** Characters added to the conversation since then. */
  unreportedChars = 0
  readonly spent = {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    costUsd: 0,
    unpriced: false,
  }
  busy = false
  hintedAtTests = false
  /** Answers that were given while nobody was here, by call, each with the input that it is an answer about. */
  readonly answers = new Map<string, { readonly answer: PermissionAnswer; readonly input?: string }>()
  /** Sub-agents at work. */
  readonly children = new Set<Session>()

  #abort = new AbortController()
  /** The session's own model, while a skill has put another in its place. */
  #ownModel: ActiveModel | undefined
  #later: (() => void)[] = []
  #carried: Block[] = []
  #queued: Block[] = []

  constructor(start: SessionStart) {
    this.runtime = start.runtime
    this.services = start.services
    this.id = start.id
    this.conversationId = start.conversationId
    this.projectDir = start.projectDir
    this.agent = start.agent
    this.parent = start.parent
    this.agentType = start.agent?.type ?? start.agentType
    this.db = start.runtime.db
    this.messages = start.messages
    this.toolbox = start.tools ?? toolsOf(start.runtime)
    this.systemPrompt = start.systemPrompt
    this.isolated = start.isolated === true
    this.sealed = start.sealed === true
    this.hookWrap = start.hookWrap
    this.cwd = start.cwd
    this.mode = modeInForce(start.mode, start.permissions)
    this.model = start.model
    this.permissions = start.permissions
    this.tasks = start.runtime.tasks ?? createTasks((event) => this.emit(event))
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The rules in force now. */
  get rules(): PermissionSettings {
    return withGranted(this.permissions, this.granted)
  }

  get workingDirectories(): string[] {
    return [this.projectDir, ...(this.permissions.additionalDirectories ?? [])]
  }

  get phase(): string {
    return getConversation(this.db, this.conversationId)?.phase ?? 'idle'
  }

  /** What was interrupted before is over: work for the next turn may start. */
  ready(): void {
    if (this.#abort.signal.aborted) this.#abort = new AbortController()
  }

  begin(): void {
    this.ready()
    this.busy = true
    this.requests = 0
    this.continues = 0
    this.checkpointed.clear()
    this.later(() => {
      signIn(this)
      touchConversation(this.db, this.conversationId) // not old, however long the turn takes
    })
  }

  finished(): void {
    this.busy = false
    this.granted = []
    if (this.#ownModel) this.model = this.#ownModel
    this.#ownModel = undefined
    touchConversation(this.db, this.conversationId)
  }

  /** Another model to the end of the turn. */
  lendModel(model: ActiveModel): void {
    this.#ownModel ??= this.model
    this.model = model
  }

  /** Ends what is under way: the model's answer, a hook, a tool. */
  interrupt(): void {
    this.#abort.abort()
  }

  /** No command of the agent runs while a plan waits for approval: it could act in the meantime. */
  async stopCommands(): Promise<void> {
    await Promise.all([this, ...this.children].map(({ tasks }) => tasks.stopCommands()))
  }

  emit(event: AgentEvent): void {
    this.runtime.emit(this.agent ? { ...event, agent: this.agent } : event)
  }

  /** What a sub-agent does is its own: the one that runs it hears of its replies alone, which cost. */
  async observe(what: Observed): Promise<void> {
    if (!this.agent || what.type === 'reply') await this.runtime.observe?.(what)
  }

  /** Asks at a step. Where nobody listens nothing is built and nothing awaited. */
  async ask<S extends StepName>(
    name: S,
    step: Steps[S],
    raised?: () => Raised,
    toolUseId?: string,
    signal = this.signal,
  ): Promise<Answer> {
    const { plane } = this.runtime
    const event = raised?.()
    if (!plane.listens(name, ...(event ? [event.name] : []))) return quiet
    const shown = this.sealed ? structuredClone(step) : step
    return this.#heard(await plane.ask(name, shown, this.scope(toolUseId, signal), event), toolUseId)
  }

  /** Raises an event that belongs to no step. */
  async raise<E extends EventName>(name: E, fields: () => EventFields[E], signal = this.signal): Promise<Answer> {
    const { plane } = this.runtime
    if (!plane.listens(name)) return quiet
    return this.#heard(await plane.raise(name, fields(), this.scope(undefined, signal)))
  }

  #heard(answer: Answer, toolUseId?: string): Answer {
    // a hook may print a key: what it says reaches screens and logs without it
    for (const note of answer.notes)
      this.emit({
        type: 'hook',
        note: { ...note, reason: storable(note.reason) },
        ...(toolUseId !== undefined && { toolUseId }),
      })
    for (const text of answer.messages) this.emit({ type: 'notice', level: 'info', text })
    if (answer.watchPaths.length > 0) this.runtime.watch?.(answer.watchPaths)
    return this.sealed ? withoutAdditions(answer) : answer
  }

  scope(toolUseId?: string, signal = this.signal): Scope {
    return {
      sessionId: this.id,
      conversationId: this.conversationId,
      dbPath: this.db.path,
      cwd: this.cwd,
      projectDir: this.projectDir,
      permissionMode: this.mode,
      ...(this.agent && { agentId: this.agent.id }),
      ...(this.agentType && { agentType: this.agentType }),
      ...(toolUseId && { toolUseId }),
      ...(this.hookWrap && { wrap: this.hookWrap }),
      signal,
      record: (invocation) => this.pending.push(invocation),
    }
  }

  takePending(): Invocation[] {
    return this.pending.splice(0)
  }

  /** Is written with the next commit: what is worth keeping, and not a commit of its own. */
  later(write: () => void): void {
    this.#later.push(write)
  }

  /** One transaction: the hook rows that wait, and what `work` writes. */
  commit(work: () => void): void {
    this.db.transaction(() => {
      for (const write of this.#later.splice(0)) write()
      if (this.pending.length > 0)
        recordHooks(this.db, this.id, this.conversationId, withReferences(this.takePending(), this.uses))
      work()
    })
  }

  append(entry: Entry): void {
    const { sequence } = appendEntry(this.db, this.id, entry)
    if (entry._t === 'assistant' || entry._t === 'tool_use') this.uses = usesIn(entry, sequence)
  }

  /** Puts words of the user's side into the conversation. */
  say(blocks: readonly Block[], source?: 'prompt'): void {
    if (blocks.length === 0) return
    const text: { type: 'text'; text: string }[] = []
    const content: ContentBlock[] = []
    this.commit(() => {
      for (const block of blocks) {
        if (block.type === 'text') {
          text.push(block)
          content.push(block)
        } else {
          const attachment = { type: 'image', mediaType: block.mimeType, data: block.data }
          this.append({ _t: 'attachment', attachment })
          content.push({ type: 'image', mediaType: block.mimeType, data: block.data })
        }
      }
      this.append({ _t: 'user', uuid: newId(this.db), content: text, ...(source && { source }) })
    })
    for (const block of text) this.unreportedChars += block.text.length
    append(this.messages, 'user', content)
  }

  /** Thoughts stand beside the row's content, whose kinds of block are closed. */
  assistant(content: Reply['content']): void {
    const blocks = content.map((block) =>
      block.type === 'tool_use' ? { type: block.type, id: block.id, name: block.name, input: block.input } : block,
    )
    const said = blocks.filter((block) => block.type !== 'reasoning')
    const reasoning = blocks.flatMap((block, at) => (block.type === 'reasoning' ? [{ at, block }] : []))
    const uuid = newId(this.db)
    this.append({ _t: 'assistant', uuid, content: said, ...(reasoning.length > 0 && { reasoning }) })
    append(this.messages, 'assistant', blocks)
  }

  /** A call's result, by `write` together with the call's other rows. */
  result(use: ToolUse, output: ToolOutput, write?: (entry: Omit<ToolResultEntry, '_t'>) => void): void {
    const { content, isError } = output
    const entry = { tool_use_id: use.id, content, is_error: isError }
    const shown = boundedResult(content, this.model.window)
    this.commit(() => {
      if (write) write(entry)
      else this.append({ _t: 'tool_result', ...entry })
      if (shown !== content) this.append({ _t: 'content_replacement', tool_use_id: use.id, content: shown })
    })
    const images = (output.images ?? []).map((image) => ({ type: 'image', ...image }) as const)
    this.unreportedChars += shown.length
    append(this.messages, 'user', [
      { type: 'tool_result', tool_use_id: use.id, content: shown, is_error: isError },
      ...images,
    ])
  }

  /** Text that goes in front of the model with the next prompt. */
  carry(blocks: readonly Block[]): void {
    this.#carried.push(...blocks)
  }

  carried(): Block[] {
    return this.#carried.splice(0)
  }

  /** What the user typed while the agent worked: read after the tool calls under way. */
  queue(blocks: readonly Block[]): void {
    this.#queued.push(...blocks)
  }

  takeQueued(): Block[] {
    return this.#queued.splice(0)
  }

  tool(name: string): Tool | undefined {
    return this.toolbox.get(name)
  }

  toolNames(): string[] {
    return this.toolbox.names()
  }
}

/** A hook may know what this session must not. What it said is in its row. */
const sealedReason = 'a hook refused it'

const withoutAdditions = ({ decision, reason, stop, control, ...answer }: Answer): Answer => ({
  ...quiet,
  decision,
  reason: reason && sealedReason,
  stop: stop && sealedReason,
  // at the end of a turn "continue" comes with words of the hook's
  control: control.kind === 'continue' ? quiet.control : control,
  notes: answer.notes,
  messages: answer.messages,
})
