/** Brings the tables of inspect up to date with the record, from a cursor in each of its tables. */
import type { Db } from '../../../store/open.ts'
import { type HookRow, hookAnswer, hookColumns } from '../hook-answer.ts'
import { parsed } from '../side-events.ts'
import { entryText } from './entry-text.ts'
import { archivesProgress, nextArchive, readArchive } from './fill-archives.ts'
import type { Progress } from './shapes.ts'
import { sums } from './sums.ts'
import { createTables, cursor, dropTables, inBatch, type Schema, setCursor, textStride } from './tables.ts'

/** Rows in one transaction: a turn that commits meanwhile waits for one batch at most. */
const batchRows = 1000

/**
 * Reads new rows for at most `forMs` (and one batch). Each batch is a transaction, so several processes can take turns.
 * Returns where it stands; it is up to date when `read` equals `rows`.
 */
export function fill(db: Db, schema: Schema, forMs: number): Progress {
  createTables(db, schema)
  const until = performance.now() + forMs
  for (const source of sources) {
    for (let more = true; more && performance.now() < until; ) more = fillBatch(db, schema, source)
  }
  for (let more = true; more && performance.now() < until; ) more = fillArchive(db, schema)
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
  if (cursor(db, source.table) >= lastId(db, source.table)) return false
  return inBatch(db, schema, () => {
    forgetErased(db, schema)
    const from = cursor(db, source.table)
    const batch = openBatch(db)
    const rows = db.all<{ id: number }>(
      `SELECT ${source.columns} FROM ${source.table} WHERE id > ? ORDER BY id LIMIT ?`,
      from,
      batchRows,
    )
    for (const row of rows) source.read(batch, row as never)
    batch.sums.write()
    if (rows.length > 0) setCursor(db, source.table, rows.at(-1)!.id)
    return rows.length === batchRows
  })
}

/** One archived conversation. Says whether there are more. */
function fillArchive(db: Db, schema: Schema): boolean {
  if (!nextArchive(db)) return false
  return inBatch(db, schema, () => {
    forgetErased(db, schema)
    const next = nextArchive(db)
    if (!next) return false
    const batch = openBatch(db)
    readArchive(
      db,
      next,
      sources.map(({ table, columns, read, readText = read }) => ({
        ...{ table, columns },
        read: (row, isText) => (isText ? readText : read)(batch, row),
      })),
    )
    batch.sums.write()
    return true
  })
}

const lastId = (db: Db, table: string): number =>
  db.get<{ last: number }>(`SELECT coalesce(max(id), 0) AS last FROM ${table}`)!.last

/** Whoever erased: what was derived from the rows goes with them. */
function forgetErased(db: Db, schema: Schema): void {
  const erased = lastId(db, 'ona_tombstones')
  if (cursor(db, 'ona_tombstones') === erased) return
  const begun = sources.some(({ table }) => cursor(db, table) > 0)
  if (begun) {
    dropTables(db, schema)
    createTables(db, schema)
  }
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

function numberOf(db: Db, id: string, agent: string): number {
  const known = db.get<{ number: number }>('SELECT number FROM ona_inspect_conversations WHERE id = ?', id)
  return known?.number ?? db.run('INSERT INTO ona_inspect_conversations(id, agent) VALUES (?, ?)', id, agent).lastId
}

interface Source {
  readonly table: string
  readonly columns: string
  read(batch: Batch, row: never): void
  /** Only what can be searched. */
  readText?(batch: Batch, row: never): void
}

interface EntryRow {
  readonly id: number
  readonly session: string
  readonly type: string
  readonly at: string
  readonly payload: string
}

interface EventRow {
  readonly session: string | null
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
      "id, session_id AS session, timestamp AS at, event_type AS type, iif(event_type = 'model_reply', detail, NULL) AS detail",
    read({ session, sums }, { session: id, at, type, detail }: EventRow) {
      if (type !== 'model_reply' || id === null) return
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
      readText(batch, row)
    },
    readText,
  },
]

function readText({ db, session }: Batch, { id, session: sessionId, type, payload }: EntryRow): void {
  const text = searched.includes(type) ? entryText(payload) : ''
  if (text !== '') db.run(addText, session(sessionId).number * textStride + id, text)
}

const addText = 'INSERT INTO ona_inspect_text(rowid, body) VALUES (?, ?)'

/** Who answers where a user was prompted, or would have been. */
const askers = ['person', 'operator', 'nobody', 'approval']

/** The rule, else the first line of the reason. */
function causeOf(rule: unknown, reason: unknown): string {
  const text = typeof rule === 'string' && rule !== '' ? rule : typeof reason === 'string' ? reason : ''
  return text.trim().split('\n', 1)[0]!.slice(0, 160)
}
