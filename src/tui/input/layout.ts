/** A draft as rows on the screen, and the way up and down between them. */

import { clean } from '../render/clean.ts'
import { graphemes, width } from '../render/width.ts'
import type { Draft } from './editor.ts'

export interface Row {
  /** The part of the draft. */
  readonly text: string
  /** The same as it is shown: a tab as spaces, a control character not at all. */
  readonly shown: string
  /** Where in the draft it starts. */
  readonly start: number
}

export interface Layout {
  readonly rows: readonly Row[]
  readonly row: number
  readonly column: number
}

export function layout({ text, cursor }: Draft, columns: number): Layout {
  const rows: Row[] = []
  let start = 0
  for (const line of text.split('\n')) {
    let from = start
    let current = ''
    let shown = ''
    let cells = 0
    for (const part of graphemes(line)) {
      const seen = clean(part)
      const wide = width(seen)
      if (cells + wide > columns && current !== '') {
        rows.push({ text: current, shown, start: from })
        from += current.length
        current = ''
        shown = ''
        cells = 0
      }
      current += part
      shown += seen
      cells += wide
    }
    rows.push({ text: current, shown, start: from })
    start += line.length + 1
  }
  let row = rows.findLastIndex((one) => one.start <= cursor)
  let column = width(seenOf(text.slice(rows[row]!.start, cursor)))
  if (column >= columns) {
    // the cursor stands after a full row: it is shown where the next character will go
    row++
    column = 0
    if (!rows[row] || rows[row]!.start !== cursor) rows.splice(row, 0, { text: '', shown: '', start: cursor })
  }
  return { rows, row, column }
}

/** Character by character: what together would be an escape sequence is not one in a draft. */
const seenOf = (text: string): string => graphemes(text).map(clean).join('')

/** The index one row up or down in about the same column; undefined at the edge. */
export function vertical(draft: Draft, columns: number, by: -1 | 1): number | undefined {
  const { rows, row, column } = layout(draft, columns)
  const target = rows[row + by]
  if (!target) return undefined
  let at = target.start
  let cells = 0
  for (const part of graphemes(target.text)) {
    const next = cells + width(clean(part))
    if (next > column) break
    cells = next
    at += part.length
  }
  return at
}
