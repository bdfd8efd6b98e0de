/** Vim's normal and insert mode over the editor: keys are gathered until they make a command. */
import { after, before, change, cut, type Draft, type Editor, insert, lineEnd, lineStart } from './editor.ts'
import { firstWord, motion, object, type Range, rangeTo, steps, wholeLines } from './vim-motions.ts'
import type { Vim } from './vim-state.ts'

const motions = '[hjklwbeWBE0^$G;,]|gg|[fFtT].'
const grammar = new RegExp(
  `^(?<count>[1-9][0-9]*)?(?:(?<simple>[iIaAoOxXDCYpPJuSs.~]|>>|<<|r.)|(?<op>[dcy])(?<count2>[1-9][0-9]*)?(?:(?<line>[dcy])|(?<object>[ia][wW"'\`()[\\]{}bB])|(?<to>${motions}))|(?<motion>${motions}))$`,
  'su',
)
const prefix = /^(?:[1-9]\d*)?(?:[dcy](?:[1-9]\d*)?(?:[iagfFtT])?|[gr<>fFtT])?$/u

/** Takes a typed character in normal mode. */
export function vimType(vim: Vim, editor: Editor, character: string): void {
  vim.pending += character
  const match = grammar.exec(vim.pending)
  if (match) {
    const command = vim.pending
    vim.pending = ''
    run(vim, editor, command, match.groups!)
  } else if (!prefix.test(vim.pending)) vim.pending = ''
}

export function toNormal(vim: Vim, editor: Editor): void {
  vim.pending = ''
  if (vim.mode === 'normal') return
  vim.mode = 'normal'
  const { draft } = editor
  editor.draft = { ...draft, cursor: Math.max(lineStart(draft), before(draft)) }
}

function run(vim: Vim, editor: Editor, command: string, groups: Record<string, string | undefined>): void {
  const count = Number(groups['count'] ?? 1) * Number(groups['count2'] ?? 1)
  if (groups['motion']) {
    const to = motion(vim, editor.draft, groups['motion'], count, groups['count'] !== undefined)
    if (to) editor.draft = rest({ ...editor.draft, cursor: to.at })
    return
  }
  if (command !== '.' && !/^\d*(?:y|u|Y)/.test(command)) vim.last = { command, typed: '' }
  if (groups['simple']) {
    simple(vim, editor, groups['simple'], count)
    return
  }
  const op = groups['op']!
  const range = groups['line']
    ? groups['line'] === op
      ? wholeLines(editor.draft, count)
      : undefined
    : groups['object']
      ? object(editor.draft, groups['object'])
      : rangeTo(vim, editor.draft, op, groups['to']!, count)
  if (range) operate(vim, editor, op, range)
}

function operate(vim: Vim, editor: Editor, op: string, { from, to, lines = false }: Range): void {
  const { text } = editor.draft
  vim.register = { text: text.slice(from, to).replace(/\n$/, lines ? '' : '$&'), lines }
  if (op === 'y') {
    if (!lines) editor.draft = { text, cursor: from }
    return
  }
  if (op === 'c') {
    const end = lines && text[to - 1] === '\n' ? to - 1 : to
    change(editor, cut(editor.draft, from, end))
    vim.mode = 'insert'
    return
  }
  const start = lines && to === text.length && from > 0 && text[to - 1] !== '\n' ? from - 1 : from
  const left = cut(editor.draft, start, to)
  change(editor, rest(lines ? { ...left, cursor: lineStart(left) } : left))
}

const inserting: Record<string, (draft: Draft) => Draft> = {
  i: (draft) => draft,
  a: (draft) => ({ ...draft, cursor: draft.cursor < lineEnd(draft) ? after(draft) : draft.cursor }),
  I: (draft) => ({ ...draft, cursor: firstWord(draft) }),
  A: (draft) => ({ ...draft, cursor: lineEnd(draft) }),
  o: (draft) => insert({ ...draft, cursor: lineEnd(draft) }, '\n'),
  O: (draft) => ({ ...insert({ ...draft, cursor: lineStart(draft) }, '\n'), cursor: lineStart(draft) }),
}

function simple(vim: Vim, editor: Editor, command: string, count: number): void {
  const { draft } = editor
  const start = inserting[command]
  if (start) {
    change(editor, start(draft))
    vim.mode = 'insert'
    return
  }
  const end = lineEnd(draft)
  const span = (from: number, to: number, op: string) => operate(vim, editor, op, { from, to })
  const table: Record<string, () => void> = {
    x: () => span(draft.cursor, Math.min(end, steps(draft, count, after)), 'd'),
    X: () => span(Math.max(lineStart(draft), steps(draft, count, before)), draft.cursor, 'd'),
    s: () => span(draft.cursor, Math.min(end, steps(draft, count, after)), 'c'),
    D: () => span(draft.cursor, end, 'd'),
    C: () => span(draft.cursor, end, 'c'),
    S: () => operate(vim, editor, 'c', wholeLines(draft, count)),
    Y: () => operate(vim, editor, 'y', wholeLines(draft, count)),
    p: () => put(vim, editor, true, count),
    P: () => put(vim, editor, false, count),
    J: () => {
      if (end < draft.text.length)
        change(editor, {
          text: `${draft.text.slice(0, end)} ${draft.text.slice(end + 1).trimStart()}`,
          cursor: end,
        })
    },
    u: () => {
      const last = editor.undone.pop()
      if (last) editor.draft = rest(last)
    },
    '~': () => {
      const letter = draft.text.slice(draft.cursor, after(draft))
      const turned = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
      if (letter !== '\n') change(editor, insert(cut(draft, draft.cursor, after(draft)), turned))
    },
    '>>': () =>
      change(editor, {
        text: `${draft.text.slice(0, lineStart(draft))}  ${draft.text.slice(lineStart(draft))}`,
        cursor: draft.cursor + 2,
      }),
    '<<': () => {
      const from = lineStart(draft)
      const spaces = /^ {0,2}/.exec(draft.text.slice(from))![0].length
      change(editor, {
        text: draft.text.slice(0, from) + draft.text.slice(from + spaces),
        cursor: Math.max(from, draft.cursor - spaces),
      })
    },
    '.': () => repeat(vim, editor),
  }
  if (command[0] === 'r' && draft.cursor < end) {
    const replaced = insert(cut(draft, draft.cursor, after(draft)), command.slice(1))
    change(editor, { ...replaced, cursor: draft.cursor })
  } else table[command]?.()
}

function repeat(vim: Vim, editor: Editor): void {
  const { last } = vim
  const match = last && grammar.exec(last.command)
  if (!match) return
  run(vim, editor, last.command, match.groups!)
  if (vim.mode === 'insert') {
    change(editor, insert(editor.draft, last.typed))
    toNormal(vim, editor)
  }
  vim.last = last
}

function put(vim: Vim, editor: Editor, behind: boolean, count: number): void {
  const { draft } = editor
  const text = vim.register.text.repeat(vim.register.lines ? 1 : count)
  if (text === '') return
  if (!vim.register.lines) {
    const at = behind && draft.cursor < lineEnd(draft) ? after(draft) : draft.cursor
    const put = insert({ ...draft, cursor: at }, text)
    change(editor, { ...put, cursor: Math.max(at, before(put)) })
  } else if (behind) {
    const end = lineEnd(draft)
    change(editor, { ...insert({ ...draft, cursor: end }, `\n${text}`), cursor: end + 1 })
  } else {
    const start = lineStart(draft)
    change(editor, { ...insert({ ...draft, cursor: start }, `${text}\n`), cursor: start })
  }
}

/** In normal mode the cursor stands on a character, not behind the last one. */
function rest(draft: Draft): Draft {
  return draft.cursor > lineStart(draft) && draft.cursor >= lineEnd(draft) ? { ...draft, cursor: before(draft) } : draft
}
