/** Walks the chain: every link, and every row of the audit tables beside it. One pass, in flat memory. */

import { archiveOf } from '../../store/archive/archive.ts'
import { archivedTables, digestOf, type Place, readFrame, unpacked } from '../../store/archive/frame.ts'
import { conversationOf, hasMoved } from '../../store/archive/reading.ts'
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

/** Where the walk has come to. */
interface Walk {
  readonly count: Record<keyof Omit<Verified, 'fault' | 'head'>, number>
  readonly tables: readonly Walked[]
  readonly sessions: Map<string, Uint8Array>
  readonly archives: Archives
  link: number
  hash: Uint8Array
}

/** Links that are read at one moment. Between them nothing of the file is held: sessions that go on can reset the write-ahead log. */
const pageLinks = 1000

/** `onLinks` hears how many links were walked over. Begins again when a conversation is restored as its archive is read. */
export function verifyChain(db: ReadDb, page = pageLinks, onLinks: (links: number) => void = () => {}): Verified {
  for (let left = mostBegins; ; left--) {
    try {
      return walkChain(db, page, onLinks)
    } catch (error) {
      if (!(error instanceof Moved)) throw error
      if (left === 1) throw error.cause
    }
  }
}
const mostBegins = 5

/** The archive of a conversation is not what it was, because the conversation has left it. */
class Moved extends Error {}

function walkChain(db: ReadDb, page: number, onLinks: (links: number) => void): Verified {
  const walk = db.snapshot(() => begin(db))
  for (;;) {
    const end = db.snapshot(() => walkOn(db, walk, page))
    onLinks(walk.count.links)
    if (!end) continue
    const head = walk.link === 0 ? '' : Buffer.from(walk.hash).toString('hex')
    return { ...walk.count, head, ...(end !== 'all is as it was written' && { fault: end }) }
  }
}

function begin(db: ReadDb): Walk {
  const tables = chainedTables.map(({ name }) => {
    const last = db.get<{ last: number }>('SELECT last FROM ona_chain_origin WHERE name = ?', name)?.last ?? 0
    return { last }
  })
  const before = tables.map(({ last }, table) => {
    const sql = `SELECT count(*) AS rows FROM ${chainedTables[table]!.name} WHERE id <= ?`
    return db.get<{ rows: number }>(sql, last)!.rows
  })
  return {
    count: { links: 0, rows: 0, archived: 0, erased: 0, before: before.reduce((sum, rows) => sum + rows, 0) },
    ...{ tables, sessions: new Map(), archives: noArchives(), link: 0, hash: new Uint8Array(32) },
  }
}

/** One page of links. Returns undefined while there may be more. */
function walkOn(db: ReadDb, walk: Walk, page: number): Fault | 'all is as it was written' | undefined {
  const sql = `SELECT id, session_id AS session, rows, session_hash AS sessionHash, hash FROM ona_chain
    WHERE id > ? ORDER BY id LIMIT ?`
  const links = db.all<Link>(sql, walk.link, page)
  lookAgain(db, walk.archives)
  const tables = walk.tables.map((walked, table) => openTable(db, table, walked))
  try {
    for (const link of links) {
      const fault = checkLink(db, walk, link, tables)
      if (fault) return fault
    }
    if (links.length === page) return undefined
    for (const [table, { head }] of tables.entries()) if (head) return inserted(table, head)
    return 'all is as it was written'
  } finally {
    for (const table of tables) table.close()
  }
}

const { hash } = process.getBuiltinModule('node:crypto')
const digest = (bytes: Uint8Array | string): Buffer => hash('sha256', bytes, 'buffer')

function checkLink(db: ReadDb, walk: Walk, link: Link, tables: readonly OpenTable[]): Fault | undefined {
  const { count } = walk
  const at = { table: 'ona_chain', row: walk.link + 1, session: link.session }
  if (link.id !== walk.link + 1)
    return { ...at, kind: 'link removed', why: `the chain goes from link ${walk.link} to link ${link.id}` }
  const own = sessionLink(walk.sessions.get(link.session) ?? new Uint8Array(32), link.rows, digest)
  const whole = databaseLink(walk.hash, link.id, link.session, own, digest)
  // what a link says of rows is checked first: the row that changed is what one wants to know
  for (const { table, id, digest: wanted } of rowsIn(link.rows)) {
    const name = chainedTables[table]?.name
    const rows = tables[table]
    if (!name || !rows) return { ...at, kind: 'link changed', why: `link ${link.id} names a table that there is not` }
    const place = { table: name, row: id, session: link.session }
    const kept = table < archivedTables.length ? archivedRows(db, walk.archives, link.session) : undefined
    const found = kept?.get(`${table}:${id}`)
    // what was added since the conversation was archived is in the table
    if (kept && !found && rows.head?.id !== id)
      return { ...place, kind: 'removed', why: `link ${link.id} holds it, and the archive does not` }
    if (rows.head && (rows.head.id < id || (found && rows.head.id === id))) return inserted(table, rows.head)
    if (found) {
      rows.pass(id)
      count.rows++
      count.archived++
      if (found.equals(wanted)) continue
      if (!erasedRows(db, name, id).some((each) => found.equals(each)))
        return { ...place, kind: 'changed', why: 'its content in the archive is not what was written' }
      count.erased++
      continue
    }
    if (rows.head?.id !== id)
      return { ...place, kind: 'removed', why: `link ${link.id} holds it, and the table does not` }
    const present = digest(rows.head.text)
    count.rows++
    if (!present.equals(wanted)) {
      if (!erasedRows(db, name, id).some((each) => present.equals(each)))
        return { ...place, kind: 'changed', why: 'its content is not what was written' }
      count.erased++
    }
    rows.next()
  }
  if (!same(own, link.sessionHash) || !same(whole, link.hash))
    return { ...at, kind: 'link changed', why: `link ${link.id} does not follow from the one before it` }
  walk.sessions.set(link.session, own)
  walk.hash = whole
  walk.link = link.id
  count.links++
  return undefined
}

const inserted = (table: number, { id, session }: TableRow): Fault => ({
  table: chainedTables[table]!.name,
  row: id,
  session: session ?? '',
  kind: 'inserted',
  why: 'no link of the chain holds it',
})

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.from(a.buffer, a.byteOffset, a.length).equals(b)

interface TableRow {
  readonly id: number
  readonly session: string | null
  readonly text: string
}

/** The last row of a table that was walked over, or the last one before the chain began. */
interface Walked {
  last: number
}

type OpenTable = ReturnType<typeof openTable>

/** The rows of a table that come next, in the order of their ids; links hold them in the same order. */
function openTable(db: ReadDb, table: number, walked: Walked) {
  const sql = `SELECT id, session_id AS session, ${rowText(table)} AS text FROM ${chainedTables[table]!.name}
    WHERE id > ? ORDER BY id`
  const rows = db.each<TableRow>(sql, walked.last)
  const open = {
    head: undefined as TableRow | undefined,
    /** A row that lies in an archive, which somebody may restore before the next page. */
    pass(id: number) {
      walked.last = id
    },
    next() {
      if (open.head) walked.last = open.head.id
      open.head = rows.next().value
    },
    close: () => void rows.return?.(),
  }
  open.next()
  return open
}

interface Archives {
  /** Another one when somebody has written since: others may archive while the chain is walked. */
  version: number
  /** Of the sessions that were asked for: the archive that holds the rows, or undefined. */
  readonly ofSessions: Map<string, Archive | undefined>
  /** Digests of the rows of archives, by table and id: sessions that ran side by side take turns in the chain. */
  readonly digests: Map<string, ReadonlyMap<string, Buffer>>
  /** How many digests these are. */
  count: number
}

interface Archive {
  readonly conversation: string
  readonly place: Place
  /** The same for as long as its content is. */
  readonly name: string
}

const noArchives = (): Archives => ({ version: -1, ofSessions: new Map(), digests: new Map(), count: 0 })

/** About 100 MB of digests. */
const mostDigests = 500_000

function lookAgain(db: ReadDb, archives: Archives): void {
  const { version } = db.get<{ version: number }>('SELECT data_version AS version FROM pragma_data_version')!
  if (archives.version === version) return
  archives.version = version
  archives.ofSessions.clear()
}

/** Digests of the rows of a session that is archived, by table and id. */
function archivedRows(db: ReadDb, archives: Archives, session: string): ReadonlyMap<string, Buffer> | undefined {
  const { ofSessions, digests } = archives
  if (!ofSessions.has(session)) ofSessions.set(session, archiveOfSession(db, session))
  const archive = ofSessions.get(session)
  if (!archive) return undefined
  const known = digests.get(archive.name)
  if (known) return known
  const rows = new Map(
    Array.from(unpacked(frameOf(db, archive)), ({ table, id, text }): [string, Buffer] => [
      `${table}:${id}`,
      Buffer.from(digestOf(text)),
    ]),
  )
  for (const [oldest, { size }] of digests) {
    if (archives.count + rows.size <= mostDigests) break
    digests.delete(oldest)
    archives.count -= size
  }
  digests.set(archive.name, rows)
  archives.count += rows.size
  return rows
}

function archiveOfSession(db: ReadDb, session: string): Archive | undefined {
  const conversation = conversationOf(db, session)
  const place = archiveOf(db, conversation)
  return place && { conversation, place, name: Buffer.from(place.digest).toString('hex') }
}

function frameOf(db: ReadDb, { conversation, place }: Archive): Uint8Array {
  try {
    return readFrame(place)
  } catch (cause) {
    throw hasMoved(db, conversation, place) ? new Moved('restored meanwhile', { cause }) : cause
  }
}

/** What may be left of a row after an erasure. */
function erasedRows(db: ReadDb, table: string, id: number): Uint8Array[] {
  const sql = 'SELECT digest FROM ona_tombstones WHERE table_name = ? AND row_id = ?'
  return db.all<{ digest: Uint8Array }>(sql, table, id).map((row) => row.digest)
}
