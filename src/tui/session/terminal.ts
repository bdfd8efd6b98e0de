/** The full terminal: keys in, frames out, and the dialogs in between. */
import { ChoiceView } from '../dialogs/choice-view.ts'
import { TextView } from '../dialogs/text-view.ts'
import type { Input } from '../input/keys.ts'
import { clean } from '../render/clean.ts'
import { glyph } from '../render/glyphs.ts'
import { Pager } from '../render/pager.ts'
import { Screen } from '../render/screen.ts'
import { paint } from '../render/style.ts'
import { TurnView } from '../render/turn-view.ts'
import type { View } from '../render/view.ts'
import { wrap } from '../render/width.ts'
import { DialogQueue, singles, wantsBody } from './dialog-queue.ts'
import type { Chosen, Dialog, Front, TextQuestion, ViewTools } from './front.ts'
import type { TerminalInput, TerminalOutput } from './terminal-streams.ts'
import { Tty } from './tty.ts'
import { Window } from './window.ts'

/** Streaming is drawn at most this often; keys are drawn at once. */
const frameMs = 33
const spinMs = 120
export class Terminal implements Front {
  readonly interactive = true
  readonly turn: TurnView
  /** What is shown under the turn while no dialog is open. */
  prompt: View | undefined
  /** What is waiting its turn, shown above the prompt. */
  queued: () => readonly string[] = () => []
  onEnd: () => void = () => {}
  /** The terminal has reported its background colour. */
  onBackground: ((reported: string) => void) | undefined
  /** Where we are, for the window's title. */
  place = ''
  setDraft: (text: string) => void = () => {}
  readonly #output: TerminalOutput
  readonly #env: NodeJS.ProcessEnv
  readonly #screen: Screen
  readonly #tty: Tty
  readonly #window: Window
  readonly #dialogs = new DialogQueue({
    draft: () => this.prompt?.text ?? '',
    notify: (title) => this.notify(title),
    changed: () => this.changed(),
  })
  #pager: Pager | undefined
  #timer: NodeJS.Timeout | undefined
  #drawnAt = 0
  #closed = false

  constructor(input: TerminalInput, output: TerminalOutput, env: NodeJS.ProcessEnv = process.env) {
    this.#output = output
    this.#env = env
    this.#screen = new Screen(output, env)
    this.#tty = new Tty(input, output, {
      keys: (inputs) => this.#inputs(inputs),
      resized: () => this.#draw(),
      background: (reported) => this.onBackground?.(reported),
      ended: () => this.onEnd(),
    })
    this.#window = new Window((text) => output.write(text), env)
    this.turn = new TurnView(() => this.changed())
    this.turn.columns = () => this.columns
  }

  get columns(): number {
    return this.#screen.columns
  }

  open(): void {
    this.#window.open()
    this.#tty.open({ asksBackground: this.onBackground !== undefined })
    this.#draw()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#timer)
    this.#pager?.close()
    this.turn.release()
    this.#screen.print(this.turn.take(this.columns))
    this.#screen.draw({ lines: [] })
    this.#screen.leave()
    this.#tty.close()
    this.#window.close()
  }

  /** Something is to be redrawn, soon. */
  changed(): void {
    if (this.#closed || this.#timer) return
    this.#timer = setTimeout(() => this.#draw(), Math.max(0, frameMs - (Date.now() - this.#drawnAt)))
  }

  /** Under the command that was typed, in line with the agent's own words. */
  print(...lines: string[]): void {
    const indented = lines.flatMap((line) => line.split('\n')).map((line) => (line === '' ? '' : `  ${line}`))
    this.turn.add({ kind: 'lines', lines: indented }, false)
  }

  notice(level: 'info' | 'warning' | 'error', text: string): void {
    this.turn.add({ kind: 'notice', level, text }, false)
  }

  markdown(text: string): void {
    void this.turn
      .prepare()
      .then(() =>
        this.turn.add({ kind: 'lines', lines: this.turn.markdown(text, this.columns - 2).map((line) => `  ${line}`) }),
      )
  }

  choose<T>(dialog: Dialog<T>, signal?: AbortSignal): Promise<Chosen<T> | undefined> {
    const { title, body = [] } = dialog
    return this.#dialogs.show({ title, body, signal }, (done) => new ChoiceView(dialog, done))
  }

  ask(question: TextQuestion, signal?: AbortSignal): Promise<string | undefined> {
    const { title, body = [] } = question
    return this.#dialogs.show({ title, body, signal }, (done) => new TextView(question, done))
  }

  openView<T>(
    title: string,
    make: (done: (value: T | undefined) => void, tools: ViewTools) => View,
  ): Promise<T | undefined> {
    void this.turn.prepare()
    const tools: ViewTools = {
      changed: () => this.changed(),
      markdown: (text, columns) => this.turn.markdown(text, columns),
    }
    return this.#dialogs.show({ title, body: [], isQuiet: true }, (done) => make(done, tools))
  }

  page(title: string, lines: readonly string[]): Promise<void> {
    return this.pageLive(title, (columns) => lines.flatMap((line) => wrap(line, columns)))
  }

  /** The pager over lines that depend on the width and may still grow. */
  pageLive(title: string, lines: (columns: number) => readonly string[], atEnd = false): Promise<void> {
    return new Promise((resolve) => {
      this.#screen.leave()
      const dialogs = this.#dialogs.size
      const done = () => {
        this.#pager = undefined
        this.#screen.back()
        if (!this.#closed) this.#draw()
        resolve()
      }
      this.#pager = new Pager(this.#output, {
        title,
        lines,
        done,
        atEnd,
        awaited: () => this.#dialogs.size > dialogs,
      })
      this.#pager.open()
    })
  }

  async edit(path: string, about = path): Promise<boolean> {
    const editor = this.#env['VISUAL'] || this.#env['EDITOR']
    if (!editor) {
      this.notice('warning', `There is no editor to open ${about} with; set one, such as: export EDITOR=vi`)
      return false
    }
    return this.handOver('/bin/sh', ['-c', `${editor} "$1"`, 'sh', path])
  }

  async handOver(program: string, words: readonly string[]): Promise<boolean> {
    this.#leave()
    const { spawn } = process.getBuiltinModule('node:child_process') // late: a start does without it
    const failure = await new Promise<string | undefined>((resolve) => {
      const child = spawn(program, words, { stdio: 'inherit', env: this.#env })
      child.on('error', ({ message }) => resolve(message))
      child.on('exit', (code, signal) => resolve(code === 0 ? undefined : `exit ${code ?? signal}`))
    })
    this.#return()
    if (failure) this.notice('error', `${program} failed: ${failure}`)
    return failure === undefined
  }

  /** Ctrl-Z: the shell gets the terminal until `fg`. */
  suspend(): void {
    this.#leave()
    const awake = setInterval(() => {}, 60_000) // nothing else keeps the process from ending when it goes on
    process.once('SIGCONT', () => {
      clearInterval(awake)
      this.#return()
    })
    // the whole group, as the terminal itself would: a launcher or npm that waits for us must stop too
    process.kill(0, 'SIGTSTP')
  }

  wipe(): void {
    this.#screen.wipe()
    this.#draw()
  }

  notify(message: string): void {
    this.#window.notify(message)
  }

  async copy(text: string): Promise<boolean> {
    this.#window.copy(text)
    return true
  }

  #leave(): void {
    this.#screen.leave()
    this.#tty.leave()
  }

  #return(): void {
    this.#tty.take()
    this.#screen.back()
    this.#draw()
  }

  #inputs(inputs: readonly Input[]): void {
    for (const input of inputs) {
      const typesOn = this.#dialogs.typesOn()
      const dialog = this.#dialogs.first
      if (this.#pager) for (const one of singles(input)) this.#pager?.press(one)
      else if (typesOn) this.prompt?.press(input)
      else if (wantsBody(input, dialog)) void this.page(dialog.title, dialog.body)
      else this.#dialogs.press(input)
    }
    if (!this.#pager && inputs.length > 0) this.#draw()
  }

  #draw(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#closed || this.#tty.isAway) return
    if (this.#pager) {
      this.#pager.draw()
      return
    }
    const { columns, rows } = this.#screen.measure()
    const unsettled = this.#screen.unsettledMs()
    if (unsettled > 0) {
      this.#timer = setTimeout(() => this.#draw(), unsettled)
      return
    }
    this.#drawnAt = Date.now()
    this.#screen.print(this.turn.take(columns))
    const dialog = this.#dialogs.first
    const frame = (dialog?.view ?? this.prompt)?.draw(columns, rows - 2) ?? { lines: [] }
    const queued = dialog
      ? []
      : this.queued().map((text) => paint('dim', `  ${glyph.prompt} ${clean(text).split('\n')[0]}`))
    const ahead = this.#dialogs.above()
    const room = Math.max(1, rows - frame.lines.length - queued.length - ahead.length - 2)
    const live = this.turn.live(columns, room, this.#drawnAt, dialog !== undefined)
    const above = [...live, ...queued, '', ...ahead]
    this.#screen.draw({
      lines: [...above, ...frame.lines],
      ...(frame.cursor && { cursor: { row: above.length + frame.cursor.row, column: frame.cursor.column } }),
    })
    // the title says who waits for whom
    const state = dialog ? `asks: ${dialog.title}` : this.turn.busy ? 'works' : 'ready'
    this.#window.title(`ona ${state} (${this.place})`)
    if (this.turn.busy && !dialog) this.#timer = setTimeout(() => this.#draw(), spinMs)
  }
}
