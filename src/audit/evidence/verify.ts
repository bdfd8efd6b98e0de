/** Walks the chain: every link, and every row of the audit tables beside it. One pass, in flat memory. */

import { archiveOf } from '../../store/archive/archive.ts'
import { archivedTables, digestOf, readFrame, unpacked } from '../../store/archive/frame.ts'
import { chainedTables, databaseLink, rowsIn, rowText, sessionLink } from '../../store/chain/chain.ts'
import type { Link } from '../../store/chain/chain-end.ts'
import type { ReadDb } from '../../store/open.ts'

export interface Verified {
  readonly links: number
  readonly rows: number
  /** Rows that were read from an archive. */
  readonly archived: number
  /** Rows whose content was erased on purpose, and that say so. */
  readonly erased: number
  /** Rows that were there before the chain began. */
  readonly before: number
  /** The end of the chain, as hex; '' when there is none yet. */
  readonly head: string
  /** The first thing that is not as it was written; undefined when all is. */
  readonly fault?: Fault
}

export interface Fault {
  readonly kind: 'changed' | 'removed' | 'inserted' | 'link changed' | 'link removed'
  readonly table: string
  readonly row: number
  readonly session: string
  readonly why: string
}

type Found = Omit<Verified, 'fault' | 'head'>

export function verifyChain(db: ReadDb): Verified {
  const count = { links: 0, rows: 0, archived: 0, erased: 0, before: 0 }
  const { hash } = process.getBuiltinModule('node:crypto')
  const digest = (bytes: Uint8Array | string): Buffer => hash('sha256', bytes, 'buffer')
  const tables = chainedTables.map((_, table) => openTable(db, table))
  count.before = tables.reduce((sum, { before }) => sum + before, 0)
  const erased = erasedRows(db)
  const archived = archivedRows(db)
  const sessions = new Map<string, Uint8Array>()
  let last: Uint8Array = new Uint8Array(32)
  let expected = 1
  const done = (fault?: Fault): Verified => ({
    ...(count as Found),
    head: expected === 1 ? '' : Buffer.from(last).toString('hex'),
    ...(fault && { fault }),
  })
  for (const link of db.each<Link>(
    'SELECT id, session_id AS session, rows, session_hash AS sessionHash, hash FROM ona_chain ORDER BY id',
  )) {
    const at = { table: 'ona_chain', row: expected, session: link.session }
    if (link.id !== expected)
      return done({ ...at, kind: 'link removed', why: `the chain goes from link ${expected - 1} to link ${link.id}` })
    const own = sessionLink(sessions.get(link.session) ?? new Uint8Array(32), link.rows, digest)
    const whole = databaseLink(last, link.id, link.session, own, digest)
    // what a link says of rows is checked first: the row that changed is what one wants to know
    for (const { table, id, digest: wanted } of rowsIn(link.rows)) {
      const name = chainedTables[table]?.name
      const rows = tables[table]
      if (!name || !rows)
        return done({ ...at, kind: 'link changed', why: `link ${link.id} names a table that there is not` })
      const place = { table: name, row: id, session: link.session }
      const kept = table < archivedTables.length ? archived(link.session) : undefined
      const found = kept?.get(`${table}:${id}`)
      // what was added since the conversation was archived is in the table
      if (kept && !found && rows.head?.id !== id)
        return done({ ...place, kind: 'removed', why: `link ${link.id} holds it, and the archive does not` })
      if (found) {
        count.rows++
        count.archived++
        if (found.equals(wanted)) continue
        if (!erased(name, id)?.some((each) => found.equals(each)))
          return done({ ...place, kind: 'changed', why: 'its content in the archive is not what was written' })
        count.erased++
        continue
      }
      if (rows.head && rows.head.id < id)
        return done({
          table: name,
          row: rows.head.id,
          session: rows.head.session ?? '',
          kind: 'inserted',
          why: 'no link of the chain holds it',
        })
      if (rows.head?.id !== id)
        return done({ ...place, kind: 'removed', why: `link ${link.id} holds it, and the table does not` })
      const present = digest(rows.head.text)
      count.rows++
      if (!present.equals(wanted)) {
        if (!erased(name, id)?.some((each) => present.equals(each)))
          return done({ ...place, kind: 'changed', why: 'its content is not what was written' })
        count.erased++
      }
      rows.next()
    }
    if (!same(own, link.sessionHash) || !same(whole, link.hash))
      return done({ ...at, kind: 'link changed', why: `link ${link.id} does not follow from the one before it` })
    sessions.set(link.session, own)
    last = whole
    expected++
    count.links++
  }
  for (const [table, { head }] of tables.entries())
    if (head)
      return done({
        table: chainedTables[table]!.name,
        row: head.id,
        session: head.session ?? '',
        kind: 'inserted',
        why: 'no link of the chain holds it',
      })
  return done()
}

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.from(a.buffer, a.byteOffset, a.length).equals(b)

interface TableRow {
  readonly id: number
  readonly session: string | null
  readonly text: string
}

/** The rows of a table since the chain began, in the order of their ids; links hold them in the same order. */
function openTable(db: ReadDb, table: number) {
  const { name } = chainedTables[table]!
  const from = db.get<{ last: number }>('SELECT last FROM ona_chain_origin WHERE name = ?', name)?.last ?? 0
  const { before } = db.get<{ before: number }>(`SELECT count(*) AS before FROM ${name} WHERE id <= ?`, from)!
  const rows = db.each<TableRow>(
    `SELECT id, session_id AS session, ${rowText(table)} AS text FROM ${name} WHERE id > ? ORDER BY id`,
    from,
  )
  const open = {
    before,
    head: undefined as TableRow | undefined,
    next() {
      const { value, done } = rows.next()
      open.head = done ? undefined : value
    },
  }
  open.next()
  return open
}

/** Digests of the rows of a session that is archived, by table and id. The links of a session lie close together: a few are kept. */
function archivedRows(db: ReadDb): (session: string) => ReadonlyMap<string, Buffer> | undefined {
  const sql = `SELECT s.session_id AS session, s.conversation_id AS conversation FROM ona_archives a
    JOIN sessions s ON s.conversation_id = a.conversation_id`
  const conversations = new Map(
    db.all<{ session: string; conversation: string }>(sql).map((row) => [row.session, row.conversation]),
  )
  const read = new Map<string, ReadonlyMap<string, Buffer>>()
  return (session) => {
    const id = conversations.get(session)
    if (id === undefined) return undefined
    let rows = read.get(id)
    if (!rows) {
      rows = new Map(
        Array.from(unpacked(readFrame(archiveOf(db, id)!)), ({ table, id: row, text }) => [
          `${table}:${row}`,
          Buffer.from(digestOf(text)),
        ]),
      )
      if (read.size >= 8) read.delete(read.keys().next().value!)
      read.set(id, rows)
    }
    return rows
  }
}

/** What may be left of a row after an erasure. */
function erasedRows(db: ReadDb): (table: string, id: number) => Uint8Array[] | undefined {
  const sql = 'SELECT digest FROM ona_tombstones WHERE table_name = ? AND row_id = ?'
  return (table, id) => db.all<{ digest: Uint8Array }>(sql, table, id).map((row) => row.digest)
}
