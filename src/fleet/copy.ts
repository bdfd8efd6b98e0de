/**
 * The record of a fleet as a SQLite file, so that everything that reads one machine's record reads all of them: the pages
 * of `ona inspect`, and `ona hooks replay`. Streamed; the file is the reader's own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Problem } from '../files/problem.ts'
import { openDb } from '../store/open.ts'
import { type CopyOptions, copyConversations, copyRows, openCopy, ownNames } from './copy-rows.ts'
import { connectionProblem, withoutPassword } from './database-url.ts'

export interface Copied {
  readonly path: string
  readonly rows: number
  remove(): void
}

export interface Copying {
  readonly path: string
  /** Rows are in the file before it ends, so that pages can be shown meanwhile. Rejects when it fails. */
  readonly done: Promise<number>
  remove(): void
}

export async function copyFleet(url: string, options: CopyOptions): Promise<Copied> {
  const { path, done, remove } = await startCopy(url, options)
  return { path, rows: await done, remove }
}

/** Resolves when the conversations of all nodes are copied; their rows follow. */
export async function startCopy(url: string, options: CopyOptions): Promise<Copying> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  await client.connect().catch((cause: Error) => {
    throw connectionProblem(url, cause)
  })
  const folder = mkdtempSync(join(tmpdir(), 'ona-fleet-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const failed = async (cause: unknown): Promise<never> => {
    await client.end().catch(() => {})
    remove()
    const { message, code } = cause as Error & { code?: string }
    if (/permission denied|must be (able|member)/i.test(message))
      throw new Problem(`${withoutPassword(url)}: ${message}; run GRANT ona_reader TO ${client.user ?? 'the user'}`)
    throw code === undefined ? cause : connectionProblem(url, cause)
  }
  try {
    const path = join(folder, 'fleet.db')
    openDb(path).close()
    await client.query('BEGIN; SET LOCAL ROLE ona_reader')
    await client.query(
      "INSERT INTO ona_fleet.access_log(actor, role, action, target) VALUES (session_user || ' (' || $1 || ')', 'reader', $2, $3)",
      [userInfo().username, options.purpose, options.conversation ?? options.since?.toISOString() ?? 'everything'],
    )
    // on record before anything is read; and what is read is of one moment
    await client.query('COMMIT; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL ROLE ona_reader')
    const db = openCopy(path)
    const names = ownNames()
    await copyConversations(client, db, names, options)
    const done = copyRows(client, db, names, options)
      .finally(() => db.close())
      .then(async (rows) => {
        await client.end()
        return rows
      }, failed)
    done.catch(() => {}) // reported by whoever waits for it
    return { path, done, remove }
  } catch (cause) {
    return failed(cause)
  }
}
