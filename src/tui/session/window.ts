/** What is said to the terminal's window: its title, notifications, the clipboard. Control characters never get in. */

/** The window's title before ours is kept by the terminal and given back. */
const keepTitle = '\x1b[22;0t'
const giveTitle = '\x1b[23;0t'

const plain = (text: string): string => text.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ')

export class Window {
  readonly #write: (text: string) => void
  readonly #isQuiet: boolean
  #title = ''

  constructor(write: (text: string) => void, env: NodeJS.ProcessEnv) {
    this.#write = write
    this.#isQuiet = env['ONA_NOTIFICATIONS'] === 'off'
  }

  open(): void {
    this.#write(keepTitle)
  }

  close(): void {
    this.#write(giveTitle)
  }

  title(text: string): void {
    const title = plain(text)
    if (title === this.#title) return
    this.#title = title
    this.#write(`\x1b]0;${title}\x07`)
  }

  /** A desktop notification (OSC 9) and the bell. */
  notify(message: string): void {
    if (!this.#isQuiet) this.#write(`\x1b]9;${plain(message)}\x07\x07`)
  }

  /** By the terminal itself (OSC 52), which also works from another machine. */
  copy(text: string): void {
    this.#write(`\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`)
  }
}
