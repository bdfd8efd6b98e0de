/** How the list of sessions and the look into one of them are drawn. */
import type { SessionSummary } from '../../../store/session/session-list.ts'
import type { LineInput } from '../../input/line-input.ts'
import { rule } from '../../input/prompt-render.ts'
import { glyph } from '../../render/glyphs.ts'
import type { Frame } from '../../render/screen.ts'
import { bold, paint } from '../../render/style.ts'
import { clip, wrap } from '../../render/width.ts'
import { type RowFacts, rowLines, searchBox } from './session-rows.ts'

export interface ListPicture {
  /** The project, or all of them. */
  readonly place: string
  readonly query: LineInput
  readonly rows: readonly { readonly one: SessionSummary; readonly facts: RowFacts }[]
  /** Which of the rows is picked. */
  readonly at: number
  readonly renaming: LineInput | undefined
  readonly position: string
  readonly isSearching: boolean
  readonly everyProject: boolean
  readonly branch: string | undefined
  readonly onlyBranch: boolean
}

export const mostShown = 10
/** Below this height rows have one line, and the search no box. */
const lowRows = 18
/** From this height on an empty line parts the rows. */
const tallRows = 26

/** In a low window: lines for the keys. */
const footRows = (rows: number): number => (rows < 8 ? 1 : 2)

/** As many sessions as fit between the search and the keys. */
export function roomFor(rows: number, columns: number): number {
  const isLow = rows < lowRows
  const chrome = isLow ? 3 + footRows(rows) : 8 + Math.ceil(100 / columns)
  return Math.max(1, Math.min(mostShown, Math.floor((rows - chrome) / (isLow ? 1 : rows < tallRows ? 2 : 3))))
}

export function drawList(picture: ListPicture, columns: number, rows: number): Frame {
  const low = rows < lowRows
  const title = clip(`${bold('Resume a session')} ${paint('dim', `in ${picture.place}`)}`, columns)
  const box = searchBox(picture.query.draw(columns - 8), columns, low)
  const lines = [paint('accent', rule(columns)), title, ...box.lines, ...(low ? [] : [''])]
  let cursor = { row: 2 + box.row, column: box.column }
  for (const [index, { one, facts }] of picture.rows.entries()) {
    if (index > 0 && rows >= tallRows) lines.push('')
    const here = index === picture.at
    const shown = rowLines(one, facts, { here, low, columns })
    if (here && picture.renaming) {
      const line = picture.renaming.draw(columns - 3)
      cursor = { row: lines.length, column: 2 + line.column }
      shown[0] = `${paint('accent', glyph.pick)} ${line.text}`
    }
    lines.push(...shown)
  }
  if (picture.rows.length === 0) lines.push(paint('dim', `  ${nothing(picture)}`))
  const foot = wrap(hints(picture), columns).map((line) => paint('dim', line))
  return { lines: [...lines, ...(low ? [] : ['']), ...(low ? foot.slice(0, footRows(rows)) : foot)], cursor }
}

function nothing({ isSearching, query, everyProject }: ListPicture): string {
  if (isSearching) return `searching${glyph.more}`
  if (query.text !== '') return `no session matches "${query.text}"`
  return everyProject ? 'no other session' : 'no other session here; ctrl+a lists all projects'
}

function hints({ position, renaming, query, everyProject, branch, onlyBranch }: ListPicture): string {
  const keys = renaming
    ? ['enter to rename', 'esc to go back']
    : [
        'enter to resume',
        query.text === '' ? 'space to preview' : 'tab to preview',
        'ctrl+r to rename',
        everyProject ? 'ctrl+a this project' : 'ctrl+a all projects',
        ...(branch ? [onlyBranch ? 'ctrl+b all branches' : 'ctrl+b this branch'] : []),
        query.text === '' ? 'esc to cancel' : 'esc to clear',
      ]
  return [...(position ? [position] : []), ...keys].join(` ${glyph.dot} `)
}

/** The end of a conversation; `up` counts lines from its end, and comes back as far as there are lines. */
export function drawPreview(
  { title, detail, up }: { readonly title: string; readonly detail: string; readonly up: number },
  conversation: readonly string[],
  columns: number,
  rows: number,
): { frame: Frame; up: number } {
  const head = [paint('accent', rule(columns)), bold(clip(title, columns)), paint('dim', detail), '']
  const foot = ['', paint('dim', clip(previewKeys, columns))]
  const room = Math.max(1, rows - head.length - foot.length)
  const most = Math.max(0, conversation.length - room)
  const from = most - Math.min(up, most)
  return { frame: { lines: [...head, ...conversation.slice(from, from + room), ...foot] }, up: most - from }
}

const previewKeys = ['enter to resume', 'up and down to scroll', 'esc to go back'].join(` ${glyph.dot} `)
