/** A text being written and the place in it: every motion and change as a plain function. */
import { graphemes } from '../render/width.ts'

export interface Draft {
  readonly text: string
  /** Index into `text`, never inside a grapheme. */
  readonly cursor: number
}

export const emptyDraft: Draft = { text: '', cursor: 0 }
export const draftOf = (text: string): Draft => ({ text, cursor: text.length })

export const insert = ({ text, cursor }: Draft, added: string): Draft => ({
  text: text.slice(0, cursor) + added + text.slice(cursor),
  cursor: cursor + added.length,
})

export const cut = ({ text }: Draft, from: number, to: number): Draft => ({
  text: text.slice(0, Math.min(from, to)) + text.slice(Math.max(from, to)),
  cursor: Math.min(from, to),
})

export const lineStart = ({ text, cursor }: Draft): number => text.lastIndexOf('\n', cursor - 1) + 1

export function lineEnd({ text, cursor }: Draft): number {
  const end = text.indexOf('\n', cursor)
  return end < 0 ? text.length : end
}

/** One grapheme to the left; a folded paste counts as one. */
export function before({ text, cursor }: Draft): number {
  if (cursor === 0) return 0
  const chip = /\[(?:Pasted text|Image) #\d+[^\]\n]*\]$/.exec(text.slice(Math.max(0, cursor - 60), cursor))
  if (chip) return cursor - chip[0].length
  return cursor - graphemes(text.slice(Math.max(0, cursor - 40), cursor)).at(-1)!.length
}

export function after({ text, cursor }: Draft): number {
  if (cursor >= text.length) return text.length
  const chip = /^\[(?:Pasted text|Image) #\d+[^\]\n]*\]/.exec(text.slice(cursor, cursor + 60))
  if (chip) return cursor + chip[0].length
  return cursor + graphemes(text.slice(cursor, cursor + 40))[0]!.length
}

const inWord = /[\p{L}\p{N}_]/u

function wordLeft({ text, cursor }: Draft): number {
  let at = cursor
  while (at > 0 && !inWord.test(text[at - 1]!)) at--
  while (at > 0 && inWord.test(text[at - 1]!)) at--
  return at
}

function wordRight({ text, cursor }: Draft): number {
  let at = cursor
  while (at < text.length && !inWord.test(text[at]!)) at++
  while (at < text.length && inWord.test(text[at]!)) at++
  return at
}

/** The shell's idea of a word, for Ctrl-W: up to white space. */
function blankLeft({ text, cursor }: Draft): number {
  let at = cursor
  while (at > 0 && /\s/.test(text[at - 1]!)) at--
  while (at > 0 && !/\s/.test(text[at - 1]!)) at--
  return at
}

/** What the keys need beside the draft: what can be undone, and what was killed. */
export interface Editor {
  draft: Draft
  undone: Draft[]
  kills: string[]
  /** Where the last yank lies, for Alt-Y. */
  yanked?: { readonly from: number; readonly index: number }
}

export const newEditor = (): Editor => ({ draft: emptyDraft, undone: [], kills: [] })

/** Sets the draft; the old one can be had back. Typing goes into one step of undo a word. */
export function change(editor: Editor, draft: Draft): void {
  const last = editor.undone.at(-1)
  const typing = draft.text.length === editor.draft.text.length + 1 && /\S$/.test(draft.text.slice(0, draft.cursor))
  if (draft.text !== editor.draft.text && !(typing && last && editor.draft.text.length - last.text.length < 20)) {
    editor.undone.push(editor.draft)
    if (editor.undone.length > 200) editor.undone.shift()
  }
  editor.draft = draft
  editor.yanked = undefined
}

function kill(editor: Editor, from: number, to: number): void {
  if (from === to) return
  editor.kills.push(editor.draft.text.slice(Math.min(from, to), Math.max(from, to)))
  change(editor, cut(editor.draft, from, to))
}

const go = (where: (draft: Draft) => number) => (editor: Editor) => {
  editor.draft = { ...editor.draft, cursor: where(editor.draft) }
}

/** The keys of Emacs and readline that need nothing but the text. */
const keys: Record<string, (editor: Editor) => void> = {
  left: go(before),
  right: go(after),
  'ctrl+b': go(before),
  'ctrl+f': go(after),
  'alt+b': go(wordLeft),
  'alt+f': go(wordRight),
  'alt+left': go(wordLeft),
  'alt+right': go(wordRight),
  'ctrl+left': go(wordLeft),
  'ctrl+right': go(wordRight),
  home: go(lineStart),
  end: go(lineEnd),
  'ctrl+a': go(lineStart),
  'ctrl+e': go(lineEnd),
  'ctrl+home': go(() => 0),
  'ctrl+end': go(({ text }) => text.length),
  backspace: (editor) => change(editor, cut(editor.draft, before(editor.draft), editor.draft.cursor)),
  'ctrl+h': (editor) => change(editor, cut(editor.draft, before(editor.draft), editor.draft.cursor)),
  delete: (editor) => change(editor, cut(editor.draft, editor.draft.cursor, after(editor.draft))),
  'ctrl+d': (editor) => change(editor, cut(editor.draft, editor.draft.cursor, after(editor.draft))),
  'ctrl+k': (editor) => {
    const end = lineEnd(editor.draft)
    kill(editor, editor.draft.cursor, end === editor.draft.cursor ? after(editor.draft) : end)
  },
  'ctrl+u': (editor) => {
    const start = lineStart(editor.draft)
    kill(editor, start === editor.draft.cursor ? before(editor.draft) : start, editor.draft.cursor)
  },
  'ctrl+w': (editor) => kill(editor, blankLeft(editor.draft), editor.draft.cursor),
  'alt+backspace': (editor) => kill(editor, wordLeft(editor.draft), editor.draft.cursor),
  'ctrl+backspace': (editor) => kill(editor, wordLeft(editor.draft), editor.draft.cursor),
  'alt+d': (editor) => kill(editor, editor.draft.cursor, wordRight(editor.draft)),
  'ctrl+y': (editor) => yank(editor, editor.kills.length - 1, editor.draft.cursor),
  'alt+y': (editor) => {
    const { yanked } = editor
    if (yanked) yank(editor, (yanked.index - 1 + editor.kills.length) % editor.kills.length, yanked.from)
  },
  'ctrl+_': (editor) => {
    const last = editor.undone.pop()
    if (last) editor.draft = last
  },
  'ctrl+j': (editor) => change(editor, insert(editor.draft, '\n')),
  'alt+enter': (editor) => change(editor, insert(editor.draft, '\n')),
  'shift+enter': (editor) => change(editor, insert(editor.draft, '\n')),
}

function yank(editor: Editor, index: number, from: number): void {
  const text = editor.kills[index]
  if (text === undefined) return
  const cleared = editor.yanked ? cut(editor.draft, from, editor.draft.cursor) : editor.draft
  change(editor, insert({ ...cleared, cursor: from }, text))
  editor.yanked = { from, index }
}

/** Whether the key was one of these. */
export function press(editor: Editor, key: string): boolean {
  keys[key]?.(editor)
  return key in keys
}
