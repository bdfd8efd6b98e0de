/** A user and the agent: what each line that was typed means, whatever it was typed on. */
import type { AgentEvent } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
import type { EndReason, Started } from '../../agent/session/start.ts'
import type { Block } from '../../hooks/steps.ts'
import { nearest } from '../../hooks/text/nearest.ts'
import type { ModelUsage } from '../../providers/model.ts'
import { findCommand, slashCommands } from '../commands/table.ts'
import type { Image } from '../input/attachments.ts'
import type { CommandName } from '../input/complete.ts'
import type { SessionSwitch, Ui } from './command-context.ts'
import type { Front } from './front.ts'
import { mcpCommands, runMcpPrompt } from './mcp-prompts.ts'
import { addUsage, type Facts, follow, newFacts } from './usage-facts.ts'

/** What differs between a terminal and plain lines. */
export interface Surface {
  readonly front: Front
  readonly version: string
  answers(): readonly string[]
  /** Shows what was typed, as it goes to the agent. */
  echo(text: string, shown: string): void
  /** A new session: what was shown before belongs to the old one. */
  changedSession(): void
  refresh(statusCommand?: unknown): void
  setVim(on: boolean): void
  vim(): boolean
  setTheme: Ui['setTheme']
  /** Output of `!command`, while it runs and when it ended. */
  shell(event: AgentEvent): void
  /** What is shown meanwhile belongs together, though the agent goes on. */
  aside(work: () => Promise<void>): Promise<void>
}

/** What was typed. */
export interface Line {
  readonly text: string
  readonly images: readonly Image[]
  /** The line as the user saw it, with long pastes folded. */
  readonly shown: string
}

export const lineOf = (text: string): Line => ({ text, images: [], shown: text })

/** How long an interrupted turn may take to end when the user leaves. */
const settleMs = 5_000

export class Conversation implements Ui {
  readonly facts: Facts = newFacts()
  readonly front: Front
  readonly version: string
  readonly #surface: Surface
  readonly #queue: Line[] = []
  /** Settles when the user left, or when something broke that must not have. */
  readonly #end = Promise.withResolvers<EndReason>()
  readonly #gone = new AbortController()
  #started: Started | undefined
  #working = false
  #work: Promise<void> = Promise.resolve()
  #shell: AbortController | undefined
  /** Something of the answer has come. */
  #heard = false
  #saidNext = ''
  leaving = false

  constructor(surface: Surface) {
    this.#surface = surface
    this.front = surface.front
    this.version = surface.version
  }

  begin(started: Started): void {
    this.#started = started
  }

  get ready(): boolean {
    return this.#started !== undefined
  }

  get session(): Session {
    return this.#started!.session
  }

  /** Something is under way: a turn, a command, a shell line. */
  get busy(): boolean {
    return this.#working
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  /** Why the user left. */
  get left(): Promise<EndReason> {
    return this.#end.promise
  }

  /** A line was typed, and nobody waits for what comes of it. */
  take(line: Line): void {
    this.typed(line).catch((cause: unknown) => this.#end.reject(cause))
  }

  on(event: AgentEvent): void {
    follow(this.facts, event)
    if (event.type === 'text' || event.type === 'tool-started') this.#heard = true
    if (event.type === 'tool-finished' && !event.agent) void this.#steer()
    if (event.type === 'task' && !event.agent) this.#hearNews().catch((cause: unknown) => this.#end.reject(cause))
  }

  /** Plain words that wait are heard in the same turn, after the tool calls under way. */
  async #steer(): Promise<void> {
    while (this.#queue[0] && !/^[!#/]/.test(this.#queue[0].text)) {
      const { text, images, shown } = this.#queue.shift()!
      this.#surface.echo(text, shown)
      this.session.queue(await this.#blocks(text, images))
    }
  }

  onUsage(model: string, usage: ModelUsage, costUsd: number | null): void {
    addUsage(this.facts, model, usage, costUsd)
  }

  /** Lines that wait for the turn's end. */
  queued(): readonly string[] {
    return this.#queue.map(({ shown }) => shown)
  }

  takeQueue(): string | undefined {
    return this.#queue.length > 0
      ? this.#queue
          .splice(0)
          .map(({ shown }) => shown)
          .join('\n')
      : undefined
  }

  /** A line was typed. While something is under way, all but a few commands wait. */
  async typed(line: Line): Promise<void> {
    const { text } = line
    if (text.trim() === '') return
    if (this.#working || !this.ready) {
      const now = this.ready && commandOf(text)?.found?.immediate
      if (!now) this.#queue.push(line)
      else await this.#surface.aside(() => this.#command(text))
      this.#surface.refresh()
      return
    }
    await this.#run(line)
    while (this.#queue.length > 0 && !this.leaving) await this.#run(this.#queue.shift()!)
    await this.#hearNews()
  }

  /** What ended in the background begins a turn of its own when nothing else is under way. Over a pipe the next line does. */
  async #hearNews(): Promise<void> {
    if (!this.ready || !this.front.interactive) return
    while (!this.#working && !this.leaving && this.session.tasks.hasNews()) {
      this.#work = this.#during(async () => void (await this.#turn([], 'background')))
      await this.#work
    }
  }

  /** What waited for the session to begin. */
  async drain(): Promise<void> {
    const first = this.#queue.shift()
    if (first) await this.typed(first)
  }

  /** What is under way has ended, or will not in time. Call it after leaving and before the session is closed. */
  async settled(): Promise<void> {
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, settleMs)
    await Promise.race([this.#work.catch(() => {}), limit.promise]) // the failure was reported already
    clearTimeout(timer)
  }

  #run(line: Line): Promise<void> {
    this.#work = this.#during(() => this.#understood(line))
    return this.#work
  }

  async #understood(line: Line): Promise<void> {
    const { text } = line
    if (text.startsWith('!')) await this.#bang(text.slice(1).trim())
    else if (text.startsWith('#') && !text.includes('\n')) await this.#remember(text)
    else if (commandOf(text)) await this.#command(text)
    else await this.#prompt(line)
  }

  async #during(work: () => Promise<void>): Promise<void> {
    this.#working = true
    this.#surface.refresh()
    try {
      await work()
    } finally {
      this.#working = false
      this.#surface.refresh()
    }
  }

  interrupt(): void {
    this.#shell?.abort()
    if (this.session.busy) this.session.interrupt()
  }

  leave(reason: EndReason): void {
    this.leaving = true
    this.#gone.abort()
    this.#shell?.abort()
    this.#end.resolve(reason)
  }

  async submit(prompt: string): Promise<void> {
    await this.#turn([{ type: 'text', text: prompt }])
  }

  async #prompt({ text, images, shown }: Line): Promise<void> {
    this.#surface.echo(text, shown)
    this.#heard = false
    const stop = await this.#turn(await this.#blocks(text, images))
    // interrupted before anything came: the words can be put right and sent again
    if (stop === 'cancelled' && !this.#heard && this.#queue.length === 0) this.front.setDraft(shown)
  }

  async #blocks(text: string, images: readonly Image[]): Promise<Block[]> {
    const { expandPrompt } = await import('../../agent/context/expand.ts')
    const expanded = await expandPrompt(this.session, text)
    const pictures = images.map(({ mediaType, data }): Block => ({ type: 'image', mimeType: mediaType, data }))
    return [...pictures, ...(expanded.ok ? expanded.blocks : [{ type: 'text' as const, text }])]
  }

  async #turn(blocks: readonly Block[], source?: 'background'): Promise<string> {
    const { runTurn } = await import('../../agent/turn.ts')
    const end = await runTurn(this.session, blocks, source)
    if (end.why && !end.failure && end.stop !== 'cancelled') this.front.notice('warning', end.why)
    const queued = this.session.takeQueued()
    if (queued.length > 0) return this.#turn(queued)
    if (end.stop === 'end_turn') await this.#sayNext()
    return end.stop
  }

  /** What comes next in the workflow; once a conversation. */
  async #sayNext(): Promise<void> {
    const { phase, conversationId } = this.session
    if (phase !== 'implement' || this.#saidNext === conversationId) return
    const { nextStep } = await import('../../agent/workflow/workflow.ts')
    const next = nextStep(this.session)
    if (next === undefined) return
    this.#saidNext = conversationId
    this.front.notice('info', next)
  }

  async #command(text: string): Promise<void> {
    const { name, args, found } = commandOf(text)!
    if (!this.front.interactive || found) this.#surface.echo(text, text)
    if (found) {
      try {
        await found.run(args, this)
      } catch (cause) {
        this.front.notice('error', `/${found.name} failed: ${cause instanceof Error ? cause.message : String(cause)}`)
      }
      return
    }
    if (this.session.runtime.skills.list().some((skill) => skill.name === name)) return this.#prompt(lineOf(text))
    if (await runMcpPrompt(this, name, args)) return
    const near = nearest(
      name,
      this.commands().flatMap((one) => [one.name, ...one.aliases]),
      (each) => Math.max(1, Math.floor(each.length / 3)),
    )
    if (this.front.interactive) this.#surface.echo(text, text)
    this.front.notice('error', `Unknown command: /${name}.${near ? ` Did you mean /${near}?` : ' /help lists them.'}`)
  }

  commands(): CommandName[] {
    const more = this.ready
      ? this.moreCommands().map(({ name, summary }) => ({ name, aliases: [], summary, argumentHint: '[arguments]' }))
      : []
    return [...slashCommands, ...more]
  }

  moreCommands(): readonly { readonly name: string; readonly summary: string; readonly from: string }[] {
    const { skills } = this.session.runtime
    return [
      ...skills
        .list()
        .filter(({ name }) => !findCommand(name))
        .map(({ name, description }) => ({ name, summary: description, from: 'skill' })),
      ...mcpCommands(this.session),
    ]
  }

  async #bang(command: string): Promise<void> {
    if (command === '') return
    const { shellLine } = await import('./shell-escape.ts')
    this.#shell = new AbortController()
    await shellLine(this.session, command, this.#shell.signal, (event) => this.#surface.shell(event))
    this.#shell = undefined
  }

  async #remember(text: string): Promise<void> {
    const { remember } = await import('./remember.ts')
    if ((await remember(text.replace(/^#+\s*/, ''), this)) === 'prompt') await this.#prompt(lineOf(text))
  }

  async switchSession(to: SessionSwitch): Promise<string | undefined> {
    const { id } = this.session
    const changed = await this.#started!.change(
      to.kind === 'clear'
        ? { reason: 'clear' }
        : to.kind === 'resume'
          ? { reason: 'resume', resume: to.id }
          : { reason: 'resume', resume: id, fork: true, ...(to.name && { name: to.name }) },
    )
    if ('problem' in changed) return changed.problem
    this.facts.contextShare = 0
    this.#surface.changedSession()
    if (changed.initialPrompt) await this.submit(changed.initialPrompt)
    return undefined
  }

  answers(): readonly string[] {
    return this.#surface.answers()
  }
  refresh(statusCommand?: unknown): void {
    this.#surface.refresh(statusCommand)
  }
  setVim(on: boolean): void {
    this.#surface.setVim(on)
  }
  vim(): boolean {
    return this.#surface.vim()
  }
  setTheme: Ui['setTheme'] = (theme) => this.#surface.setTheme(theme)
}

/** `/name arguments`; a path that begins with a slash is no command. */
function commandOf(text: string): { name: string; args: string; found: ReturnType<typeof findCommand> } | undefined {
  const match = /^\/([A-Za-z][\w:.-]*)(?:\s+([\s\S]*))?$/.exec(text.trim())
  if (!match || (match[1]!.includes('.') && !match[1]!.includes(':'))) return undefined
  return { name: match[1]!, args: (match[2] ?? '').trim(), found: findCommand(match[1]!) }
}
