/** How the input line looks. */

import { glyph } from '../render/glyphs.ts'
import type { Frame } from '../render/screen.ts'
import { bold, paint } from '../render/style.ts'
import { clip, pad, width } from '../render/width.ts'
import type { Menu } from './complete.ts'
import type { Draft } from './editor.ts'
import { layout } from './layout.ts'

export interface PromptPicture {
  readonly draft: Draft
  readonly menu: (Menu & { readonly at: number }) | undefined
  readonly search: string | undefined
  readonly help: boolean
  readonly hint: string
  readonly status: readonly string[]
  readonly busy: boolean
  readonly vim: 'insert' | 'normal' | undefined
  /** Shown where the arguments of a command will stand. */
  readonly arguments: string
}

const menuRows = 8
/** A rule across the window. */
export const rule = (columns: number): string => glyph.rule.repeat(columns)

export function drawPrompt(picture: PromptPicture, columns: number, rows: number): Frame {
  const { draft } = picture
  const shell = draft.text.startsWith('!')
  const role = shell ? 'warn' : draft.text.startsWith('#') ? 'plan' : picture.busy ? 'dim' : 'accent'
  const place = layout(draft, columns - 3)
  const most = Math.max(1, Math.min(place.rows.length, Math.floor(rows / 2)))
  const from = Math.max(0, Math.min(place.row - most + 1, place.rows.length - most))
  const lines = [paint(shell ? 'warn' : 'dim', rule(columns))]
  for (const [index, row] of place.rows.slice(from, from + most).entries())
    lines.push(`${index === 0 ? paint(role, from > 0 ? glyph.more[0]! : glyph.prompt) : ' '} ${row.shown}`)
  const cursor = { row: 1 + place.row - from, column: 2 + place.column }
  const ghost = draft.text === '' ? placeholder(picture) : picture.arguments
  if (ghost) lines[1] += paint('dim', ghost)
  lines.push(...below(picture, columns, Math.max(2, rows - lines.length)))
  return { lines, cursor }
}

function placeholder({ busy, search }: PromptPicture): string {
  if (search !== undefined) return ''
  return busy ? 'type ahead: enter queues it' : 'ask for something, / for commands, ? for keys'
}

function below(
  { menu, search, help, hint, status, vim, draft }: PromptPicture,
  columns: number,
  rows: number,
): string[] {
  if (search !== undefined)
    return [
      clip(paint('dim', `search history: ${search}_  (ctrl+r older, tab keeps, enter runs, ctrl+c leaves)`), columns),
    ]
  if (menu) return menuLines(menu, columns, Math.min(menuRows, rows - 1))
  if (help) return helpLines(columns, rows)
  const lead = hint
    ? [paint('warn', hint)]
    : draft.text.startsWith('!')
      ? [paint('warn', 'shell: runs at once, the agent sees the output')]
      : draft.text.startsWith('#')
        ? [paint('plan', 'memory: enter keeps this for later')]
        : []
  const mode = vim === 'normal' ? [bold('-- NORMAL --')] : vim === 'insert' ? [paint('dim', '-- INSERT --')] : []
  const head = [...lead, ...mode].join('  ')
  return (head ? [head, ...status] : [...status]).map((line) => clip(line, columns))
}

function menuLines({ items, at, title }: Menu & { at: number }, columns: number, rows: number): string[] {
  if (items.length === 0) return [paint('dim', clip(title ?? 'nothing matches', columns))]
  const from = Math.max(0, Math.min(at - Math.floor(rows / 2), items.length - rows))
  const shown = items.slice(from, from + rows)
  const wide = Math.min(
    Math.max(...shown.map(({ label }) => width(label))),
    Math.floor(columns * (columns < 80 ? 0.42 : 0.55)),
  )
  const lines = shown.map(({ label, hint }, index) => {
    const text = pad(clip(label, wide), wide)
    const here = from + index === at
    return clip(`${here ? paint('accent', `${glyph.pick} ${text}`) : `  ${text}`}  ${paint('dim', hint)}`, columns)
  })
  if (items.length > rows) lines.push(paint('dim', `  ${at + 1} of ${items.length}`))
  return lines
}

/** The keys, for `?` and /help. */
export const keyTable: readonly (readonly [string, string])[] = [
  ['/', 'commands'],
  ['@', 'a file, folder or agent'],
  ['!', 'a shell command'],
  ['#', 'keep a memory'],
  ['enter', 'send; while the agent works: queue'],
  ['\\ enter, ctrl+j, alt+enter', 'new line'],
  ['esc', 'interrupt; twice: rewind, or clear the line'],
  ['ctrl+c', 'interrupt, clear, twice: leave'],
  ['ctrl+d twice', 'leave'],
  ['shift+tab', 'cycle the permission mode'],
  ['ctrl+o', 'the full transcript'],
  ['ctrl+r', 'search what was typed before'],
  ['up, down', 'what was typed before'],
  ['ctrl+g', 'write in $EDITOR'],
  ['ctrl+t', 'show or hide the todo list'],
  ['ctrl+b', 'send the running command to the background'],
  ['ctrl+v', 'paste an image from the clipboard'],
  ['ctrl+s', 'put the draft aside, and back'],
  ['alt+p', 'choose a model'],
  ['ctrl+l', 'redraw the screen'],
  ['ctrl+z', 'suspend'],
  ['ctrl+_', 'undo'],
]

function helpLines(columns: number, rows: number): string[] {
  const across = columns >= 120 ? 2 : 1
  const room = Math.floor(columns / across) - 1
  const keys = room < 56 ? Math.floor(room / 3) : Math.max(...keyTable.map(([key]) => key.length))
  const cells = keyTable.map(([key, about]) => `${bold(pad(key, keys))}  ${paint('dim', about)}`)
  const height = Math.ceil(cells.length / across)
  const lines = Array.from({ length: height }, (_, row) =>
    Array.from({ length: across }, (_, column) => pad(clip(cells[row + column * height] ?? '', room), room))
      .join(' ')
      .trimEnd(),
  )
  return height > rows ? [...lines.slice(0, rows - 1), paint('dim', `${glyph.more} /keybindings shows all`)] : lines
}
