/** On a terminal, after a second: how far a command that reads much has come, and how long the rest will take. */

interface Terminal {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** The terminal is not looked at before: its stream takes 3 ms to load. */
export function openProgress(terminal: () => Terminal = () => process.stderr, now = Date.now) {
  const started = now()
  let shown = started + everyMs
  return {
    /** `share`: how much of it is done, from 0 to 1, where that is known. */
    show(done: string, share?: number): void {
      const at = now()
      if (at - shown < everyMs || !terminal().isTTY) return
      shown = at
      const left = share ? `, about ${Math.ceil((((at - started) / share) * (1 - share)) / 1000)} s left` : ''
      terminal().write(`\r${done}${left}\u001b[K`)
    },
    end(): void {
      if (shown > started + everyMs) terminal().write('\r\u001b[K')
    },
  }
}

const everyMs = 500
