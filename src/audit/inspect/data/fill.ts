/** Brings the tables of inspect up to date with the record, from a cursor in each of its tables. */
import type { Db, ReadDb } from '../../../store/open.ts'
import { type HookRow, hookAnswer, hookColumns } from '../hook-answer.ts'
import { parsed } from '../side-events.ts'
import { keepDays } from './days.ts'
import { entryText } from './entry-text.ts'
import { archivesProgress, readArchive, unreadArchives } from './fill-archives.ts'
import type { Progress } from './shapes.ts'
import { sums } from './sums.ts'
import { createTables, cursor, emptyTables, inBatch, type Schema, setCursor, textStride } from './tables.ts'

/** Rows in one transaction: a turn that commits meanwhile waits for one batch at most. */
const batchRows = 1000

/**
 * Reads new rows for at most `forMs` (and one batch, or one archived conversation). Each batch is a transaction, so several processes
 * can take turns. Returns where it stands; it is up to date when `read` equals `rows`.
 */
export function fill(db: Db, schema: Schema, forMs: number): Progress {
  createTables(db, schema)
  keepDays(db, schema)
  const until = performance.now() + forMs
  for (const source of sources) {
    for (let more = true; more && performance.now() < until; ) more = fillBatch(db, schema, source)
  }
  const archives = performance.now() < until ? unreadArchives(db) : []
  for (const archive of archives) {
    if (performance.now() >= until) break
    readArchive(db, archive, (reader) => readConversation(db, schema, reader, archive.id))
  }
  return progress(db)
}

export function progress(db: Db): Progress {
  let { rows, read } = archivesProgress(db)
  for (const { table } of sources) {
    const { last } = db.get<{ last: number }>(`SELECT coalesce(max(id), 0) AS last FROM ${table}`)!
    rows += last
    read += Math.min(cursor(db, table), last)
  }
  return { rows, read }
}

/** Says whether there is more. Small batches are not worth a transaction: what is new is looked at first. */
function fillBatch(db: Db, schema: Schema, source: Source): boolean {
  const { table, columns } = source
  if (cursor(db, table) >= lastId(db, table)) return false
  const restored: string[] = []
  const more = inBatch(db, schema, () => {
    forgetErased(db, schema)
    const from = cursor(db, table)
    const rows = db.all<RecordRow>(`SELECT ${columns} FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`, from, batchRows)
    readRows(db, source, rows)
    for (const { type, conversation } of rows) if (type === 'unarchived') restored.push(conversation!)
    if (rows.length > 0) setCursor(db, table, rows.at(-1)!.id)
    return rows.length === batchRows
  })
  // its rows may have been out of the database when the others of that time were read
  for (const id of restored) readConversation(db, schema, db, id)
  return more
}

/** Rows of a conversation that were not counted yet, wherever `reader` finds them. */
function readConversation(db: Db, schema: Schema, reader: ReadDb, id: string): void {
  for (const source of sources)
    for (let more = true; more; )
      more = inBatch(db, schema, () => {
        forgetErased(db, schema)
        const rows = reader.all<RecordRow>(
          `SELECT ${source.columns} FROM ${source.table}
           WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?) AND id > ? ORDER BY id LIMIT ?`,
          ...[id, lastRead(db, numberOfKnown(db, id), source), batchRows],
        )
        readRows(db, source, rows)
        return rows.length === batchRows
      })
}

/** Rows in the order of their ids. Those that were counted before are passed over. */
function readRows(db: Db, source: Source, rows: readonly RecordRow[]): void {
  const batch = openBatch(db)
  const reached = new Map<number, number>()
  for (const row of rows) {
    if (row.session === null) continue
    const { number } = batch.session(row.session)
    const last = reached.get(number) ?? lastRead(db, number, source)
    reached.set(number, Math.max(last, row.id))
    if (row.id > last) source.read(batch, row as never)
  }
  batch.sums.write(reached.keys())
  for (const [number, last] of reached)
    db.run('INSERT OR REPLACE INTO ona_inspect_read(number, source, last) VALUES (?, ?, ?)', number, source.table, last)
}

interface RecordRow {
  readonly id: number
  readonly session: string | null
  /** Of events. */
  readonly type?: string
  readonly conversation?: string
}

const lastRead = (db: Db, number: number, { table }: Source): number =>
  db.get<{ last: number }>('SELECT last FROM ona_inspect_read WHERE number = ? AND source = ?', number, table)?.last ??
  0

const lastId = (db: Db, table: string): number =>
  db.get<{ last: number }>(`SELECT coalesce(max(id), 0) AS last FROM ${table}`)!.last

/** Whoever erased: what was derived from the rows goes with them. */
function forgetErased(db: Db, schema: Schema): void {
  const erased = lastId(db, 'ona_tombstones')
  if (cursor(db, 'ona_tombstones') === erased) return
  const begun = sources.some(({ table }) => cursor(db, table) > 0)
  if (begun) emptyTables(db, schema)
  setCursor(db, 'ona_tombstones', erased)
}

interface Batch {
  readonly db: Db
  readonly sums: ReturnType<typeof sums>
  /** The number of the session's conversation; `sub`: the session is a sub-agent's. */
  session(id: string): { readonly number: number; readonly sub: boolean }
}

function openBatch(db: Db): Batch {
  const sessions = new Map<string, { number: number; sub: boolean }>()
  return {
    db,
    sums: sums(db),
    session(id) {
      const known = sessions.get(id)
      if (known) return known
      const found = db.get<{ conversation: string; agent: string; sub: number }>(sessionFacts, id)
      const made = { number: numberOf(db, found?.conversation ?? id, found?.agent ?? 'ona'), sub: found?.sub === 1 }
      sessions.set(id, made)
      return made
    },
  }
}

const sessionFacts = `SELECT s.conversation_id AS conversation, a.session_id IS NOT NULL AS sub,
    coalesce(i.agent, CASE WHEN EXISTS (SELECT 1 FROM ona_dispatcher_imports d WHERE d.session_id = s.session_id) THEN 'dispatcher' END, 'ona') AS agent
  FROM sessions s LEFT JOIN ona_subagents a ON a.session_id = s.session_id LEFT JOIN ona_imports i ON i.session_id = s.session_id
  WHERE s.session_id = ?`

const numberOfKnown = (db: Db, id: string): number =>
  db.get<{ number: number }>('SELECT number FROM ona_inspect_conversations WHERE id = ?', id)?.number ?? -1

function numberOf(db: Db, id: string, agent: string): number {
  const known = numberOfKnown(db, id)
  return known >= 0 ? known : db.run('INSERT INTO ona_inspect_conversations(id, agent) VALUES (?, ?)', id, agent).lastId
}

interface Source {
  readonly table: string
  readonly columns: string
  read(batch: Batch, row: never): void
}

interface EntryRow {
  readonly id: number
  readonly session: string
  readonly type: string
  readonly at: string
  readonly payload: string
}

interface EventRow {
  readonly session: string
  readonly at: string
  readonly type: string
  readonly detail: string | null
}

interface RulingRow {
  readonly session: string
  readonly at: string
  readonly tool: string
  readonly decision: string
  readonly reason: string | null
}

const searched = ['user', 'assistant', 'tool_use', 'tool_result']

const sources: readonly Source[] = [
  {
    table: 'events',
    columns:
      "id, session_id AS session, conversation_id AS conversation, timestamp AS at, event_type AS type, iif(event_type = 'model_reply', detail, NULL) AS detail",
    read({ session, sums }, { session: id, at, type, detail }: EventRow) {
      if (type !== 'model_reply') return
      const facts = parsed(detail)
      const count = (key: string) => (typeof facts[key] === 'number' ? facts[key] : 0)
      const tokens = count('inputTokens') + count('outputTokens') + count('cacheReadTokens') + count('cacheWriteTokens')
      const priced = typeof facts['costUsd'] === 'number' ? 1 : 0
      sums.activity(session(id).number, at, { tokens, cost: count('costUsd'), priced })
    },
  },
  {
    table: 'tool_permission_log',
    columns: 'id, session_id AS session, created_at AS at, tool_name AS tool, decision, reason_json AS reason',
    read({ session, sums }, { session: id, at, tool, decision, reason }: RulingRow) {
      const { number } = session(id)
      const { by, rule, reason: why } = parsed(reason)
      const decider = typeof by === 'string' ? by : 'unknown'
      const asked = askers.includes(decider)
      if (decision === 'deny' || asked)
        sums.activity(number, at, { refused: decision === 'deny' ? 1 : 0, asked: asked ? 1 : 0 })
      sums.ruling(number, at, { decision, decider, tool, cause: causeOf(rule, why) })
    },
  },
  {
    table: 'hook_invocations',
    columns: `${hookColumns}, session_id AS session`,
    read({ session, sums }, row: HookRow & { readonly session: string }) {
      const { hook, at, ms, says } = hookAnswer(row)
      if (says === 'not asked') return
      sums.hook(session(row.session).number, at, {
        ...{ hook, ms: ms ?? 0, denied: says === 'deny' ? 1 : 0, failed: says === 'failed' ? 1 : 0 },
      })
    },
  },
  {
    table: 'transcript_entries',
    columns: 'id, session_id AS session, entry_type AS type, created_at AS at, payload_json AS payload',
    read(batch, row: EntryRow) {
      const { number, sub } = batch.session(row.session)
      if (row.type === 'user' && !sub) batch.sums.activity(number, row.at, { prompts: 1 })
      if (row.type === 'tool_result') batch.sums.activity(number, row.at, { calls: 1 })
      const text = searched.includes(row.type) ? entryText(row.payload) : ''
      if (text !== '') batch.db.run(addText, number * textStride + row.id, text)
    },
  },
]

const addText = 'INSERT INTO ona_inspect_text(rowid, body) VALUES (?, ?)'

/** Who answers where a user was prompted, or would have been. */
const askers = ['person', 'operator', 'nobody', 'approval']

/** The rule, else the first line of the reason. */
function causeOf(rule: unknown, reason: unknown): string {
  const text = typeof rule === 'string' && rule !== '' ? rule : typeof reason === 'string' ? reason : ''
  return text.trim().split('\n', 1)[0]!.slice(0, 160)
}
