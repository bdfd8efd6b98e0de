/** Server-sent events, taken in as text in whatever pieces it comes; gives the data of each event. */

export interface SseReader {
  push(text: string): void
  /** The stream has ended: an event that lacks only its blank line still counts. */
  end(): void
}

/** Fields other than `data` are ignored: every dialect repeats the event's name in its data. */
export function sseReader(onData: (data: string) => void): SseReader {
  // Pieces of a line that has not ended. A list, so that a line of many megabytes is joined once.
  let open: string[] = []
  let data: string | undefined
  let started = false

  const line = (text: string) => {
    if (text === '') {
      if (data === undefined) return
      const whole = data
      data = undefined
      onData(whole)
    } else if (text.startsWith('data')) {
      const value = text.length === 4 ? '' : text[4] === ':' ? text.slice(text[5] === ' ' ? 6 : 5) : undefined
      if (value !== undefined) data = data === undefined ? value : `${data}\n${value}`
    }
  }

  const lines = (text: string) => {
    let from = 0
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      const rest = text.slice(from, at)
      from = at + 1
      if (open.length === 0) line(rest)
      else {
        open.push(rest)
        const whole = open.join('')
        open = []
        line(whole)
      }
    }
    if (from < text.length) open.push(from === 0 ? text : text.slice(from))
  }

  // A carriage return at the end of a piece is held back: the line feed that belongs to it may come next.
  let heldReturn = false
  return {
    push(piece) {
      let text = heldReturn ? `\r${piece}` : piece
      heldReturn = false
      if (!started && text !== '') {
        started = true
        if (text.charCodeAt(0) === 0xfeff) text = text.slice(1)
      }
      if (text.includes('\r')) {
        heldReturn = text.endsWith('\r')
        if (heldReturn) text = text.slice(0, -1)
        text = text.replace(/\r\n?/g, '\n')
      }
      lines(text)
    },
    end() {
      lines('\n\n')
    },
  }
}
