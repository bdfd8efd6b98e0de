/** The agent's events as a picture: what is finished goes to the scrollback, what goes on is drawn below it. */
import type { AgentEvent } from '../../agent/events.ts'
import type { Todo, ToolOutput } from '../../tools/output.ts'
import { AnswerView } from './answer-view.ts'
import { clean, cleanLine } from './clean.ts'
import { loadDiffColours } from './diff-view.ts'
import { duration, tokens } from './format.ts'
import { glyph } from './glyphs.ts'
import { hookLines, type Item, type ToolCall, todoLines, toolHead, treeLines } from './items.ts'
import { Happened, type Kept } from './scrollback.ts'
import { paint } from './style.ts'
import { clip } from './width.ts'

const progressKept = 4_000

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
  #calls = new Map<string, ToolCall>()
  #agents = new Map<string, ToolCall>()
  #doing = ''
  #since = 0
  #turnSince = 0
  #outTokens = 0
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
    return this.#turnSince > 0
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
    const running = [...this.#calls.values()].flatMap((call) => ['', ...this.#running(call, columns, spin, now)])
    const state = this.busy && !still ? ['', this.#spinner(spin, now, columns)] : []
    const todos =
      this.busy && this.showTodos && this.todos.some((todo) => todo.status !== 'completed')
        ? [...(still ? [''] : []), ...todoLines(this.#near(), columns - 4).map((line) => `  ${line}`)]
        : []
    const below = [...this.#happened.live(columns, this.#draw), ...running, ...state, ...todos].slice(
      -Math.max(1, rows - 1),
    )
    return [...answer.slice(-Math.max(0, rows - below.length)), ...below].slice(-rows)
  }

  prepare(): Promise<void> {
    return this.#answer.prepare()
  }

  #near(): readonly Todo[] {
    const at = Math.max(0, this.todos.findIndex((todo) => todo.status !== 'completed') - 1)
    return this.todos.slice(at, at + 6)
  }

  #running(call: ToolCall, columns: number, spin: string, now: number): string[] {
    const head = toolHead(
      { ...call, ms: now - call.startedAt > 1000 ? now - call.startedAt : undefined },
      columns,
      spin,
    )
    const progress = clean(call.progress)
      .trimEnd()
      .split('\n')
      .slice(-5)
      .filter((line) => line !== '')
      .map((line, row) => paint('dim', `  ${row === 0 ? glyph.under : ' '} ${clip(line, columns - 5)}`))
    const notes = call.notes.flatMap((note) => hookLines(note, columns))
    return [head, ...notes, ...treeLines(call.calls, columns, 4, spin), ...progress]
  }

  #spinner(spin: string, now: number, columns: number): string {
    const about = [
      duration(Math.floor((now - this.#turnSince) / 1000) * 1000 || 0)
        .replace('0ms', '0.0s')
        .replace('.0s', 's'),
    ]
    if (this.#outTokens > 0) about.push(`${tokens(this.#outTokens)} tokens`)
    if (this.#since > 0 && now - this.#since > 20_000 && this.#calls.size === 0)
      about.push(`${duration(now - this.#since)} for this step`)
    if ([...this.#calls.values()].some((call) => call.name === 'Bash' && now - call.startedAt > 2_000))
      about.push('ctrl+b for the background')
    about.push('esc to interrupt')
    return clip(
      `${paint('accent', `${spin} ${this.#doing || 'Working'}${glyph.more}`)} ${paint('dim', `(${about.join(` ${glyph.dot} `)})`)}`,
      columns,
    )
  }

  #ofMain(event: AgentEvent): void {
    switch (event.type) {
      case 'turn-started':
        this.#turnSince = Date.now()
        this.#outTokens = 0
        this.#step('Starting')
        void this.prepare()
        break
      case 'request':
        this.#step(`Waiting for ${cleanLine(this.nameOf(event.model))}`)
        break
      case 'thinking':
        this.#step('Thinking')
        this.#think(event.text)
        break
      case 'text':
        this.#step('Writing')
        this.#answer.write(event.text)
        break
      case 'assistant':
        this.#endAnswer(event.text)
        break
      case 'tool-started':
        this.#endAnswer('')
        this.#calls.set(event.id, this.#newCall(event))
        if (event.name === 'Edit' || event.name === 'Write') void loadDiffColours()
        this.#step(`Running ${event.name}`)
        break
      case 'tool-running': {
        const call = this.#calls.get(event.id)
        if (call) call.startedAt = Date.now()
        break
      }
      case 'tool-progress': {
        const call = this.#calls.get(event.id)
        if (call) call.progress = (call.progress + event.text).slice(-progressKept)
        break
      }
      case 'tool-finished': {
        const call = this.#calls.get(event.id) ?? this.#newCall({ ...event, input: {}, summary: '' })
        this.#calls.delete(event.id)
        Object.assign(call, { output: this.#shown(event.output), ms: ranMs(event), outcome: event.outcome })
        for (const [id, owner] of this.#agents) if (owner === call) this.#agents.delete(id)
        // the list below shows what it says; it is printed when the turn ends
        if (isListed(call)) this.#happened.keep({ kind: 'tool', call })
        else this.#happened.add({ kind: 'tool', call })
        this.#step('Working')
        break
      }
      case 'hook': {
        // calls of the conversation itself run one after another: the one that runs is the one it is about
        const [call] = this.#calls.values()
        if (call) call.notes.push(event.note)
        else this.#happened.add({ kind: 'hook', note: event.note }, false)
        break
      }
      case 'usage':
        this.#outTokens += event.usage.outputTokens ?? 0
        break
      case 'retry':
        if (this.#answer.drop()) this.#happened.add({ kind: 'notice', level: 'warning', text: cutOff })
        this.#step(
          `Trying again in ${duration(event.waitMs)} (attempt ${event.attempt} of ${event.most}): ${cleanLine(event.failure.message)}`,
        )
        break
      case 'todos':
        this.todos = event.todos
        this.#todosChanged = true
        break
      case 'phase':
        this.#happened.add({ kind: 'notice', level: 'info', text: `phase: ${event.from} ${glyph.to} ${event.to}` })
        break
      case 'compacted':
        this.#happened.add({
          kind: 'notice',
          level: 'info',
          text: `Conversation compacted (${event.trigger}): ${tokens(event.tokensBefore)} ${glyph.to} ${tokens(event.tokensAfter)} tokens`,
        })
        break
      case 'task':
        this.#happened.add({
          kind: 'notice',
          level: event.status === 'failed' ? 'warning' : 'info',
          text: `background task ${event.id} ${event.status}: ${event.about}`,
        })
        break
      case 'notice':
        this.#happened.add({ kind: 'notice', level: event.level, text: event.text })
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
        this.#endTurn(event)
        break
    }
  }

  #endTurn({ stop, failure }: Extract<AgentEvent, { type: 'turn-ended' }>): void {
    this.#endAnswer('')
    for (const call of this.#calls.values())
      this.#happened.add({ kind: 'tool', call: { ...call, outcome: 'interrupted', ms: Date.now() - call.startedAt } })
    this.#calls.clear()
    this.#agents.clear()
    this.#endTodos()
    this.#turnSince = 0
    this.#since = 0
    this.#doing = ''
    const text = failure ? failure.message : ends[stop]
    if (text) this.#happened.add({ kind: 'notice', level: failure ? 'error' : 'warning', text })
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
  #ofAgent(agent: { id: string; type: string; about: string }, event: AgentEvent): void {
    const owner = this.#agents.get(agent.id) ?? this.#adopt(agent)
    if (event.type === 'tool-started' && owner) owner.calls.push(this.#newCall(event))
    else if (event.type === 'tool-finished') {
      const call = owner?.calls.find((one) => one.id === event.id)
      if (call) Object.assign(call, { output: event.output, ms: ranMs(event), outcome: event.outcome })
    } else if (event.type === 'hook')
      this.#happened.add(
        { kind: 'hook', note: { ...event.note, hook: `${event.note.hook} (in ${agent.type})` } },
        false,
      )
    else if (event.type === 'notice' && event.level !== 'info')
      this.#happened.add({ kind: 'notice', level: event.level, text: `${agent.type}: ${event.text}` })
  }

  #adopt(agent: { id: string; about: string }): ToolCall | undefined {
    const free = [...this.#calls.values()].filter(
      (call) => call.name === 'Agent' && ![...this.#agents.values()].includes(call),
    )
    const owner = free.find((call) => call.input['description'] === agent.about) ?? free.at(-1)
    if (owner) this.#agents.set(agent.id, owner)
    return owner
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

  #step(doing: string): void {
    if (this.#doing === doing) return
    this.#doing = doing
    this.#since = Date.now()
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

const cutOff = 'The reply above was cut off; sending the request again'

/** A call that did not run took no time. */
const ranMs = ({ outcome, ms }: Extract<AgentEvent, { type: 'tool-finished' }>): number | undefined =>
  outcome === 'ran' || outcome === 'interrupted' ? ms : undefined

const ends: Record<string, string> = {
  cancelled: 'Interrupted. What should be done instead?',
  max_tokens: 'The answer was cut off: it reached the most tokens that one answer may have.',
  max_turn_requests: 'Stopped: the turn reached its limit of requests.',
  refusal: 'The model refused.',
}
