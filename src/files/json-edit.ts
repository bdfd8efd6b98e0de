/** Another program's JSON file: read with positions, changed in place, everything around the change kept. */
import { isDeepStrictEqual } from 'node:util'
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { Problem } from './problem.ts'

export type Path = readonly (string | number)[]
type Fields = Record<string, unknown>

/** The object in the text; comments and trailing commas are let through, anything else wrong is a Problem with its place. */
export function parseObject(text: string, file: string): { value: Fields } {
  const value = strictValue(text)
  // every key counted in the text is in the value: none is there twice
  if (isFields(value) && keysInText(text) === keysIn(value)) return { value }
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first) throw new Problem(`${file}:${place(text, first.offset)}: ${inWords(first)}; nothing was written`)
  if (tree?.type !== 'object') throw new Problem(`${file}:1:1: the file must hold one JSON object; nothing was written`)
  const twice = keyTwice(tree)
  // readers take the last of two, and an edit would change the first
  if (twice)
    throw new Problem(
      `${file}:${place(text, twice.offset)}: the key ${text.slice(twice.offset, twice.offset + twice.length)} is there twice; nothing was written`,
    )
  // the parser's objects have no prototype, which strict comparison would count as a difference
  return { value: JSON.parse(JSON.stringify(getNodeValue(tree))) }
}

/** What strict JSON reads; undefined where it reads nothing. Ten times faster than the tree. */
function strictValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // a comment, a trailing comma or a fault: the tree knows where
  }
}

/** How many keys a strict JSON text has: strings that a colon follows. */
function keysInText(text: string): number {
  let count = 0
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?/g)) if (token.endsWith(':')) count++
  return count
}

function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value)
  return inside.reduce((sum: number, one) => sum + keysIn(one), Array.isArray(value) ? 0 : inside.length)
}

/** The second of two equal keys in one object. */
function keyTwice(node: Node): Node | undefined {
  const seen = new Set<string>()
  for (const child of node.children ?? []) {
    const key = node.type === 'object' ? child.children?.[0] : undefined
    if (key && seen.has(key.value as string)) return key
    if (key) seen.add(key.value as string)
    const inside = keyTwice(child)
    if (inside) return inside
  }
  return undefined
}

/** Where strict JSON would stop reading, for agents that allow neither comments nor trailing commas. */
export function notStrict(text: string): string | null {
  if (strictValue(text) !== undefined) return null
  const errors: ParseError[] = []
  parseTree(text, errors, { allowTrailingComma: false, disallowComments: true })
  return errors[0] ? place(text, errors[0].offset) : null
}

/** "12:5", counted from one as editors do. */
export function place(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/)
  return `${before.length}:${before.at(-1)!.length + 1}`
}

/**
 * A text that is changed step by step. Only the characters of the change are touched: jsonc-parser's own `modify` also
 * spreads out the lines beside it. What is put in and taken out again leaves no trace.
 */
export class JsonEdit {
  text: string
  readonly #unit: string
  readonly #eol: string
  #tree: { readonly of: string; readonly node: Node | undefined } | undefined

  constructor(text: string, unit?: string, eol?: string) {
    this.text = text
    this.#unit = unit ?? /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
    this.#eol = eol ?? (text.includes('\r\n') ? '\r\n' : '\n')
  }

  /** Sets, or with undefined takes away, what is at the path. */
  set(path: Path, value: unknown): void {
    const node = this.#at(path)
    const key = path.at(-1)!
    if (node && value === undefined) this.#remove(node.parent?.type === 'property' ? node.parent : node)
    else if (node)
      this.#splice(node.offset, node.length, this.#render(value, this.#indentAt(node.offset), this.#isSpread(node)))
    else if (value !== undefined) {
      const parent = this.#at(path.slice(0, -1))
      if (parent) this.#add(parent, parent.children!.length, value, `${JSON.stringify(key)}: `)
      else this.set(path.slice(0, -1), { [key]: value })
    }
  }

  /** Puts the value into a list, at the place that the last word of the path says. */
  insert(path: Path, value: unknown): void {
    this.#add(this.#at(path.slice(0, -1))!, path.at(-1) as number, value, '')
  }

  /** Takes away a list or an object in which nothing is left, not even a comment. */
  prune(path: Path): void {
    const node = this.#at(path)
    if (node && /^[[{]\s*[\]}]$/.test(this.text.slice(node.offset, endOf(node)))) this.set(path, undefined)
  }

  /**
   * Makes a list hold these items, old ones by their index and perhaps with a new value, new ones by their value, in one pass:
   * for changes so many that one edit after another would take seconds. False, and nothing done, where a comment stands
   * between the items.
   */
  relist(
    path: Path,
    items: readonly { readonly from?: number; readonly old?: unknown; readonly value?: unknown }[],
  ): boolean {
    const list = this.#at(path)
    const children = list?.children ?? []
    const [first, second] = children
    if (!list || !first) return false
    const ends = [list.offset + 1, ...children.map(endOf)]
    const starts = [...children.map(({ offset }) => offset), endOf(list) - 1]
    if (starts.some((start, at) => !/^[\s,]*$/.test(this.text.slice(ends[at]!, start)))) return false
    const spread = this.#isSpread(first)
    const indent = this.#indentAt(first.offset)
    const gap = second ? this.text.slice(endOf(first), second.offset) : spread ? `,${this.#eol}${indent}` : ', '
    const texts = items.map(({ from, old, value }) => {
      const node = from === undefined ? undefined : children[from]
      if (!node) return this.#render(value, indent, spread)
      const part = new JsonEdit(this.text.slice(node.offset, endOf(node)), this.#unit, this.#eol)
      if (value !== undefined) part.turn([], old, value)
      return part.text
    })
    const inside =
      this.text.slice(ends[0]!, starts[0]!) + texts.join(gap) + this.text.slice(ends.at(-1)!, starts.at(-1)!)
    this.#splice(list.offset, list.length, items.length === 0 ? '[]' : `[${inside}]`)
    return true
  }

  /** Turns one value into another by the fewest settings, so that what is the same keeps its place and spacing. */
  turn(path: Path, from: unknown, to: unknown): void {
    if (isDeepStrictEqual(from, to)) return
    if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
      for (const [index, value] of to.entries()) this.turn([...path, index], from[index], value)
    } else if (isFields(from) && isFields(to)) {
      for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) this.set([...path, key], undefined)
      for (const [key, value] of Object.entries(to)) this.turn([...path, key], from[key], value)
    } else this.set(path, to)
  }

  #at(path: Path): Node | undefined {
    if (this.#tree?.of !== this.text)
      this.#tree = { of: this.text, node: parseTree(this.text, [], { allowTrailingComma: true }) }
    const { node } = this.#tree
    return node && findNodeAtLocation(node, [...path])
  }

  #splice(offset: number, length: number, replacement: string) {
    this.text = this.text.slice(0, offset) + replacement + this.text.slice(offset + length)
  }

  #add(parent: Node, index: number, value: unknown, label: string) {
    const children = parent.children!
    const [first, before, after] = [children[0], children[index - 1], children[index]]
    const close = parent.offset + parent.length - 1
    if (!first) {
      const outer = this.#indentAt(parent.offset)
      const inner = outer + this.#unit
      const item = this.#eol + inner + label + this.#render(value, inner, true)
      const comments = this.text.slice(parent.offset + 1, close).trimEnd()
      if (comments !== '') return this.#splice(parent.offset + 1 + comments.length, 0, item)
      return this.#splice(parent.offset + 1, close - parent.offset - 1, item + this.#eol + outer)
    }
    const spread = this.#isSpread(first)
    const indent = this.#indentAt(first.offset)
    const line = this.#eol + indent
    const gap = spread ? line : ' '
    const item = label + this.#render(value, indent, spread)
    if (after && (!before || (spread && this.#isSpread(after)))) return this.#splice(after.offset, 0, `${item},${gap}`)
    if (after) return this.#splice(this.#comma(endOf(before!), after.offset)! + 1, 0, `${gap}${item},`)
    // behind whatever is said about the last one; a comma that the user leaves at the end stays at the end
    const end = endOf(before!)
    const trailing = this.#comma(end, close) !== null
    const behind = end + this.text.slice(end, close).trimEnd().length
    const lead = this.#endsInComment(end, behind) ? line : gap
    this.#splice(behind, 0, lead + item + (trailing ? ',' : ''))
    if (!trailing) this.#splice(end, 0, ',')
  }

  #remove(child: Node) {
    const parent = child.parent!
    const children = parent.children!
    const index = children.indexOf(child)
    const [previous, next] = [children[index - 1], children[index + 1]]
    const [open, close] = [parent.offset + 1, endOf(parent) - 1]
    const end = endOf(child)
    const comma = this.#comma(end, next?.offset ?? close)
    const around = this.text.slice(open, child.offset) + this.text.slice(end, close)
    if (children.length === 1 && /^[\s,]*$/.test(around)) return this.#splice(open, close - open, '')
    // what is said between it and its comma stays
    const own = comma !== null && this.text.slice(end, comma).trim() === '' ? comma + 1 : end
    if (comma !== null && own === end) this.#splice(comma, 1, '')
    const start = this.text.slice(0, child.offset).trimEnd().length
    const onItsLine = !/^[ \t]*\r?\n/.test(this.text.slice(own))
    // the first one leaves its line to the one behind it, and nothing moves up behind a comment
    const first = !previous && next !== undefined
    const stays = first || (onItsLine && this.#endsInComment(previous ? endOf(previous) : open, start))
    const from = stays ? child.offset : start
    const to = first ? own + this.text.slice(own).search(/\S/) : own
    const before = previous && comma === null ? this.#comma(endOf(previous), child.offset) : null
    this.#splice(from, to - from, '')
    if (before !== null) this.#splice(before, 1, '')
  }

  /** Where the comma between two things is; what is in comments does not count. */
  #comma(from: number, to: number): number | null {
    const gap = this.text.slice(from, to).replace(comment, (said) => ' '.repeat(said.length))
    return gap.includes(',') ? from + gap.indexOf(',') : null
  }

  /** Whether what stands between two things ends in a comment that takes the rest of its line. */
  #endsInComment(from: number, to: number): boolean {
    const gap = this.text.slice(from, to)
    const last = [...gap.matchAll(comment)].at(-1)?.[0] ?? ''
    return last.startsWith('//') && gap.endsWith(last)
  }

  /** Whether the node begins a line. */
  #isSpread(node: Node): boolean {
    return /(^|\n)[ \t]*$/.test(this.text.slice(0, node.offset))
  }

  #indentAt(offset: number): string {
    return /[ \t]*/.exec(this.text.slice(this.text.lastIndexOf('\n', offset - 1) + 1))![0]
  }

  #render(value: unknown, indent: string, spread: boolean): string {
    return spread ? JSON.stringify(value, null, this.#unit).replaceAll('\n', this.#eol + indent) : onOneLine(value)
  }
}

const comment = /\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g

const endOf = ({ offset, length }: Node): number => offset + length

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  if (!isFields(value)) return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${onOneLine(field)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** CloseBraceExpected becomes "a close brace is expected here". */
function inWords({ error }: ParseError): string {
  const words = printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  return words.endsWith(' expected') ? `${words} here` : words
}
