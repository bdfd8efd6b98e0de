/** Cuts text that comes in pieces into lines. */

export interface Cut {
  readonly lines: readonly string[]
  /** How much there is of the line that has not ended. */
  readonly openLength: number
}

/** The open line is looked at once, when it ends: in small pieces it costs no more than in one. */
export function lineCutter(): (text: string) => Cut {
  let open = ''
  return (text) => {
    open += text
    if (!text.includes('\n')) return { lines: [], openLength: open.length }
    const lines = open.split('\n')
    open = lines.pop()!
    return { lines, openLength: open.length }
  }
}
