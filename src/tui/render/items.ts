/** What has happened in a conversation, as things to show: short in the scrollback, in full on Ctrl-O. */
import type { HookNote } from '../../hooks/plane.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import type { Display, Todo, ToolOutput } from '../../tools/output.ts'
import { clean, cleanLine } from './clean.ts'
import { diffLines } from './diff-view.ts'
import { duration, plural } from './format.ts'
import { glyph } from './glyphs.ts'
import { cleanOutput } from './output-text.ts'
import { bold, colours, onGround, paint, type Role, struck } from './style.ts'
import { clip, width, wrap, wrapUnder } from './width.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly summary: string
  readonly input: JsonObject
  startedAt: number
  /** What it said while it ran, the last of it. */
  progress: string
  output?: ToolOutput
  ms?: number
  outcome?: 'ran' | 'denied' | 'intercepted' | 'interrupted' | 'invalid'
  /** Calls of a sub-agent that this call started. */
  readonly calls: ToolCall[]
  /** What hooks did to it. */
  readonly notes: HookNote[]
}

type Level = 'info' | 'warning' | 'error'

export type Item =
  | { readonly kind: 'user'; readonly text: string; readonly shown?: string }
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'tool'; readonly call: ToolCall }
  | { readonly kind: 'hook'; readonly note: HookNote }
  | {
      readonly kind: 'notice'
      readonly level: Level
      readonly text: string /** It stands where the answer would. */
      readonly isAnswer?: true
    }
  | { readonly kind: 'lines'; readonly lines: readonly string[] }
  /** Lines that fit, or must not be broken. */
  | { readonly kind: 'drawn'; readonly lines: readonly string[] }

/** Lines of a result that the scrollback gets, from its head and from its tail; the rest is a key away. */
const short = { head: 3, tail: 2 }
/** Of a failure more: the reason often stands in the middle. */
const shortFailure = { head: 5, tail: 4 }
const shortDiff = 24

export function itemLines(
  item: Item,
  columns: number,
  full: boolean,
  markdown: (text: string, columns: number) => string[],
): string[] {
  switch (item.kind) {
    case 'user':
      return userLines(full ? item.text : (item.shown ?? item.text), columns, full)
    case 'answer': {
      const lines = answerLines(markdown(item.text, columns - 2))
      // in the scrollback a long line of code stays one line, to be copied; in full nothing may be cut off
      return full ? lines.flatMap((line) => wrapUnder(line, columns)) : lines
    }
    case 'thinking':
      return full ? wrap(clean(item.text), columns - 2).map((line) => paint('dim', `  ${line}`)) : []
    case 'tool':
      return toolLines(item.call, columns, full)
    case 'hook':
      return hookLines(item.note, columns)
    case 'notice':
      return noticeLines(item, columns)
    case 'drawn':
      return [...item.lines]
    case 'lines':
      return item.lines.flatMap((line) => wrapUnder(line, columns))
  }
}

function userLines(text: string, columns: number, full: boolean): string[] {
  const lines = clean(text)
    .split('\n')
    .flatMap((line) => wrap(line, columns - 3))
  const most = full ? Number.POSITIVE_INFINITY : 30
  const margin = colours() ? ' ' : ''
  const shown = lines
    .slice(0, most)
    .map((line, row) => onGround('prompt', paint('user', `${row === 0 ? glyph.prompt : ' '} ${line}`) + margin))
  return lines.length > most
    ? [...shown, paint('dim', `  ${glyph.more} +${plural(lines.length - most, 'line')}`)]
    : shown
}

/** The agent's own words stand beside one mark. */
export const answerLines = (lines: readonly string[], first = true): string[] =>
  lines.map((line, row) => (line === '' ? '' : `${first && row === 0 ? glyph.tool : ' '} ${line}`))

const outcomes: Record<NonNullable<ToolCall['outcome']>, { role: Role; word: string }> = {
  ran: { role: 'good', word: '' },
  denied: { role: 'bad', word: 'denied' },
  intercepted: { role: 'warn', word: 'answered by a hook' },
  interrupted: { role: 'warn', word: 'interrupted' },
  invalid: { role: 'bad', word: 'bad input' },
}

/** One line: what is called, how it went, how long it took. */
export function toolHead(call: ToolCall, columns: number, mark?: string): string {
  const state = call.outcome ? outcomes[call.outcome] : { role: 'dim' as const, word: '' }
  const role = call.outcome === 'ran' && call.output?.isError ? 'bad' : state.role
  const time = call.ms === undefined || call.ms < shortMs ? '' : duration(call.ms)
  const how = [state.word, statusOf(call)].filter(Boolean).join(` ${glyph.dot} `)
  const tail = [how, time].filter(Boolean).join(` ${glyph.dot} `)
  const name = shownNames[call.name] ?? cleanLine(call.name)
  const room = columns - width(name) - tail.length - 6
  const about = call.name === 'EnterPlanMode' ? '' : cleanLine(call.summary).replace(/^#+ /, '')
  const summary = clip(about, Math.max(8, room))
  return `${paint(role, mark ?? glyph.tool)} ${bold(name)}${summary ? `(${summary})` : ''}${how ? ` ${paint(role, how)}` : ''}${time ? paint('dim', tail === time ? ` ${time}` : ` ${glyph.dot} ${time}`) : ''}`
}

/** Tools whose own names say little to a user. */
const shownNames: Record<string, string> = { EnterPlanMode: 'Plan mode', ExitPlanMode: 'Plan', TodoWrite: 'Todos' }

/** What took less is not worth a number. */
const shortMs = 100

/** How a command ended, when that was not exit 0. */
const statusOf = ({ output }: ToolCall): string =>
  output?.display?.kind === 'output' ? (output.display.status ?? '') : ''

function toolLines(call: ToolCall, columns: number, full: boolean): string[] {
  const lines = [toolHead(call, columns), ...call.notes.flatMap((note) => hookLines(note, columns))]
  if (call.calls.length > 0) lines.push(...treeLines(call.calls, columns, full ? call.calls.length : 3))
  const said = new Set(call.notes.flatMap(({ reason }) => reason.split('\n')))
  const isShown = call.outcome === 'denied' && call.output?.content.split('\n').every((line) => said.has(line))
  return isShown ? lines : [...lines, ...under(resultLines(call, columns - 4, full), full)]
}

/** A sub-agent's calls, the last ones. */
export function treeLines(calls: readonly ToolCall[], columns: number, most: number, spin?: string): string[] {
  const shown = calls.slice(-most)
  const left = calls.length - shown.length
  const head = left > 0 ? [paint('dim', `  ${glyph.branch} ${glyph.more} ${plural(left, 'earlier call')}`)] : []
  return [
    ...head,
    ...shown.map(
      (call) => `  ${paint('dim', glyph.branch)} ${toolHead(call, columns - 4, call.outcome ? undefined : spin)}`,
    ),
  ]
}

function under(lines: readonly string[], full: boolean): string[] {
  const most = full ? Number.POSITIVE_INFINITY : shortDiff + 2
  return lines.slice(0, most).map((line, row) => `  ${row === 0 ? paint('dim', glyph.under) : ' '} ${line}`)
}

function resultLines({ output, progress, outcome }: ToolCall, columns: number, full: boolean): string[] {
  if (!output) return progress ? fold(progress, columns, full) : []
  // why it was denied, and by which rule, stands to its end
  if (outcome === 'denied' && !full)
    return wrap(cleanLine(output.content), columns)
      .slice(0, reasonLines)
      .map((line) => paint('bad', line))
  if (output.display) return displayLines(output.display, output, columns, full)
  const lines = fold(output.content, columns, full, output.isError)
  return output.isError ? lines.map((line) => paint('bad', line)) : lines.map((line) => paint('dim', line))
}

function displayLines(display: Display, output: ToolOutput | undefined, columns: number, full: boolean): string[] {
  if (display.kind === 'todos') return todoLines(display.todos, columns)
  if (display.kind === 'diff') {
    const counts = `${paint('added', `+${display.added}`)} ${paint('removed', `-${display.removed}`)}`
    return [
      `${clip(cleanLine(display.path), columns - 12)} ${counts}`,
      ...diffLines(display.patch, { path: display.path, columns, ...(!full && { most: shortDiff }) }),
    ]
  }
  // the output of a failure is to be read: the mark and the exit code are red, the text is not
  const painted = (text: string) =>
    fold(text, columns, full, output?.isError).map((line) => (full || output?.isError ? line : paint('dim', line)))
  if (display.kind === 'output') return painted(full ? display.text : display.text.replace(onlyErrors, ''))
  return painted(full ? (display.full ?? (output?.content || display.summary)) : display.summary)
}

/** Where a command printed errors alone, the line that parts them from the rest says nothing. */
const onlyErrors = /^\s*--- stderr ---\n/

/** A reason longer than this is in the full transcript. */
const reasonLines = 4

function fold(text: string, columns: number, full: boolean, failed = false): string[] {
  const lines = cleanOutput(text, full)
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .trimEnd()
    .split('\n')
  if (full) return lines.flatMap((line) => wrap(line, columns))
  if (lines.length === 1 && lines[0] === '') return ['(no output)']
  const { head, tail } = failed ? shortFailure : short
  const clipped = (part: readonly string[]) => part.map((line) => clip(line, columns))
  // a fold that hides one line would take that line's place
  if (lines.length - head - tail <= 1) return clipped(lines)
  // empty lines beside the fold say nothing
  const shown = [lines.slice(0, head).join('\n').trimEnd().split('\n'), lines.slice(-tail)] as const
  const end = shown[1].slice(shown[1].findIndex((line) => line.trim() !== ''))
  const more = `${glyph.more} +${plural(lines.length - shown[0].length - end.length, 'line')} (ctrl+o shows all)`
  return [...clipped(shown[0]), more, ...clipped(end)]
}

const todoMarks: Record<Todo['status'], (text: string) => string> = {
  completed: (text) => `${paint('good', glyph.done)} ${paint('dim', struck(text))}`,
  in_progress: (text) => `${paint('accent', glyph.doing)} ${bold(text)}`,
  pending: (text) => `${paint('dim', glyph.open)} ${text}`,
}

export const todoLines = (todos: readonly Todo[], columns: number): string[] =>
  todos.length === 0
    ? [paint('dim', '(no todos)')]
    : todos.map((todo) => todoMarks[todo.status](clip(cleanLine(todo.content), columns - 4)))

/** The todos around the one in progress, at most so many rows; what is left out is counted. */
export function nearTodos(todos: readonly Todo[], rows: number, columns: number): string[] {
  if (todos.length <= rows) return todoLines(todos, columns)
  const room = rows - 1
  const at = todos.findIndex(({ status }) => status !== 'completed')
  const from = Math.max(0, Math.min(at - 1, todos.length - room))
  const hidden = [...todos.slice(0, from), ...todos.slice(from + room)]
  const done = hidden.filter(({ status }) => status === 'completed').length
  const counts = [
    ...(done > 0 ? [`+${done} done`] : []),
    ...(hidden.length > done ? [`+${hidden.length - done} to do`] : []),
  ]
  const more = paint('dim', `${glyph.more} ${counts.join(', ')}`)
  return [...todoLines(todos.slice(from, from + room), columns), more]
}

/** A hook without a name goes by its command; so much of it. */
const longestName = 48

/** Who changed or stopped what, and why. */
export function hookLines({ hook, event, effect, reason }: HookNote, columns: number): string[] {
  const role = effect === 'denied' || effect === 'blocked' || effect === 'failed' ? 'bad' : 'warn'
  const text = `hook ${clip(cleanLine(hook), longestName)} ${effect}${reason ? `: ${cleanLine(reason)}` : ''} (${event})`
  return wrap(text, columns - 4).map((line, row) => `${row === 0 ? paint(role, `  ${glyph.hook}`) : '   '} ${line}`)
}

function noticeLines({ level, text, isAnswer }: Extract<Item, { kind: 'notice' }>, columns: number): string[] {
  const role = level === 'info' ? 'dim' : level === 'warning' ? 'warn' : 'bad'
  const mark = isAnswer ? glyph.tool : ' '
  return wrap(clean(text), columns - 2).map((line, row) => paint(role, `${row === 0 ? mark : ' '} ${line}`))
}
