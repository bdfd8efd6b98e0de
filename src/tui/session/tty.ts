/** The terminal as a device: its modes, what it sends made keys, and who has it. */
import { type Input, KeyReader } from '../input/keys.ts'
import {
  askBackground,
  isGone,
  modesOff,
  modesOn,
  type TerminalInput,
  type TerminalOutput,
} from './terminal-streams.ts'

/** How long an Esc may be the start of a longer key; of an answer that the terminal owes us; and the rest of one. */
const escapeMs = 40
const owedMs = 250
const answerMs = 2_000
/** A terminal that has not answered after this long will not. */
const askedMs = 3_000

export interface TtyListener {
  keys(inputs: readonly Input[]): void
  resized(): void
  /** It has reported its background colour. */
  background(reported: string): void
  /** No more will come: the window was closed. */
  ended(): void
}

export class Tty {
  readonly #input: TerminalInput
  readonly #output: TerminalOutput
  readonly #listener: TtyListener
  readonly #keys: KeyReader
  readonly #restore = () => this.#output.write(modesOff)
  #escape: NodeJS.Timeout | undefined
  /** Until then an Esc may be the first piece of the answer to our question for the background. */
  #owedUntil = 0
  /** Another program has it, or it is gone: nothing is drawn. */
  isAway = false

  constructor(input: TerminalInput, output: TerminalOutput, listener: TtyListener) {
    this.#input = input
    this.#output = output
    this.#listener = listener
    this.#keys = new KeyReader((reported) => {
      this.#owedUntil = 0
      listener.background(reported)
    })
  }

  open({ asksBackground }: { asksBackground: boolean }): void {
    this.#input.setEncoding('utf8')
    if (asksBackground) {
      this.#owedUntil = Date.now() + askedMs
      this.#output.write(askBackground)
    }
    this.take()
    this.#input.on('data', (chunk) => this.#data(chunk))
    this.#input.on('end', () => this.#listener.ended())
    this.#output.on('resize', () => this.#listener.resized())
    for (const stream of [this.#input, this.#output]) stream.on('error', (cause) => this.#lost(cause))
    process.on('exit', this.#restore)
  }

  close(): void {
    clearTimeout(this.#escape)
    this.#give()
    this.#input.removeAllListeners('data')
    this.#input.removeAllListeners('end')
    this.#output.removeAllListeners('resize')
    this.#input.pause()
    process.off('exit', this.#restore)
  }

  /** Ours, until `leave`. */
  take(): void {
    this.isAway = false
    this.#raw(true)
    this.#input.resume()
    this.#output.write(modesOn)
  }

  /** Another program's, until `take`. */
  leave(): void {
    this.isAway = true
    this.#give()
    this.#input.pause()
  }

  #give(): void {
    this.#output.write(modesOff)
    this.#raw(false)
  }

  #raw(isRaw: boolean): void {
    try {
      this.#input.setRawMode?.(isRaw)
    } catch (cause) {
      // its window was closed: there is nothing to set any more, and the session ends as it should
      if (!isGone(cause)) throw cause
    }
  }

  /** The terminal itself is gone: the session ends, and nothing more is drawn. */
  #lost(cause: unknown): void {
    if (!isGone(cause)) throw cause
    this.isAway = true
    this.#listener.ended()
  }

  #data(chunk: string): void {
    clearTimeout(this.#escape)
    this.#listener.keys(this.#keys.feed(chunk))
    if (!this.#keys.waiting) return
    const ms = this.#keys.answering ? answerMs : Date.now() < this.#owedUntil ? owedMs : escapeMs
    this.#escape = setTimeout(() => this.#listener.keys(this.#keys.flush()), ms)
  }
}
