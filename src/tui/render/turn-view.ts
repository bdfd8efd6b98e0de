/** The agent's events as a picture: what is finished goes to the scrollback, what goes on is drawn below it. */
import type { AgentEvent, SpeakingAgent } from '../../agent/events.ts'
import type { Todo, ToolOutput } from '../../tools/output.ts'
import { AnswerView } from './answer-view.ts'
import { cleanLine } from './clean.ts'
import { loadDiffColours } from './diff-view.ts'
import { glyph } from './glyphs.ts'
import { type Item, nearTodos, type ToolCall } from './items.ts'
import { cutOff, noticeOf, retryStep } from './notices.ts'
import { RunningCalls } from './running-calls.ts'
import { Happened, type Kept } from './scrollback.ts'
import { WorkingLine } from './working-line.ts'

/** A command that runs longer than this can be sent to the background: the line below says so. */
const longCommandMs = 2_000
/** Todos that are drawn in place. */
const todoRows = 8

export class TurnView {
  todos: readonly Todo[] = []
  showTodos = true
  /** The name that users know a model by. */
  nameOf: (wireModel: string) => string = (wireModel) => wireModel
  /** Where the work is done: paths below it are shown from there. */
  folder = ''
  readonly #happened = new Happened()
  /** A command was shown in the middle of the answer. */
  #apart = false
  readonly #calls = new RunningCalls()
  readonly #working = new WorkingLine()
  #todosChanged = false
  readonly #changed: () => void
  readonly #answer: AnswerView

  constructor(changed: () => void) {
    this.#changed = changed
    this.#answer = new AnswerView(changed)
  }

  /** All that happened, for the full transcript. */
  get items(): Kept[] {
    return this.#happened.items
  }

  get busy(): boolean {
    return this.#working.busy
  }

  /** The full texts of answers, newest last. */
  get answers(): string[] {
    return this.items.flatMap((item) => (item.kind === 'answer' ? [item.text] : []))
  }

  /** Shows what the user did, or what a command says. */
  add(item: Item, spaced = true): void {
    this.#happened.addAside(item, spaced)
    this.#changed()
  }

  /** Until `release` nothing goes to the scrollback: the banner is to stand above what a start reports. */
  hold(): void {
    this.#happened.hold()
  }

  release(first?: Item): void {
    this.#happened.release(first)
    this.#changed()
  }

  async aside(work: () => Promise<void>): Promise<void> {
    await this.#happened.aside(work)
    this.#apart = this.#answer.begun
    this.#changed()
  }

  on(event: AgentEvent): void {
    if (event.agent) this.#ofAgent(event.agent, event)
    else this.#ofMain(event)
    this.#changed()
  }

  /** Lines for the scrollback since the last call. */
  take(columns: number): string[] {
    return [...this.#happened.take(columns, this.#draw), ...this.#goingOn(this.#answer.finished(columns))]
  }

  /** More of the answer; after a command in between, an empty line parts the two. */
  #goingOn(lines: string[]): string[] {
    const apart = this.#apart && lines.length > 0
    if (apart) this.#apart = false
    return apart && lines[0] !== '' ? ['', ...lines] : lines
  }

  readonly #draw = (text: string, columns: number): string[] => this.markdown(text, columns)

  markdown(text: string, columns: number): string[] {
    return this.#answer.markdown(text, columns)
  }

  /** What goes on, at most so many rows of it; while a dialog is open it stands still. */
  live(columns: number, rows: number, now: number, still = false): string[] {
    const answer = this.#answer.live(columns)
    const spin = still ? glyph.tool : glyph.spin[Math.floor(now / 120) % glyph.spin.length]!
    const state = this.busy && !still ? ['', this.#state(spin, now, columns)] : []
    const todos =
      this.busy && this.showTodos && this.todos.some((todo) => todo.status !== 'completed')
        ? [...(still ? [''] : []), ...nearTodos(this.todos, todoRows, columns - 4).map((line) => `  ${line}`)]
        : []
    const running = this.#calls.lines(columns, spin, now, still)
    const below = [...this.#happened.live(columns, this.#draw), ...running, ...state, ...todos].slice(
      -Math.max(1, rows - 1),
    )
    return [...answer.slice(-Math.max(0, rows - below.length)), ...below].slice(-rows)
  }

  prepare(): Promise<void> {
    return this.#answer.prepare()
  }

  #state(spin: string, now: number, columns: number): string {
    const isLong = this.#calls.all.some((call) => call.name === 'Bash' && now - call.startedAt > longCommandMs)
    const hint = isLong ? 'ctrl+b to run in the background' : ''
    return this.#working.line(spin, now, columns, { calls: this.#calls.size, hint })
  }

  #ofMain(event: AgentEvent): void {
    switch (event.type) {
      case 'turn-started':
        this.#working.begin()
        void this.prepare()
        break
      case 'request':
        this.#working.step(`Waiting for ${cleanLine(this.nameOf(event.model))}`)
        break
      case 'thinking':
        this.#working.step('Thinking')
        this.#think(event.text)
        break
      case 'text':
        this.#working.step('Writing')
        this.#answer.write(event.text)
        break
      case 'assistant':
        this.#endAnswer(event.text)
        break
      case 'tool-started':
        this.#endAnswer('')
        this.#calls.start(this.#newCall(event))
        if (event.name === 'Edit' || event.name === 'Write') void loadDiffColours()
        this.#working.step(this.#calls.doing())
        break
      case 'tool-running':
        this.#calls.run(event.id)
        break
      case 'tool-progress':
        this.#calls.progress(event.id, event.text)
        break
      case 'tool-finished': {
        const call = this.#calls.finish(event.id) ?? this.#newCall({ ...event, input: {}, summary: '' })
        Object.assign(call, { output: this.#shown(event.output), ms: ranMs(event), outcome: event.outcome })
        // the list below shows what it says; it is printed when the turn ends
        if (isListed(call)) this.#happened.keep({ kind: 'tool', call })
        else this.#happened.add({ kind: 'tool', call })
        this.#working.step(this.#calls.doing())
        break
      }
      case 'hook':
        if (!this.#calls.note(event.note, event.toolUseId))
          this.#happened.add({ kind: 'hook', note: event.note }, false)
        break
      case 'usage':
        this.#working.spent(event.usage.outputTokens ?? 0)
        break
      case 'retry':
        if (this.#answer.drop()) this.#happened.add(cutOff)
        this.#working.step(retryStep(event, Date.now()))
        break
      case 'todos':
        this.todos = event.todos
        this.#todosChanged = true
        break
      case 'brief':
        this.#happened.add({ kind: 'answer', text: event.text })
        break
      case 'display':
        this.#happened.add({
          kind: 'tool',
          call: {
            ...this.#newCall({ id: '', name: 'Note', input: {}, summary: '' }),
            output: { content: '', isError: false, display: event.display },
          },
        })
        break
      case 'turn-ended':
        this.#endTurn()
        break
    }
    const notice = noticeOf(event)
    // notices stand together, and right below what the user typed
    const isBelow = ['user', 'notice'].includes(this.items.at(-1)?.kind ?? '')
    if (notice) this.#happened.add(notice, notice.isAnswer || !isBelow)
  }

  #endTurn(): void {
    this.#endAnswer('')
    for (const call of this.#calls.all)
      this.#happened.add({ kind: 'tool', call: { ...call, outcome: 'interrupted', ms: Date.now() - call.startedAt } })
    this.#calls.clear()
    this.#endTodos()
    this.#working.end()
  }

  /** The list as the turn leaves it, once. */
  #endTodos(): void {
    if (this.#todosChanged && this.showTodos && this.todos.length > 0)
      this.#happened.print({
        kind: 'tool',
        call: {
          ...this.#newCall({ id: '', name: 'Todos', input: {}, summary: todoCount(this.todos) }),
          outcome: 'ran',
          output: { content: '', isError: false, display: { kind: 'todos', todos: this.todos } },
        },
      })
    this.#todosChanged = false
  }

  /** A sub-agent's calls hang under the call that started it. */
  #ofAgent(agent: SpeakingAgent, event: AgentEvent): void {
    const owner = this.#calls.ownerOf(agent)
    if (event.type === 'tool-started' && owner) owner.calls.push(this.#newCall(event))
    else if (event.type === 'tool-finished') {
      const call = owner?.calls.find((one) => one.id === event.id)
      if (call) Object.assign(call, { output: event.output, ms: ranMs(event), outcome: event.outcome })
    } else if (event.type === 'hook')
      this.#happened.add(
        { kind: 'hook', note: { ...event.note, hook: `${event.note.hook} (in ${agent.about || agent.type})` } },
        false,
      )
    else if (event.type === 'notice' && event.level !== 'info')
      this.#happened.add({ kind: 'notice', level: event.level, text: `${agent.about || agent.type}: ${event.text}` })
  }

  #newCall(event: { id: string; name: string; input: ToolCall['input']; summary: string }): ToolCall {
    const { id, name, input, summary } = event
    return { id, name, input, summary: this.#below(summary), startedAt: Date.now(), progress: '', calls: [], notes: [] }
  }

  #shown(output: ToolOutput): ToolOutput {
    const { display } = output
    return display?.kind === 'diff' ? { ...output, display: { ...display, path: this.#below(display.path) } } : output
  }

  #below(text: string): string {
    return this.folder ? text.replaceAll(`${this.folder}/`, '') : text
  }

  #think(text: string): void {
    const last = this.items.at(-1)
    if (last?.kind === 'thinking') this.items[this.items.length - 1] = { kind: 'thinking', text: last.text + text }
    else this.#happened.keep({ kind: 'thinking', text })
  }

  /** The answer is complete; an agent that does not stream says it all here. */
  #endAnswer(whole: string): void {
    const ended = this.#answer.end(this.columns())
    if (ended) {
      this.#happened.keep({ kind: 'answer', text: ended.text })
      this.#happened.print({ kind: 'drawn', lines: this.#goingOn(ended.lines) }, false)
    } else if (whole) this.#happened.add({ kind: 'answer', text: whole })
  }

  /** How wide the screen is; set by whoever draws. */
  columns: () => number = () => 80
}

/** A call whose whole outcome is the todo list; one that failed, or that a hook touched, is shown. */
const isListed = ({ outcome, output, notes }: ToolCall): boolean =>
  outcome === 'ran' && output?.display?.kind === 'todos' && !output.isError && notes.length === 0

const todoCount = (todos: readonly Todo[]): string =>
  `${todos.filter(({ status }) => status === 'completed').length} of ${todos.length} done`

/** A call that did not run took no time. */
const ranMs = ({ outcome, ms }: Extract<AgentEvent, { type: 'tool-finished' }>): number | undefined =>
  outcome === 'ran' || outcome === 'interrupted' ? ms : undefined
