/** Vim's normal and insert mode over the editor: keys are gathered until they make a command. */
import { after, before, change, cut, type Draft, type Editor, insert, lineEnd, lineStart } from './editor.ts'

export interface Vim {
  mode: 'insert' | 'normal'
  /** The command as far as it is typed. */
  pending: string
  register: { text: string; lines: boolean }
  find?: { readonly kind: string; readonly letter: string }
  /** For `.`: the last command that changed something, and what was typed in insert mode after it. */
  last?: { readonly command: string; typed: string }
}

export const newVim = (): Vim => ({ mode: 'insert', pending: '', register: { text: '', lines: false } })

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
  vim.mode = 'normal'
  vim.pending = ''
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

interface Range {
  readonly from: number
  readonly to: number
  readonly lines?: boolean
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

const firstWord = (draft: Draft) =>
  lineStart(draft) + /^ */.exec(draft.text.slice(lineStart(draft), lineEnd(draft)))![0].length

function steps(draft: Draft, count: number, step: (draft: Draft) => number): number {
  let at = draft
  for (let i = 0; i < count; i++) at = { ...at, cursor: step(at) }
  return at.cursor
}

function wholeLines(draft: Draft, count: number): Range {
  let to = draft.cursor
  for (let i = 0; i < count; i++) {
    const end = lineEnd({ ...draft, cursor: to })
    to = Math.min(draft.text.length, end + 1)
    if (end >= draft.text.length) break
  }
  return { from: lineStart(draft), to, lines: true }
}

function rangeTo(vim: Vim, draft: Draft, op: string, keys: string, count: number): Range | undefined {
  const word = op === 'c' && /[wW]/.test(keys) && /\S/.test(draft.text[draft.cursor] ?? '')
  // from one before: on a word's last letter `cw` changes that letter, not the next word
  const to = word
    ? motion(vim, { ...draft, cursor: draft.cursor - 1 }, keys === 'w' ? 'e' : 'E', count, true)
    : motion(vim, draft, keys, count, true)
  if (!to) return undefined
  if (to.lines) {
    const [first, last] = [Math.min(draft.cursor, to.at), Math.max(draft.cursor, to.at)]
    const end = lineEnd({ ...draft, cursor: last })
    return { from: lineStart({ ...draft, cursor: first }), to: Math.min(draft.text.length, end + 1), lines: true }
  }
  const from = Math.min(draft.cursor, to.at)
  const end = Math.max(draft.cursor, to.at)
  return { from, to: to.inclusive ? Math.min(draft.text.length, after({ ...draft, cursor: end })) : end }
}

interface Target {
  readonly at: number
  readonly inclusive?: boolean
  readonly lines?: boolean
}

function motion(vim: Vim, draft: Draft, keys: string, count: number, counted: boolean): Target | undefined {
  const { text, cursor } = draft
  const [kind, letter] = [keys[0]!, keys.slice(1)]
  if (/[fFtT]/.test(kind)) vim.find = { kind, letter }
  if (kind === ';' && vim.find) return find(draft, vim.find.kind, vim.find.letter, count, true)
  if (kind === ',' && vim.find) {
    const turned =
      vim.find.kind === vim.find.kind.toLowerCase() ? vim.find.kind.toUpperCase() : vim.find.kind.toLowerCase()
    return find(draft, turned, vim.find.letter, count, true)
  }
  const table: Record<string, () => Target | undefined> = {
    h: () => ({ at: Math.max(lineStart(draft), steps(draft, count, before)) }),
    l: () => ({ at: Math.min(lineEnd(draft), steps(draft, count, after)) }),
    j: () => lineBy(draft, count),
    k: () => lineBy(draft, -count),
    0: () => ({ at: lineStart(draft) }),
    '^': () => ({ at: firstWord(draft) }),
    $: () => ({ at: lineEnd(draft) }),
    G: () => ({
      at: counted && count > 1 ? lineNumber(text, count) : lineStart({ text, cursor: text.length }),
      lines: true,
    }),
    g: () => ({ at: lineNumber(text, count), lines: true }),
    w: () => ({ at: steps(draft, count, (one) => wordStart(one, kindOf)) }),
    W: () => ({ at: steps(draft, count, (one) => wordStart(one, bigKindOf)) }),
    b: () => ({ at: steps(draft, count, (one) => wordBack(one, kindOf)) }),
    B: () => ({ at: steps(draft, count, (one) => wordBack(one, bigKindOf)) }),
    e: () => ({ at: steps(draft, count, (one) => wordEnd(one, kindOf)), inclusive: true }),
    E: () => ({ at: steps(draft, count, (one) => wordEnd(one, bigKindOf)), inclusive: true }),
  }
  const simple = table[kind]
  return simple ? simple() : find({ text, cursor }, kind, letter, count, false)
}

function find(draft: Draft, kind: string, letter: string, count: number, again: boolean): Target | undefined {
  const forward = kind === 'f' || kind === 't'
  const short = kind === 't' || kind === 'T'
  let at = draft.cursor + (again && short ? (forward ? 1 : -1) : 0)
  for (let i = 0; i < count; i++) {
    at = forward ? draft.text.indexOf(letter, at + 1) : at > 0 ? draft.text.lastIndexOf(letter, at - 1) : -1
    if (at < 0) return undefined
  }
  return { at: at + (short ? (forward ? -1 : 1) : 0), inclusive: forward }
}

function lineBy(draft: Draft, by: number): Target | undefined {
  const lines = draft.text.split('\n')
  const row = draft.text.slice(0, draft.cursor).split('\n').length - 1
  const target = Math.min(lines.length - 1, Math.max(0, row + by))
  if (target === row) return undefined
  const start = lines.slice(0, target).reduce((sum, line) => sum + line.length + 1, 0)
  return { at: start + Math.min(draft.cursor - lineStart(draft), lines[target]!.length), lines: true }
}

const lineNumber = (text: string, number: number) =>
  text
    .split('\n')
    .slice(0, number - 1)
    .reduce((sum, line) => sum + line.length + 1, 0)

type KindOf = (letter: string | undefined) => 'blank' | 'word' | 'mark'
const kindOf: KindOf = (letter) =>
  letter === undefined || /\s/.test(letter) ? 'blank' : /[\p{L}\p{N}_]/u.test(letter) ? 'word' : 'mark'
const bigKindOf: KindOf = (letter) => (letter === undefined || /\s/.test(letter) ? 'blank' : 'word')

function wordStart({ text, cursor }: Draft, kind: KindOf): number {
  let at = cursor
  const here = kind(text[at])
  while (at < text.length && here !== 'blank' && kind(text[at]) === here) at++
  while (at < text.length && kind(text[at]) === 'blank') at++
  return at
}

function wordBack({ text, cursor }: Draft, kind: KindOf): number {
  let at = cursor - 1
  while (at > 0 && kind(text[at]) === 'blank') at--
  while (at > 0 && kind(text[at - 1]) === kind(text[at])) at--
  return Math.max(0, at)
}

function wordEnd({ text, cursor }: Draft, kind: KindOf): number {
  let at = cursor + 1
  while (at < text.length && kind(text[at]) === 'blank') at++
  while (at + 1 < text.length && kind(text[at + 1]) === kind(text[at])) at++
  return Math.min(at, Math.max(0, text.length - 1))
}

const pairs: Record<string, readonly [string, string]> = {
  '(': ['(', ')'],
  ')': ['(', ')'],
  b: ['(', ')'],
  '[': ['[', ']'],
  ']': ['[', ']'],
  '{': ['{', '}'],
  '}': ['{', '}'],
  B: ['{', '}'],
}

/** `iw`, `a"`, `i(` and their like. */
function object(draft: Draft, keys: string): Range | undefined {
  const { text, cursor } = draft
  const around = keys[0] === 'a'
  const what = keys[1]!
  if (what === 'w' || what === 'W') {
    const kind = what === 'w' ? kindOf : bigKindOf
    let [from, to] = [cursor, cursor]
    while (from > 0 && text[from - 1] !== '\n' && kind(text[from - 1]) === kind(text[cursor])) from--
    while (to < text.length && text[to] !== '\n' && kind(text[to]) === kind(text[cursor])) to++
    const end = to
    if (around) while (to < text.length && text[to] === ' ') to++
    if (around && to === end) while (from > 0 && text[from - 1] === ' ') from--
    return { from, to }
  }
  const pair = pairs[what]
  if (!pair) {
    const start = lineStart(draft)
    const line = text.slice(start, lineEnd(draft))
    const marks = [...line.matchAll(new RegExp(what, 'g'))].map((match) => start + match.index)
    for (let i = 0; i + 1 < marks.length; i += 2)
      if (cursor <= marks[i + 1]!)
        return around ? { from: marks[i]!, to: marks[i + 1]! + 1 } : { from: marks[i]! + 1, to: marks[i + 1]! }
    return undefined
  }
  const open = seek(text, text[cursor] === pair[0] ? cursor : cursor - (text[cursor] === pair[1] ? 1 : 0), pair, -1)
  const close = open === undefined ? undefined : seek(text, open + 1, [pair[1], pair[0]], 1)
  if (open === undefined || close === undefined) return undefined
  return around ? { from: open, to: close + 1 } : { from: open + 1, to: close }
}

/** The bracket that holds a place, inner pairs passed over. */
function seek(text: string, start: number, [wanted, other]: readonly [string, string], by: 1 | -1): number | undefined {
  let depth = 0
  for (let at = start; at >= 0 && at < text.length; at += by) {
    if (text[at] === wanted && depth-- === 0) return at
    if (text[at] === other) depth++
  }
  return undefined
}
