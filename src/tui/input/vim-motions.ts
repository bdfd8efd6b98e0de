/** Where vim's motions lead, and what its text objects hold. */
import { after, before, type Draft, lineEnd, lineStart } from './editor.ts'
import type { Vim } from './vim-state.ts'

/** What an operator works on. */
export interface Range {
  readonly from: number
  readonly to: number
  readonly lines?: boolean
}

export const firstWord = (draft: Draft) =>
  lineStart(draft) + /^ */.exec(draft.text.slice(lineStart(draft), lineEnd(draft)))![0].length

export function steps(draft: Draft, count: number, step: (draft: Draft) => number): number {
  let at = draft
  for (let i = 0; i < count; i++) at = { ...at, cursor: step(at) }
  return at.cursor
}

export function wholeLines(draft: Draft, count: number): Range {
  let to = draft.cursor
  for (let i = 0; i < count; i++) {
    const end = lineEnd({ ...draft, cursor: to })
    to = Math.min(draft.text.length, end + 1)
    if (end >= draft.text.length) break
  }
  return { from: lineStart(draft), to, lines: true }
}

export function rangeTo(vim: Vim, draft: Draft, op: string, keys: string, count: number): Range | undefined {
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

export function motion(vim: Vim, draft: Draft, keys: string, count: number, counted: boolean): Target | undefined {
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
export function object(draft: Draft, keys: string): Range | undefined {
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
