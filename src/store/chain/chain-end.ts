/** Whether the newest rows are as they were written: what can be said of a record of any size at once. */

import type { ReadDb } from '../open.ts'
import { chainedTables, databaseLink, type Hash, rowsIn, rowText } from './chain.ts'

/** What is wrong with the last `links` of the chain or a row that they hold; undefined when nothing is. */
export function endProblem(db: ReadDb, links = 200): string | undefined {
  const { hash } = process.getBuiltinModule('node:crypto')
  const digest: Hash = (bytes) => hash('sha256', bytes, 'buffer')
  const newest = db.all<Link>(
    'SELECT id, session_id AS session, rows, session_hash AS sessionHash, hash FROM ona_chain ORDER BY id DESC LIMIT ?',
    links + 1,
  )
  const archived =
    'SELECT 1 FROM ona_archives a JOIN sessions s ON s.conversation_id = a.conversation_id WHERE s.session_id = ?'
  for (const [at, link] of newest.slice(0, links).entries()) {
    const before = newest[at + 1]?.hash ?? new Uint8Array(32)
    if (!digestsAgree(databaseLink(before, link.id, link.session, link.sessionHash, digest), link.hash))
      return `link ${link.id} of the chain does not follow from the one before it; ona audit verify names the place`
    if (db.get(archived, link.session)) continue
    for (const { table, id, digest: wanted } of rowsIn(link.rows)) {
      const name = chainedTables[table]?.name
      if (name === undefined) return `link ${link.id} of the chain names a table that there is not`
      const row = db.get<{ text: string }>(`SELECT ${rowText(table)} AS text FROM ${name} WHERE id = ?`, id)
      if (!row) return `${name} row ${id} was removed; ona audit verify says more`
      const erased = 'SELECT 1 FROM ona_tombstones WHERE table_name = ? AND row_id = ?'
      if (!digestsAgree(hash('sha256', row.text, 'buffer'), wanted) && !db.get(erased, name, id))
        return `${name} row ${id} was changed by another program; ona audit verify says more`
    }
  }
  return undefined
}

/** A row of `ona_chain`. */
export interface Link {
  readonly id: number
  readonly session: string
  readonly rows: Uint8Array
  readonly sessionHash: Uint8Array
  readonly hash: Uint8Array
}

const digestsAgree = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0
