/** The full terminal: keys in, frames out, and the dialogs in between. */
import { ChoiceView } from '../dialogs/choice-view.ts'
import { TextView } from '../dialogs/text-view.ts'
import { type Input, KeyReader } from '../input/keys.ts'
import { plural } from '../render/format.ts'
import { glyph } from '../render/glyphs.ts'
import { Pager } from '../render/pager.ts'
import { type Output, Screen } from '../render/screen.ts'
import { paint } from '../render/style.ts'
import { TurnView } from '../render/turn-view.ts'
import type { View } from '../render/view.ts'
import { wrap } from '../render/width.ts'
import type { Chosen, Dialog, Front, TextQuestion } from './front.ts'

export interface TerminalInput {
  setRawMode?(raw: boolean): unknown
  setEncoding(encoding: 'utf8'): unknown
  on(event: 'data', listener: (chunk: string) => void): unknown
  on(event: 'end', listener: () => void): unknown
  resume(): unknown
  pause(): unknown
  removeAllListeners(event: string): unknown
}

export interface TerminalOutput extends Output {
  on(event: 'resize', listener: () => void): unknown
  removeAllListeners(event: string): unknown
}

/** Bracketed paste, and keys that can be told apart (kitty's protocol, where the terminal has it). */
const modesOn = '\x1b[?2004h\x1b[>1u'
/** Asks for the background colour; the answer comes in like a key (OSC 11). */
const askBackground = '\x1b]11;?\x07'
const modesOff = '\x1b[<u\x1b[?2004l\x1b[?25h'
/** The window's title before ours is kept by the terminal and given back. */
const keepTitle = '\x1b[22;0t'
const giveTitle = '\x1b[23;0t'
/** Streaming is drawn at most this often; keys are drawn at once. */
const frameMs = 33
const spinMs = 120
/** How long an Esc may be the start of a longer key. */
const escapeMs = 40
/** A wait this long gets a bell. */
const bellMs = 6_000
/** Whoever types when a dialog comes up goes on typing into the line until they pause this long. */
const pauseMs = 700

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
  readonly #input: TerminalInput
  readonly #output: TerminalOutput
  readonly #env: NodeJS.ProcessEnv
  readonly #screen: Screen
  readonly #keys = new KeyReader((reported) => this.onBackground?.(reported))
  readonly #dialogs: { view: View; body: readonly string[]; title: string; afterPause: boolean }[] = []
  #typedAt = 0
  #pager: Pager | undefined
  #timer: NodeJS.Timeout | undefined
  #escape: NodeJS.Timeout | undefined
  #drawnAt = 0
  #away = false
  #closed = false
  #title = ''
  readonly #restore = () => this.#output.write(modesOff)

  constructor(input: TerminalInput, output: TerminalOutput, env: NodeJS.ProcessEnv = process.env) {
    this.#input = input
    this.#output = output
    this.#env = env
    this.#screen = new Screen(output, env)
    this.turn = new TurnView(() => this.changed())
    this.turn.columns = () => this.columns
  }

  get columns(): number {
    return this.#screen.columns
  }

  open(): void {
    this.#input.setEncoding('utf8')
    this.#output.write(keepTitle)
    if (this.onBackground) this.#output.write(askBackground)
    this.#take()
    this.#input.on('data', (chunk) => this.#data(chunk))
    this.#input.on('end', () => this.onEnd())
    this.#output.on('resize', () => this.#draw())
    process.on('exit', this.#restore)
    this.#draw()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#escape)
    this.#pager?.close()
    this.turn.release()
    this.#screen.print(this.turn.take(this.columns))
    this.#screen.draw({ lines: [] })
    this.#screen.leave()
    this.#give()
    this.#output.write(giveTitle)
    this.#input.removeAllListeners('data')
    this.#input.removeAllListeners('end')
    this.#output.removeAllListeners('resize')
    this.#input.pause()
    process.off('exit', this.#restore)
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
    return this.#show(dialog.title, dialog.body ?? [], signal, (done) => new ChoiceView(dialog, done))
  }

  ask(question: TextQuestion, signal?: AbortSignal): Promise<string | undefined> {
    return this.#show(question.title, question.body ?? [], signal, (done) => new TextView(question, done))
  }

  /** A dialog has the keyboard until it is answered or withdrawn; the one opened first is answered first. */
  #show<T>(
    title: string,
    body: readonly string[],
    signal: AbortSignal | undefined,
    make: (done: (value: T | undefined) => void) => View,
  ): Promise<T | undefined> {
    return new Promise((resolve) => {
      if (signal?.aborted) {
        resolve(undefined)
        return
      }
      const bell = setTimeout(() => this.notify(title), bellMs).unref()
      const finish = (value: T | undefined) => {
        const at = this.#dialogs.indexOf(entry)
        if (at < 0) return
        clearTimeout(bell)
        this.#dialogs.splice(at, 1)
        signal?.removeEventListener('abort', withdraw)
        this.changed()
        resolve(value)
      }
      const withdraw = () => finish(undefined)
      const typing = Date.now() - this.#typedAt < pauseMs && (this.prompt?.text ?? '') !== ''
      const entry = { view: make(finish), body, title, afterPause: typing && this.#dialogs.length === 0 }
      signal?.addEventListener('abort', withdraw)
      this.#dialogs.push(entry)
      this.changed()
    })
  }

  page(title: string, lines: readonly string[]): Promise<void> {
    return this.pageLive(title, (columns) => lines.flatMap((line) => wrap(line, columns)))
  }

  /** The pager over lines that depend on the width and may still grow. */
  pageLive(title: string, lines: (columns: number) => readonly string[], atEnd = false): Promise<void> {
    return new Promise((resolve) => {
      this.#screen.leave()
      const dialogs = this.#dialogs.length
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
        awaited: () => this.#dialogs.length > dialogs,
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
    if (this.#env['ONA_NOTIFICATIONS'] !== 'off')
      this.#output.write(`\x1b]9;${message.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ')}\x07\x07`)
  }

  /** By the terminal itself (OSC 52), which also works from another machine. */
  async copy(text: string): Promise<boolean> {
    this.#output.write(`\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`)
    return true
  }

  /** The window's title says who waits for whom. */
  #titled(): void {
    const [dialog] = this.#dialogs
    const state = dialog ? `asks: ${dialog.title}` : this.turn.busy ? 'works' : 'ready'
    const title = `ona ${state} (${this.place})`.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ')
    if (title === this.#title) return
    this.#title = title
    this.#output.write(`\x1b]0;${title}\x07`)
  }

  #leave(): void {
    this.#away = true
    this.#screen.leave()
    this.#give()
    this.#input.pause()
  }

  #return(): void {
    this.#away = false
    this.#take()
    this.#screen.back()
    this.#draw()
  }

  #take(): void {
    this.#input.setRawMode?.(true)
    this.#input.resume()
    this.#output.write(modesOn)
  }

  #give(): void {
    this.#output.write(modesOff)
    this.#input.setRawMode?.(false)
  }

  #data(chunk: string): void {
    clearTimeout(this.#escape)
    this.#inputs(this.#keys.feed(chunk))
    if (this.#keys.waiting) this.#escape = setTimeout(() => this.#inputs(this.#keys.flush()), escapeMs)
  }

  #inputs(inputs: readonly Input[]): void {
    for (const input of inputs) {
      const now = Date.now()
      const [dialog] = this.#dialogs
      // a dialog must not be answered by a key that was meant for the line
      if (dialog && now - this.#typedAt >= pauseMs) dialog.afterPause = false
      this.#typedAt = now
      if (this.#pager) this.#pager.press(input)
      else if (!dialog || dialog.afterPause) this.prompt?.press(input)
      else if ('key' in input && input.key === 'ctrl+o' && dialog.body.length > 0)
        void this.page(dialog.title, dialog.body)
      else dialog.view.press(input)
    }
    if (!this.#pager && inputs.length > 0) this.#draw()
  }

  #draw(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#closed || this.#away) return
    if (this.#pager) {
      this.#pager.draw()
      return
    }
    const { columns, rows } = this.#screen.measure()
    this.#drawnAt = Date.now()
    this.#screen.print(this.turn.take(columns))
    const view = this.#dialogs[0]?.view ?? this.prompt
    const frame = view?.draw(columns, rows - 2) ?? { lines: [] }
    const queued =
      this.#dialogs.length > 0
        ? []
        : this.queued().map((text) => paint('dim', `  ${glyph.prompt} ${text.split('\n')[0]}`))
    const typing = this.#dialogs[0]?.afterPause ? [paint('dim', `  your line: ${this.prompt?.text ?? ''}`)] : []
    const more =
      this.#dialogs.length > 1
        ? [paint('warn', `  ${plural(this.#dialogs.length - 1, 'more question')} after this one`)]
        : []
    const live = this.turn.live(
      columns,
      Math.max(1, rows - frame.lines.length - queued.length - more.length - typing.length - 2),
      this.#drawnAt,
      this.#dialogs.length > 0,
    )
    const above = [...live, ...queued, '', ...typing, ...more]
    this.#screen.draw({
      lines: [...above, ...frame.lines],
      ...(frame.cursor && { cursor: { row: above.length + frame.cursor.row, column: frame.cursor.column } }),
    })
    this.#titled()
    if (this.turn.busy && this.#dialogs.length === 0) this.#timer = setTimeout(() => this.#draw(), spinMs)
  }
}
