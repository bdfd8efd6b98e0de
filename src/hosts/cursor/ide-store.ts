/**
 * Cursor's app: `User/globalStorage/state.vscdb`, SQLite. In the table `cursorDiskKV`, `composerData:<id>` is a session and
 * `bubbleId:<session>:<id>` one message of it. The app may be writing to it: only single rows and short pages are read at a time,
 * so that no lock is held while records are stored.
 */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { jsonFile } from '../history/files.ts'
import {
  type Decision,
  type HistoryRecord,
  number,
  object,
  objects,
  ran,
  type State,
  text,
  time,
} from '../history/record.ts'
import { openStore, type Store } from '../history/sqlite.ts'
import { cursorCall, parsed, toolOfNumber } from './calls.ts'

export type Row = { line: JsonObject; cursor: number } | { unreadable: number }

/** The ids of sessions: in the index, those that changed since; without one, all that have a key. */
export function composerIds(path: string, sinceMs: number): string[] {
  const store = openStore(path)
  try {
    if (tablesOf(store).has('composerHeaders'))
      return store
        .all('SELECT composerId FROM composerHeaders WHERE coalesce(lastUpdatedAt, createdAt) >= ?', sinceMs)
        .map(({ composerId }) => text(composerId))
    return store
      .all("SELECT key FROM cursorDiskKV WHERE key > 'composerData:' AND key < 'composerData;'")
      .map(({ key }) => text(key).slice('composerData:'.length))
  } finally {
    store.close()
  }
}

const tablesOf = (store: Store): Set<unknown> =>
  new Set(store.all("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name))

/** Sessions that changed at `cursor` or later, oldest change first, each with its messages in order. */
export function* ideRows(path: string, cursor: number): Generator<Row> {
  const store = openStore(path)
  try {
    const changed: { id: string; updated: number }[] = []
    for (const { id, composer } of composers(store))
      if (!composer) yield { unreadable: 1 }
      else {
        const updated = Date.parse(time(composer['lastUpdatedAt']) || time(composer['createdAt'])) || 0
        if (updated >= cursor) changed.push({ id, updated })
      }
    const folders = foldersOf(store, path)
    for (const { id, updated } of changed.sort((a, b) => a.updated - b.updated)) {
      const composer = documentAt(store, `composerData:${id}`)
      if (!composer) continue // deleted since
      const about = {
        composer: id,
        createdAt: composer['createdAt'],
        model: object(composer['modelConfig'])['modelName'],
      }
      yield { line: { row: 'session', ...about, name: composer['name'], folder: folders(id, composer) }, cursor }
      for (const bubble of bubblesOf(store, id, composer))
        yield bubble ? { line: { row: 'bubble', ...about, bubble }, cursor } : { unreadable: 1 }
      yield { line: { row: 'end', ...about }, cursor: updated }
    }
  } finally {
    store.close()
  }
}

/** A page at a time: a session of an older version holds all of its messages. */
function* composers(store: Store): Generator<{ id: string; composer: JsonObject | undefined }> {
  const page = "SELECT key, value FROM cursorDiskKV WHERE key > ? AND key < 'composerData;' ORDER BY key LIMIT 20"
  for (let after = 'composerData:'; ; ) {
    const rows = store.all(page, after)
    for (const { key, value } of rows)
      if (value !== null) yield { id: text(key).slice('composerData:'.length), composer: documentIn(value) }
    const last = text(rows.at(-1)?.['key'])
    if (!(last > after)) return // the end, or a damaged index that leads back
    after = last
  }
}

function* bubblesOf(store: Store, id: string, composer: JsonObject): Generator<JsonObject | undefined> {
  const inline = objects(composer['conversation'])
  if (inline.length > 0) return yield* inline
  const listed = objects(composer['fullConversationHeadersOnly']).map(({ bubbleId }) => text(bubbleId))
  for (const bubble of listed) {
    const value = valueAt(store, `bubbleId:${id}:${bubble}`)
    if (value !== null) yield documentIn(value)
  }
}

const valueAt = (store: Store, key: string): unknown =>
  store.all('SELECT value FROM cursorDiskKV WHERE key = ?', key)[0]?.['value'] ?? null

const documentAt = (store: Store, key: string): JsonObject | undefined => documentIn(valueAt(store, key))

/** Text, or the bytes of one. Undefined: no JSON object. */
function documentIn(value: unknown): JsonObject | undefined {
  const json = value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value
  try {
    const document: unknown = typeof json === 'string' ? JSON.parse(json) : undefined
    return isObject(document) ? document : undefined
  } catch {
    return undefined
  }
}

/** The folder of a session: in the session, in the index of sessions, or by the id of its workspace. */
function foldersOf(store: Store, path: string): (id: string, composer: JsonObject) => string {
  const tables = tablesOf(store)
  const heads = new Map<string, JsonObject>()
  if (tables.has('ItemTable')) {
    const [row] = store.all("SELECT value FROM ItemTable WHERE key = 'composer.composerHeaders'")
    for (const head of objects(documentIn(row?.['value'])?.['allComposers'])) heads.set(text(head['composerId']), head)
  }
  if (tables.has('composerHeaders'))
    for (const { composerId, workspaceId, value } of store.all('SELECT * FROM composerHeaders'))
      heads.set(text(composerId), { workspaceId: text(workspaceId), ...documentIn(value) })
  return (id, composer) => {
    const head = heads.get(id) ?? {}
    for (const place of [composer, head].map((each) => object(each['workspaceIdentifier']))) {
      const { fsPath, path: plain } = object(place['uri'])
      if (text(fsPath) || text(plain)) return text(fsPath) || text(plain)
    }
    const workspace = text(head['workspaceId']) || text(object(head['workspaceIdentifier'])['id'])
    if (!/^[\w-]+$/.test(workspace)) return ''
    return localPath(
      text(jsonFile(join(dirname(dirname(path)), 'workspaceStorage', workspace, 'workspace.json'))['folder']),
    )
  }
}

function localPath(uri: string): string {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : ''
  } catch {
    return '' // a folder on another machine
  }
}

export function readIdeRow(line: JsonObject, state: State): HistoryRecord[] {
  const session = text(line['composer'])
  const begun = time(line['createdAt'])
  if (line['row'] === 'end') return []
  if (line['row'] === 'session') {
    state['at'] = begun
    const about = { cwd: text(line['folder']), title: text(line['name']) }
    return begun === '' ? [] : [{ session, at: begun, key: `${session}:session`, kind: 'session', ...about }]
  }
  const bubble = object(line['bubble'])
  const at = time(bubble['createdAt']) || time(object(bubble['timingInfo'])['clientStartTime']) || text(state['at'])
  state['at'] = at
  const key = text(bubble['bubbleId'])
  const { type } = bubble
  if (at === '' || key === '' || (type !== 1 && type !== 2))
    return [{ session: '', at, key: '', kind: 'unknown', type: `bubble ${String(type).slice(0, 20)}` }]
  const base = { session, at, key }
  const said = text(bubble['text'])
  if (type === 1) return said === '' ? [] : [{ ...base, kind: 'prompt', text: said }]
  const records: HistoryRecord[] = said === '' ? [] : [{ ...base, kind: 'reply', text: said, calls: [] }]
  if (isObject(bubble['toolFormerData'])) records.push(...toolRecords(bubble['toolFormerData'], base))
  const { inputTokens, outputTokens } = object(bubble['tokenCount'])
  if (number(inputTokens) + number(outputTokens) > 0)
    records.push({
      ...{ ...base, key: `${key}:usage`, kind: 'usage' },
      usage: {
        model: text(object(bubble['modelInfo'])['modelName']) || text(line['model']),
        ...{ inputTokens: number(inputTokens), outputTokens: number(outputTokens) },
        ...{ cacheReadTokens: 0, cacheWriteTokens: 0 },
      },
    })
  return records
}

function toolRecords(tool: JsonObject, base: { session: string; at: string; key: string }): HistoryRecord[] {
  const name = text(tool['name']) || toolOfNumber(tool['tool'])
  if (name === '')
    return [{ session: '', at: base.at, key: '', kind: 'unknown', type: `tool ${String(tool['tool']).slice(0, 20)}` }]
  const status = text(tool['status'])
  const [asked, given] = [parsed(tool['rawArgs']), parsed(tool['params'])]
  const isOpen = !/^(?:completed|error|cancelled|canceled|rejected|success)$/.test(status)
  // its input still arrives
  if (isOpen && Object.keys(asked).length + Object.keys(given).length === 0) return []
  const id = text(tool['toolCallId']) || `${base.key}:call`
  const call = cursorCall({ id, name, input: Object.keys(asked).length > 0 ? asked : given })
  const records: HistoryRecord[] = [{ ...base, key: `${base.key}:call`, kind: 'reply', text: '', calls: [call] }]
  if (isOpen) return records
  const decision = decisionOf(tool)
  const { status: ended } = object(tool['additionalData'])
  const { exitCode } = parsed(tool['result'])
  const isError =
    decision.decision === 'deny' || !/^(?:completed|success)$/.test(status) || ended === 'error' || number(exitCode) > 0
  return [
    ...records,
    {
      ...base,
      key: `result:${id}`,
      kind: 'result',
      call: id,
      tool: call.name,
      output: outputOf(tool),
      isError,
      decision,
    },
  ]
}

function outputOf(tool: JsonObject): string {
  const error = messageOf(tool)
  const result = parsed(tool['result'])
  const said = [result['output'], result['contents'], result['rejectionReason']].map(text).find((each) => each !== '')
  const whole = typeof tool['result'] === 'string' ? tool['result'] : JSON.stringify(tool['result'] ?? '')
  return said ?? (error || (whole === '""' ? '' : whole))
}

const messageOf = ({ error }: JsonObject): string =>
  text(error) || text(parsed(error)['clientVisibleErrorMessage']) || text(parsed(error)['message'])

/** No single field tells: a command that its user rejected has `completed` as its status. */
function decisionOf(tool: JsonObject): Decision {
  const message = messageOf(tool)
  const reason = message === '' ? {} : { reason: message.slice(0, 500) }
  const isRejected =
    /^reject/.test(text(tool['userDecision'])) ||
    text(object(tool['additionalData'])['status']) === 'rejected' ||
    parsed(tool['result'])['rejected'] === true ||
    tool['status'] === 'rejected'
  if (/\bhook\b/i.test(message) && /block|den(?:y|ied)|reject/i.test(message))
    return { decision: 'deny', was: 'deny', by: 'hook', ...reason }
  if (isRejected || /^(?:Edit )?rejected\b/i.test(message))
    return { decision: 'deny', was: 'ask', by: 'person', ...reason }
  return /^accept/.test(text(tool['userDecision'])) ? { decision: 'allow', was: 'ask', by: 'person' } : ran
}
