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
  /** How many times the program wrote. */
  writes: number
}

export function testTerminal(columns = 80, rows = 24): TestTerminal {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true })
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
    resize: (wide, high) => terminal.resize(wide, high),
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
