/**
 * Cursor's command line: `chats/<md5 of the folder>/<session>/store.db`, SQLite, with `meta.json` beside it. Its table `blobs` is
 * addressed by content: messages are JSON, alone or in a protobuf node of the conversation's graph. Other blobs are not understood.
 */
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { jsonFile } from '../history/files.ts'
import {
  type Call,
  type HistoryRecord,
  object,
  objects,
  ran,
  type State,
  text,
  textOf,
  time,
} from '../history/record.ts'
import { openStore, type Store } from '../history/sqlite.ts'
import { cursorCall, parsed } from './calls.ts'
import type { Row } from './ide-store.ts'

/** All of it, when it changed after `cursor`. Messages have no times: they are of the session's last change. */
export function* cliRows(path: string, cursor: number): Generator<Row> {
  const meta = jsonFile(join(dirname(path), 'meta.json'))
  const changed = Math.ceil(
    Math.max(...[path, `${path}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.mtimeMs ?? 0)),
  )
  if (changed <= cursor) return
  const store = openStore(path)
  try {
    const agent = agentOf(store)
    const createdAt = time(meta['createdAtMs']) || time(agent['createdAt']) || time(changed)
    const about = {
      ...{ session: basename(dirname(path)), createdAt, at: time(meta['updatedAtMs']) || createdAt },
      ...{ cwd: text(meta['cwd']), title: text(meta['title']) || text(agent['name']) },
    }
    yield { line: { row: 'session', ...about }, cursor }
    for (const { id, message } of messagesOf(store, text(agent['latestRootBlobId'])))
      yield { line: { row: 'message', ...about, id, message: message ?? null }, cursor }
    yield { line: { row: 'end', ...about }, cursor: changed }
  } finally {
    store.close()
  }
}

/** A row of the table `meta`: JSON, as hexadecimal digits. */
function agentOf(store: Store): JsonObject {
  const [row] = store.all("SELECT value FROM meta ORDER BY key = '0' DESC LIMIT 1")
  const value = text(row?.['value'])
  return parsed(/^(?:[0-9a-f]{2})+$/i.test(value) ? Buffer.from(value, 'hex').toString('utf8') : value)
}

interface Blob {
  readonly id: string
  /** Undefined: something that is not understood. */
  readonly message: JsonObject | undefined
}

/** In the order of the root, as far as it lists messages; then the others, in the order in which they were stored. */
function* messagesOf(store: Store, root: string): Generator<Blob> {
  const seen = new Set([root])
  const [top] = store.all('SELECT data FROM blobs WHERE id = ?', root)
  for (const { bytes } of fieldsIn(bytesOf(top?.['data'])) ?? []) {
    const id = bytes?.length === 32 ? bytes.toString('hex') : ''
    if (id === '' || seen.has(id)) continue
    const [row] = store.all('SELECT data FROM blobs WHERE id = ?', id)
    const message = row && messageIn(bytesOf(row['data']))
    if (!message) continue
    seen.add(id)
    yield { id, message }
  }
  for (let after = 0; ; ) {
    const rows = store.all('SELECT rowid AS n, id, data FROM blobs WHERE rowid > ? ORDER BY rowid LIMIT 20', after)
    for (const { id, data } of rows) if (!seen.has(text(id))) yield { id: text(id), message: messageIn(bytesOf(data)) }
    const last = Number(rows.at(-1)?.['n'] ?? 0)
    if (!(last > after)) return // the end, or a damaged table that leads back
    after = last
  }
}

const bytesOf = (data: unknown): Buffer =>
  data instanceof Uint8Array ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(text(data))

function messageIn(data: Buffer): JsonObject | undefined {
  const plain = jsonMessage(data)
  if (plain) return plain
  for (const { bytes } of fieldsIn(data) ?? []) {
    const inner = bytes && jsonMessage(bytes)
    if (inner) return inner
  }
  return undefined
}

function jsonMessage(bytes: Buffer): JsonObject | undefined {
  if (bytes[0] !== 0x7b) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(value) && typeof value['role'] === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** The fields of a protobuf message, `bytes` of those that have a length. Undefined: it is none. */
function fieldsIn(data: Buffer): { bytes?: Buffer }[] | undefined {
  const fields: { bytes?: Buffer }[] = []
  let at = 0
  const varint = (): number => {
    for (let value = 0, scale = 1; at < data.length && scale < 2 ** 63; scale *= 128) {
      const byte = data[at++]!
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    return Number.NaN
  }
  while (at < data.length) {
    const wire = varint() % 8
    if (wire === 0) varint()
    const length = wire === 2 ? varint() : wire === 1 ? 8 : wire === 5 ? 4 : wire === 0 ? 0 : Number.NaN
    if (!(at + length <= data.length)) return undefined
    fields.push(wire === 2 ? { bytes: data.subarray(at, at + length) } : {})
    at += length
  }
  return fields
}

export function readCliRow(line: JsonObject, _: State): HistoryRecord[] {
  const session = text(line['session'])
  const at = text(line['at'])
  const { row } = line
  if (row === 'end' || at === '') return []
  if (row === 'session') {
    const about = { cwd: text(line['cwd']), title: text(line['title']) }
    return [{ session, at: text(line['createdAt']), key: `${session}:session`, kind: 'session', ...about }]
  }
  const message = object(line['message'])
  const base = { session, at, key: text(line['id']) }
  const { role, content } = message
  const parts = objects(content)
  const said = typeof content === 'string' ? content : textOf(parts.filter(({ type }) => type === 'text'))
  if (role === 'system') return []
  if (role === 'user') {
    const [, query] = /<user_query>\s*([\s\S]*?)\s*<\/user_query>/.exec(said) ?? []
    const isInjected = query === undefined && /^\s*<\w/.test(said)
    return said === '' || isInjected ? [] : [{ ...base, kind: 'prompt', text: query ?? said }]
  }
  if (role === 'assistant') {
    const calls: Call[] = parts
      .filter(({ type }) => type === 'tool-call')
      .map((part) => {
        const input = parsed(part['args'] ?? part['input'])
        return cursorCall({ id: text(part['toolCallId']), name: text(part['toolName']), input })
      })
    return said === '' && calls.length === 0 ? [] : [{ ...base, kind: 'reply', text: said, calls }]
  }
  if (role === 'tool') return parts.filter(({ type }) => type === 'tool-result').map((part) => resultOf(part, base))
  return [{ session: '', at, key: '', kind: 'unknown', type: text(role) || 'binary blob' }]
}

function resultOf(part: JsonObject, base: { session: string; at: string; key: string }): HistoryRecord {
  const call = text(part['toolCallId'])
  const { name: tool } = cursorCall({ id: call, name: text(part['toolName']), input: {} })
  const given = part['result'] ?? object(part['output'])['value'] ?? part['output']
  const output = typeof given === 'string' ? given : JSON.stringify(given ?? '')
  const rejected = /^(?:Rejected|User rejected|The user rejected)\b/i.test(output)
  const decision = rejected
    ? ({ decision: 'deny', was: 'ask', by: 'person', reason: output.slice(0, 500) } as const)
    : ran
  const isError = rejected || part['isError'] === true
  return { ...base, key: `result:${call}`, kind: 'result', call, tool, output, isError, decision }
}
