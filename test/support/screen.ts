/** For tests: a terminal that is really one (xterm without a window), and what stands on its screen. */
import xterm from '@xterm/headless'

export interface TestTerminal {
  readonly columns: number
  readonly rows: number
  write(text: string): boolean
  resize(columns: number, rows: number): void
  /** Everything from the top of the scrollback, trailing blank lines left off. */
  all(): Promise<string[]>
  cursor(): Promise<{ row: number; column: number }>
  on(event: string, listener: (...args: never[]) => void): void
  removeAllListeners(): void
  /** How many times the program wrote. */
  writes: number
}

export function testTerminal(columns = 80, rows = 24): TestTerminal {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true })
  const listeners: (() => void)[] = []
  const settled = () => new Promise<void>((resolve) => terminal.write('', resolve))
  return {
    writes: 0,
    get columns() {
      return terminal.cols
    },
    get rows() {
      return terminal.rows
    },
    write(text) {
      this.writes++
      terminal.write(text)
      return true
    },
    on: (event, listener) => {
      if (event === 'resize') listeners.push(listener as () => void)
    },
    removeAllListeners: () => listeners.splice(0),
    resize(wide, high) {
      terminal.resize(wide, high)
      for (const listener of listeners) listener()
    },
    async all() {
      await settled()
      const lines: string[] = []
      for (let row = 0; row < terminal.buffer.active.length; row++)
        lines.push(terminal.buffer.active.getLine(row)?.translateToString(true) ?? '')
      while (lines.at(-1) === '') lines.pop()
      return lines
    },
    async cursor() {
      await settled()
      const { baseY, cursorY, cursorX } = terminal.buffer.active
      return { row: baseY + cursorY, column: cursorX }
    },
  }
}

/** A keyboard that a test types on. */
export class Keyboard {
  readonly #listeners: ((chunk: string) => void)[] = []
  type(...chunks: string[]): void {
    for (const chunk of chunks) for (const listener of this.#listeners) listener(chunk)
  }
  on(event: string, listener: (chunk: string) => void): void {
    if (event === 'data') this.#listeners.push(listener)
  }
  setRawMode(): void {}
  setEncoding(): void {}
  resume(): void {}
  pause(): void {}
  removeAllListeners(): void {}
}

/** Waits until the screen shows it. */
export async function until(terminal: TestTerminal, shows: RegExp, withinMs = 30_000): Promise<string[]> {
  const end = Date.now() + withinMs
  for (;;) {
    const lines = await terminal.all()
    if (shows.test(lines.join('\n'))) return lines
    if (Date.now() > end) throw new Error(`the screen never showed ${shows}:\n${lines.join('\n')}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
