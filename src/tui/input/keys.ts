/** Bytes from the terminal made keys: `ctrl+a`, `alt+enter`, `shift+tab`, typed text, and pasted text as one piece. */

import { withoutEscapes } from '../render/clean.ts'

export type Input = { readonly key: string } | { readonly text: string } | { readonly paste: string }

const pasteStart = '\x1b[200~'
const pasteEnd = '\x1b[201~'
const answer = /^\x1b\]\d/
const csi = /^\x1b\[([0-9;:<?]*)([A-Za-z~])/
const ss3: Record<string, string> = { A: 'up', B: 'down', C: 'right', D: 'left', H: 'home', F: 'end', P: 'f1', Q: 'f2' }
const letters: Record<string, string> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  Z: 'shift+tab',
}
const tildes: Record<string, string> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
}
const named: Record<number, string> = {
  9: 'tab',
  13: 'enter',
  27: 'esc',
  32: 'space',
  127: 'backspace',
  57414: 'enter',
}

/** Holds what has come in part: half an escape sequence, or a paste that goes on. */
export class KeyReader {
  #rest = ''
  #paste: string[] | undefined
  readonly #onBackground: (reported: string) => void

  /** `onBackground`: the terminal reports its background colour, as `rgb:ffff/ffff/ffff`, among the keys. */
  constructor(onBackground: (reported: string) => void = () => {}) {
    this.#onBackground = onBackground
  }

  /** A lone Esc waits in here until `flush`, for it may be the start of a key. */
  get waiting(): boolean {
    return this.#rest !== '' && this.#paste === undefined
  }

  /** What waits is an answer of the terminal that has come in part: no key begins like this. */
  get answering(): boolean {
    return this.waiting && answer.test(this.#rest)
  }

  feed(chunk: string): Input[] {
    const found: Input[] = []
    let rest = this.#rest + chunk
    this.#rest = ''
    while (rest !== '') {
      if (this.#paste) {
        const end = rest.indexOf(pasteEnd)
        if (end < 0) {
          const keep = partOf(rest, pasteEnd)
          this.#paste.push(rest.slice(0, rest.length - keep))
          this.#rest = rest.slice(rest.length - keep)
          return found
        }
        this.#paste.push(rest.slice(0, end))
        found.push({ paste: withoutEscapes(this.#paste.join('').replace(/\r\n?/g, '\n')) })
        this.#paste = undefined
        rest = rest.slice(end + pasteEnd.length)
        continue
      }
      if (rest.startsWith(pasteStart)) {
        this.#paste = []
        rest = rest.slice(pasteStart.length)
        continue
      }
      const step = next(rest)
      if (!step) {
        this.#rest = rest
        return found
      }
      if (step.input) found.push(step.input)
      if (step.background) this.#onBackground(step.background)
      rest = rest.slice(step.length)
    }
    return found
  }

  /** No more came: what waited is the Esc key, and what followed it. Half an answer is dropped. */
  flush(): Input[] {
    if (!this.waiting) return []
    if (this.answering) {
      this.#rest = ''
      return []
    }
    const rest = this.#rest.slice(1)
    this.#rest = ''
    return [{ key: 'esc' }, ...(rest ? this.feed(rest) : [])]
  }
}

/** How many characters at the end of the text could begin the mark. */
function partOf(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--)
    if (text.endsWith(mark.slice(0, length))) return length
  return 0
}

/** One key off the front; undefined while it is incomplete. */
function next(text: string): { input?: Input; background?: string; length: number } | undefined {
  if (text[0] !== '\x1b') return plain(text)
  if (text.length === 1) return undefined
  if (text[1] === '[') {
    const match = csi.exec(text)
    if (match) return { input: control(match[1]!, match[2]!), length: match[0].length }
    if (/^\x1b\[[0-9;:<?]*$/.test(text)) return text.length > 32 ? { length: text.length } : undefined
    return { length: 2 }
  }
  if (text[1] === 'O') {
    if (text.length === 2) return undefined
    const name = ss3[text[2]!]
    return { input: name ? { key: name } : undefined, length: 3 }
  }
  if (text[1] === ']' || text[1] === 'P' || text[1] === '_') {
    const end = /\x07|\x1b\\/.exec(text.slice(2))
    const background = /^\x1b\]11;(rgba?:[0-9a-fA-F/]+)/.exec(text)?.[1]
    if (end) return { ...(background && { background }), length: 2 + end.index + end[0].length }
    return text.length > 4096 ? { length: text.length } : undefined
  }
  // no key of ours is Alt with a control letter: it is Esc, and another key close behind
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f]/.test(text[1]!)) return { input: { key: 'esc' }, length: 1 }
  const inner = plain(text.slice(1))
  const length = 1 + inner.length
  if ('text' in inner.input)
    return { input: { key: `alt+${[...inner.input.text][0]}` }, length: 1 + [...inner.input.text][0]!.length }
  return { input: 'key' in inner.input ? { key: `alt+${inner.input.key}` } : undefined, length }
}

function plain(text: string): { input: Input; length: number } {
  const code = text.charCodeAt(0)
  if (code === 0x0d) return { input: { key: 'enter' }, length: 1 }
  if (code === 0x0a) return { input: { key: 'ctrl+j' }, length: 1 }
  if (code === 0x09) return { input: { key: 'tab' }, length: 1 }
  if (code === 0x7f || code === 0x08) return { input: { key: 'backspace' }, length: 1 }
  if (code === 0x1f) return { input: { key: 'ctrl+_' }, length: 1 }
  if (code < 0x20) return { input: { key: `ctrl+${String.fromCharCode(code + 0x60)}` }, length: 1 }
  const run = /^[^\x00-\x1f\x7f]+/.exec(text)![0]
  return { input: { text: run }, length: run.length }
}

/** CSI sequences, with the modifiers of xterm and of the kitty keyboard protocol. */
function control(parameters: string, final: string): Input | undefined {
  const [first = '', second = ''] = parameters.split(';')
  const bits = Math.max(0, Number(second.split(':')[0] || 1) - 1)
  const modifiers = `${bits & 4 ? 'ctrl+' : ''}${bits & 2 ? 'alt+' : ''}${bits & 1 ? 'shift+' : ''}`
  if (final === '~' && first === '27') return typed(Number(parameters.split(';')[2]), bits, modifiers)
  if (final === '~') return tildes[first] ? { key: modifiers + tildes[first] } : undefined
  if (final === 'u') return typed(Number(first.split(':')[0]), bits, modifiers)
  return letters[final] ? { key: modifiers + letters[final] } : undefined
}

function typed(code: number, bits: number, modifiers: string): Input | undefined {
  if (!(code > 0 && code < 0x110000)) return undefined
  const name = named[code] ?? String.fromCodePoint(code)
  if (code >= 57344 && code <= 63743 && !named[code]) return undefined
  if (!(bits & 6) && !named[code]) return { text: bits & 1 ? name.toUpperCase() : name }
  if (code === 32 && !(bits & 6)) return { text: ' ' }
  return { key: (bits & 6 && !named[code] ? modifiers.replace('shift+', '') : modifiers) + name }
}
