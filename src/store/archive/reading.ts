/** Archived rows for a reader: in tables of its own connection, under the names that every query uses. */
import { type ReadDb, readDb } from '../open.ts'
import { archiveOf } from './archive.ts'
import { type ArchivedRow, archivedTables, type Place, readFrame, rowsOf, unpacked } from './frame.ts'

/** The conversations whose rows are in tables of a connection, with the places that they were read at. */
const brought = new WeakMap<ReadDb, Map<string, Place>>()

/**
 * After this, queries of the connection see the rows of these conversations, archived or not: until one of them is archived or
 * restored, which `momentsOf` watches for.
 */
export function bringArchived(db: ReadDb, conversationIds: Iterable<string>): void {
  for (const id of conversationIds) {
    const place = archiveOf(db, id)
    const known = brought.get(db)?.get(id)
    if (isSameFrame(known, place)) continue
    if (known) dropConversation(db, id)
    if (!place) continue
    if (!brought.has(db)) openShadows(db)
    db.snapshot(() => {
      for (const { table, text } of rowsAt(db, id, place))
        db.runTemp(inserts[table]!, ...(JSON.parse(text) as (string | number | null)[]))
    })
    brought.get(db)!.set(id, place)
  }
}

/**
 * The rows of a conversation that is archived, in the moment that the connection sees. The file may be of a later one: what was
 * restored since is no longer in it.
 */
function rowsAt(db: ReadDb, conversationId: string, place: Place): Iterable<ArchivedRow> {
  try {
    return unpacked(readFrame(place))
  } catch (error) {
    const later = laterThan(db, conversationId, place, (now, placeNow) =>
      placeNow ? [...rowsAt(now, conversationId, placeNow)] : [...rowsOf(now, conversationId)],
    )
    if (later) return later
    throw error
  }
}

/** What `work` reads of a conversation that has left its place in an archive since. Undefined: it has not. */
function laterThan<T>(
  db: ReadDb,
  conversationId: string,
  place: Place,
  work: (now: ReadDb, placeNow: Place | undefined) => T,
): T | undefined {
  const now = readDb(db.path)
  try {
    return now.snapshot(() => {
      const placeNow = archiveOf(now, conversationId)
      const isThere = placeNow?.offset === place.offset && isSameFrame(placeNow, place)
      return isThere ? undefined : work(now, placeNow)
    })
  } finally {
    now.close()
  }
}

/** Whether a conversation has left its place in an archive since the moment that the connection sees. */
export const hasMoved = (db: ReadDb, conversationId: string, place: Place): boolean =>
  laterThan(db, conversationId, place, () => true) ?? false

/** A conversation that was restored and archived again may lie in the same file at the same place. */
const isSameFrame = (a: Place | undefined, b: Place | undefined): boolean =>
  a && b ? Buffer.compare(a.digest, b.digest) === 0 : a === b

/**
 * For a long reading, one moment after the other: whatever `work` reads is of one moment, with these conversations in it. Others
 * archive and restore conversations meanwhile, and their rows are then looked for where they are.
 */
export function momentsOf(db: ReadDb, conversationIds: () => Iterable<string>): <T>(work: () => T) => T {
  let seen: number | undefined
  const bring = () => bringArchived(db, new Set([...(brought.get(db)?.keys() ?? []), ...conversationIds()]))
  bring() // unpacking many takes long, and a file is emptied of what is restored: not in one moment
  return (work) =>
    db.snapshot(() => {
      const version = versionOf(db)
      if (version !== seen) bring()
      seen = version
      return work()
    })
}

/** What a generator gives, a few at a time, which are of one moment. */
export function* inMoments<T>(
  db: ReadDb,
  conversationIds: () => Iterable<string>,
  items: Iterator<T>,
  atOnce = 20,
): Generator<T> {
  const moment = momentsOf(db, conversationIds)
  for (let ended = false; !ended; ) {
    const some: T[] = []
    moment(() => {
      while (!ended && some.length < atOnce) {
        const next = items.next()
        if (next.done) ended = true
        else some.push(next.value)
      }
    })
    yield* some
  }
}

/**
 * What `work` gives, with the rows of these conversations: through another connection where some are archived and not brought yet.
 * It reads one moment, and must not write to the record.
 */
export function withArchived<T>(db: ReadDb, conversationIds: readonly string[], work: (db: ReadDb) => T): T {
  const isBrought = (id: string) => brought.get(db)?.has(id) || !archiveOf(db, id)
  const read = db.snapshot(() => (conversationIds.every(isBrought) ? [work(db)] : undefined))
  return read ? read[0]! : inOwnReader(db, conversationIds, work)
}

/** The same, always through another connection. */
export function inOwnReader<T>(db: ReadDb, conversationIds: readonly string[], work: (db: ReadDb) => T): T {
  const reader = readDb(db.path)
  try {
    return momentsOf(reader, () => conversationIds)(() => work(reader))
  } finally {
    reader.close()
  }
}

/**
 * For a caller that comes back to the same conversations: what `withArchived` unpacks is kept, because sessions that ran side by
 * side take turns in the chain.
 */
export function keepArchived(): { readonly with: typeof withArchived; close(): void } {
  let kept: ReadDb | undefined
  let seen: number | undefined
  return {
    close() {
      kept?.close()
      kept = undefined
    },
    with(db, conversationIds, work) {
      const isKept = (id: string) => kept !== undefined && brought.get(kept)?.has(id)
      if (!conversationIds.some((id) => isKept(id) || archiveOf(db, id))) return withArchived(db, conversationIds, work)
      kept ??= readDb(db.path)
      const reader = kept
      return reader.snapshot(() => {
        const version = versionOf(reader)
        if (version !== seen) dropMoved(reader)
        seen = version
        if (!conversationIds.every(isKept)) {
          if (bytesBrought(reader) > mostKept) dropArchived(reader)
          bringArchived(reader, conversationIds)
        }
        return work(reader)
      })
    },
  }
}
/** Compressed; in temporary tables it is about ten times as much. */
const mostKept = 8 * 1024 * 1024

const bytesBrought = (db: ReadDb): number =>
  [...(brought.get(db)?.values() ?? [])].reduce((sum, { length }) => sum + length, 0)

/** Changes when another connection has written. */
const versionOf = (db: ReadDb): number =>
  db.get<{ version: number }>('SELECT data_version AS version FROM pragma_data_version')!.version

/** Frees what was restored or archived again since it was loaded. */
function dropMoved(db: ReadDb): void {
  for (const [id, place] of brought.get(db) ?? []) if (!isSameFrame(archiveOf(db, id), place)) dropConversation(db, id)
}

/** Frees what was loaded, for a caller that reads one conversation after another. */
export function dropArchived(db: ReadDb): void {
  if (!brought.get(db)?.size) return
  for (const { name } of archivedTables) db.runTemp(`DELETE FROM temp.kept_${name}`)
  brought.get(db)!.clear()
}

function dropConversation(db: ReadDb, conversationId: string): void {
  for (const { name } of archivedTables)
    db.runTemp(
      `DELETE FROM temp.kept_${name} WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?)`,
      conversationId,
    )
  brought.get(db)!.delete(conversationId)
}

/** Of hooks: at this event, on calls of this tool. */
interface About {
  readonly event: string | undefined
  readonly toolName: string | undefined
}

/**
 * Rows of hooks in archived conversations, the newest conversation first, until there are `enough` of them or much was unpacked.
 * Only archives that hold such a hook are unpacked, and older ones, of which that is not known. `left`: conversations that were
 * not looked into.
 */
export function archivedHooks<T>(
  db: ReadDb,
  enough: number,
  { event, toolName }: About,
  read: (conversationId: string) => readonly T[],
): { rows: T[]; left: number } {
  // with both, the primary key finds the row; else it is looked for among those of the conversation
  const any = event === undefined || toolName === undefined ? '+' : ''
  const candidates = `FROM conversations c CROSS JOIN ona_archives a ON a.conversation_id = c.id
    WHERE EXISTS (
      SELECT 1 FROM ona_archived_hooks h WHERE h.conversation_id = a.conversation_id
        AND ${any}h.hook_event ${event === undefined ? "> ''" : '= ?1'} AND (?2 IS NULL OR ${any}h.tool_name = ?2))
    OR NOT EXISTS (SELECT 1 FROM ona_archived_hooks WHERE hook_event = '' AND tool_name = hex(a.digest))`
  const about = [event ?? null, toolName ?? null]
  const rows: T[] = []
  let unpacked = 0
  for (let looked = 0; ; ) {
    const page = db.all<{ id: string; length: number }>(
      `SELECT a.conversation_id AS id, a.length ${candidates}
       ORDER BY c.last_active DESC, c.rowid DESC LIMIT ${candidatesAtOnce} OFFSET ?3`,
      ...[...about, looked],
    )
    for (const { id, length } of page) {
      if (rows.length >= enough) return { rows, left: 0 }
      if (unpacked + length > mostUnpacked)
        return {
          rows,
          left: db.get<{ count: number }>(`SELECT count(*) AS count ${candidates}`, ...about)!.count - looked,
        }
      unpacked += length
      looked++
      bringArchived(db, [id])
      rows.push(...read(id))
      dropArchived(db)
    }
    if (page.length < candidatesAtOnce) return { rows, left: 0 }
  }
}
/** The newest are mostly enough. */
const candidatesAtOnce = 20
/** Compressed; about ten times as much is read. */
const mostUnpacked = 4 * 1024 * 1024

/** '' for a session that there is not. */
export const conversationOf = (db: ReadDb, sessionId: string | undefined): string =>
  db.get<{ id: string }>('SELECT conversation_id AS id FROM sessions WHERE session_id = ?', sessionId ?? '')?.id ?? ''

/**
 * Every archived conversation that may have a row since a time, for what reads the whole record. It was active when its rows were
 * added, or, during a long call, within a day.
 */
export const archivedConversations = (db: ReadDb, since = ''): string[] =>
  db
    .all<{ id: string }>(
      `SELECT a.conversation_id AS id FROM ona_archives a JOIN conversations c ON c.id = a.conversation_id
       WHERE ?1 = '' OR (a.archived_at >= ?1 AND c.last_active >= datetime(?1, '-1 day')) ORDER BY a.rowid`,
      since,
    )
    .map(({ id }) => id)

/** What the queries look rows up by, as in the tables beside them; the ids themselves are the order of the rows. */
const indexes = [
  'kept_transcript_entries_session ON kept_transcript_entries(session_id, sequence)',
  'kept_transcript_entries_call ON kept_transcript_entries(session_id, tool_use_id) WHERE tool_use_id IS NOT NULL',
  'kept_events_session ON kept_events(session_id, event_type)',
  'kept_hook_invocations_call ON kept_hook_invocations(session_id, tool_use_id)',
  'kept_tool_permission_log_call ON kept_tool_permission_log(session_id, tool_use_id)',
]

const inserts = archivedTables.map(
  ({ name, columns }) => `INSERT INTO temp.kept_${name}(${columns}) VALUES (${columns.replaceAll(/[^,]+/g, '?')})`,
)

function openShadows(db: ReadDb): void {
  for (const { name, columns } of archivedTables) {
    // of the same types: only then a condition on the view reaches into both tables
    const typed = db
      .all<{ name: string; type: string; pk: number }>(`PRAGMA main.table_info(${name})`)
      .map((column) => `${column.name} ${column.type}${column.pk === 1 ? ' PRIMARY KEY' : ''}`)
    db.runTemp(`CREATE TEMP TABLE kept_${name}(${typed.join()})`)
    db.runTemp(
      `CREATE TEMP VIEW ${name} AS SELECT ${columns} FROM main.${name} UNION ALL SELECT ${columns} FROM temp.kept_${name}`,
    )
  }
  for (const index of indexes) db.runTemp(`CREATE INDEX temp.${index}`)
  brought.set(db, new Map())
}
