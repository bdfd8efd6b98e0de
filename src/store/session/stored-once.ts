/**
 * A long text is stored once, in the transcript: an output in its `tool_result`, an input in the entry that holds the call. Hooks
 * were given it too: their rows name it instead, and readers put it back. See docs/decisions/2026-11-15-outputs-once.md.
 */
import type { Invocation } from '../../hooks/plane.ts'
import { isObject } from '../../hooks/shape.ts'
import { readJson } from '../../hooks/text/json-text.ts'
import type { ReadDb } from '../open.ts'
import { storable } from '../secrets.ts'

/** Shorter ones stay in the row: a reference would save little. */
const longFrom = 2048

/** Calls by their ids: the entry that holds each, and its input. */
export type StoredUses = ReadonlyMap<string, { readonly sequence: number; readonly input: unknown }>

/** The calls that an entry of the transcript holds. */
export function usesIn(entry: object, sequence: number): StoredUses {
  const { content } = entry as { readonly content?: unknown }
  const blocks = Array.isArray(content) ? content : [entry]
  const uses = blocks.filter((block) => isObject(block) && (block['type'] ?? block['_t']) === 'tool_use')
  return new Map((uses as { id: string; input: unknown }[]).map(({ id, input }) => [id, { sequence, input }]))
}

/** A call's result, and the entry that holds it. */
export interface StoredResult {
  readonly sequence: number
  readonly id: unknown
  readonly content: unknown
}

/** The rows of hooks as they are stored, beside these calls and this result. */
export function withReferences(
  invocations: readonly Invocation[],
  uses: StoredUses = new Map(),
  result?: StoredResult,
): readonly Invocation[] {
  let last: { readonly id: string; readonly given: string; readonly stored: string } | undefined
  return invocations.map((each) => {
    const { toolUseId: id, inputJson: given } = each
    if (given.includes(opening)) return { ...each, inputJson: asLiteral(given) }
    if (id === null || given.length < longFrom) return each
    // hooks of a round are given the very same text
    if (last?.given !== given || last.id !== id)
      last = { id, given, stored: shortened(given, textsOf(id, uses.get(id), result)) }
    return { ...each, inputJson: last.stored }
  })
}

/** Words of others that look like a reference are no reference: the same JSON, spelled otherwise. */
export const asLiteral = (inputJson: string): string =>
  inputJson.replaceAll(opening, (found) => found.replace('s', '\\u0073'))

interface StoredText {
  readonly text: string
  readonly reference: object
}

/** By the number of the entry: a model may use the same id for two calls. */
function textsOf(id: string, use: { sequence: number; input: unknown } | undefined, result?: StoredResult) {
  const texts: StoredText[] = []
  if (use)
    eachLong(use.input, '/input', (text, at) =>
      texts.push({ text, reference: { tool_use_id: id, entry: use.sequence, at } }),
    )
  if (result?.id === id)
    eachLong(result.content, '/content', (text, at) =>
      texts.push({ text, reference: { tool_use_id: id, entry: result.sequence, at } }),
    )
  return texts
}

function shortened(given: string, texts: readonly StoredText[]): string {
  if (texts.length === 0) return given
  try {
    return JSON.stringify(JSON.parse(given), (_, value: unknown) => {
      if (typeof value !== 'string' || value.length < longFrom) return value
      const kept = asStored(value)
      const stored = kept.length < longFrom ? undefined : texts.find(({ text }) => text.startsWith(kept))
      return stored ? { [marker]: { ...stored.reference, characters: kept.length } } : value
    })
  } catch {
    return given // it is stored as it is
  }
}

/** Long strings within a value as they are stored, each with its place as a JSON pointer. */
function eachLong(value: unknown, at: string, found: (text: string, pointer: string) => void): void {
  if (typeof value === 'string') {
    const kept = value.length < longFrom ? value : asStored(value)
    if (kept.length >= longFrom) found(kept, at)
  } else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value))
      eachLong(inner, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, found)
}

/** A text without its secrets, as it can be read back. Empty where that is not possible. */
function asStored(text: string): string {
  const json = JSON.stringify(text)
  const kept = storable(json)
  if (kept === json) return text
  const read = readJson(kept)
  return read.ok ? String(read.value) : ''
}

/** What a hook was given, whole. A text that was erased or is missing stays a reference. */
export function withTexts(db: ReadDb, sessionId: string, inputJson: string): string {
  const holders = new Map<string, unknown>() // an input may have hundreds of texts: its entry is read once
  const held = (entry: number, id: string): unknown => {
    const key = `${entry} ${id}`
    if (!holders.has(key)) holders.set(key, holderOf(db, sessionId, entry, id))
    return holders.get(key)
  }
  return inputJson.replaceAll(references, (reference, about: string) => {
    const { tool_use_id: id, entry, at, input, characters } = JSON.parse(about) as Reference
    const text =
      entry === undefined ? outputOf(db, sessionId, id, characters) : textAt(held(entry, id), at ?? `/input${input}`)
    return text === undefined || text.length < characters ? reference : JSON.stringify(text.slice(0, characters))
  })
}

interface Reference {
  readonly tool_use_id: string
  /** Until 2026-11-18 an output was named by its call alone, and for a time an input by its place within the input. */
  readonly entry?: number
  readonly at?: string
  readonly input?: string
  readonly characters: number
}

/** The only output that is so long; undefined where calls of one id have several. */
function outputOf(db: ReadDb, sessionId: string, id: string, characters: number): string | undefined {
  const rows = db.all<{ payload: string }>(
    `SELECT payload_json AS payload FROM transcript_entries
     WHERE session_id = ? AND tool_use_id = ? AND +entry_type = 'tool_result' AND json_valid(payload_json)`,
    sessionId,
    id,
  )
  const outputs = new Set(rows.map(({ payload }) => textAt(JSON.parse(payload), '/content')))
  const [text, ...others] = [...outputs].filter((output) => output !== undefined && output.length >= characters)
  return others.length === 0 ? text : undefined
}

/** The call in an entry, or its result. */
function holderOf(db: ReadDb, sessionId: string, sequence: number, id: string): unknown {
  const row = db.get<{ payload: string }>(
    'SELECT payload_json AS payload FROM transcript_entries WHERE session_id = ? AND sequence = ?',
    sessionId,
    sequence,
  )
  try {
    const entry = JSON.parse(row?.payload ?? '{}') as { readonly tool_use_id?: unknown }
    return entry.tool_use_id === id ? entry : usesIn(entry, sequence).get(id)
  } catch {
    return undefined // no JSON: it is not ours
  }
}

/** By a JSON pointer. */
function textAt(holder: unknown, pointer: string): string | undefined {
  let value = holder
  for (const key of pointer.split('/').slice(1)) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined
  }
  return typeof value === 'string' ? value : undefined
}

const marker = 'stored_in_transcript'
const opening = `{"${marker}":`
const references =
  /\{"stored_in_transcript":(\{"tool_use_id":"(?:[^"\\]|\\.)*"(?:,"entry":\d+,"(?:at|input)":"(?:[^"\\]|\\.)*")?,"characters":\d+\})\}/g
