/** `ona audit archive|unarchive`: old conversations as compressed files beside the database. */

import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename } from 'node:path'
import { counted, grouped } from '../../../hooks/text/counted.ts'
import { archivable, settleArchives } from '../../../store/archive/archive.ts'
import {
  archiveConversations,
  type Reports,
  restoreConversations,
} from '../../../store/archive/archive-conversations.ts'
import { archivedConversations } from '../../../store/archive/reading.ts'
import { ownPath } from '../../../store/database-file.ts'
import { type Db, dbPath, openDb, StoreError } from '../../../store/open.ts'
import { operatorProblem } from '../../../store/operator.ts'
import { workerIn } from '../../../store/session/session-lock.ts'
import { shownBytes } from '../../../store/size.ts'
import { command } from '../../command.ts'
import { failed, said, saidJson, warned, wrong } from '../../print.ts'
import { openProgress } from '../../progress.ts'
import { sinceMs, sinceProblem, sqlTime } from '../../since.ts'

const archiveHelp = `ona audit archive moves conversations that were last active before a time out of the database, into a file beside it that is
compressed with zstd. ona inspect, hooks replay, audit verify and audit export read them there; resuming one puts it back.

  ona audit archive --older-than 90d
  ona audit archive --older-than 2026-01-01 --dry-run     how many that would be

  --older-than 90d|DATE  last active before then (90d, 12h, 2w, or a date)
  --no-vacuum            leave the freed pages in the database, for new rows
  --dry-run              only count
  --json                 print the result as JSON

Keep the files (DATABASE-archive-*.zst) together with the database; zstd -dc prints one as JSON lines.
`

export const archive = command(
  'ona audit archive',
  {
    help: archiveHelp,
    flags: { 'older-than': 'value', 'no-vacuum': 'flag', 'dry-run': 'flag', json: 'flag' },
  },
  ({ 'older-than': olderThan, 'no-vacuum': noVacuum, 'dry-run': dryRun, json }) => {
    if (olderThan === undefined)
      return wrong('ona audit archive', 'say which with --older-than, as in --older-than 90d')
    const before = sinceMs(olderThan)
    if (before === undefined)
      return wrong('ona audit archive', sinceProblem(olderThan).replace('--since', '--older-than'))
    return asOperator('archiving the record', (db) => {
      const ids = archivable(db, sqlTime(before))
      if (dryRun) {
        if (json) return saidJson({ conversations: ids.length })
        return said(`${counted(ids.length, 'conversation')} would be archived`)
      }
      const file = `${basename(ownPath(db.path))}-archive-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}.zst`
      const sizeBefore = statSync(db.path).size
      const done = reported(ids, (reports) => archiveConversations(db, ids, file, sqlTime(before), reports))
      for (const problem of settleArchives(db)) warned(problem)
      if (!noVacuum && isWorthIt(db)) vacuum(db)
      const freed = sizeBefore - statSync(db.path).size
      if (json) saidJson({ ...done, file: done.rows > 0 ? file : null, freed })
      else {
        const moved = `moved ${counted(done.rows, 'row')} of ${counted(done.conversations, 'conversation')} to ${file} (${shownBytes(done.bytes)})`
        const smaller = freed > 0 ? `; the database is ${shownBytes(freed)} smaller` : ''
        const nothing = ids.length === 0 ? 'there is nothing to archive' : 'nothing was archived'
        said((done.rows === 0 ? nothing : moved) + smaller)
      }
      return done.skipped > 0 ? 1 : 0
    })
  },
)

const unarchiveHelp = `ona audit unarchive puts archived conversations back into the database.

  ona audit unarchive ID…
  ona audit unarchive --all
`

export const unarchive = command(
  'ona audit unarchive',
  { help: unarchiveHelp, flags: { all: 'flag', json: 'flag' }, words: 1000 },
  ({ all, json }, ids) => {
    if (!all === (ids.length === 0)) return wrong('ona audit unarchive', 'name conversations, or give --all')
    return asOperator('unarchiving the record', (db) => {
      const known = archivedConversations(db)
      const unknown = ids.find((id) => !known.includes(id))
      if (unknown !== undefined) return failed(`there is no archived conversation ${unknown}`)
      const wanted = all ? known : ids
      const done = reported(wanted, (reports) => restoreConversations(db, wanted, reports))
      for (const problem of settleArchives(db)) warned(problem)
      if (json) saidJson(done)
      else said(`restored ${counted(done.conversations, 'conversation')}`)
      return done.skipped > 0 ? 1 : 0
    })
  },
)

/** With a line of progress on a terminal. */
function reported<T>(ids: readonly string[], work: (reports: Reports) => T): T {
  const progress = openProgress()
  const all = counted(ids.length, 'conversation')
  const done = work({
    onDone: (done) => progress.show(`${grouped(done)} of ${all}`, done / ids.length),
    warn(text) {
      progress.end()
      warned(text)
    },
  })
  progress.end()
  return done
}

function asOperator(what: string, work: (db: Db) => number): number {
  const db = openDb(dbPath())
  try {
    const held = operatorProblem(what, { db, home: process.env['HOME'] || homedir() })
    return held ? failed(held) : work(db)
  } finally {
    db.close()
  }
}

/** Pages are free, and copying the others does not keep a session that is at work waiting. */
export function isWorthIt(db: Db, quickly = quicklyCopied): boolean {
  const { free, used } = db.get<{ free: number; used: number }>(
    `SELECT freelist_count * page_size AS free, (page_count - freelist_count) * page_size AS used
     FROM pragma_freelist_count, pragma_page_count, pragma_page_size`,
  )!
  if (free < used / 20) return false
  if (used < quickly || !isAnyoneAtWork(db)) return true
  warned('a session is at work, so the file was not made smaller; run the command again when it has ended')
  return false
}
const quicklyCopied = 256 * 1024 * 1024

const isAnyoneAtWork = (db: Db): boolean =>
  db
    .all<{ id: string; conversationId: string }>(
      "SELECT substr(key, 9) AS id, conversation_id AS conversationId FROM state WHERE key LIKE 'working:%'",
    )
    .some((session) => workerIn({ db, ...session }) !== undefined)

/** Where another program holds the file, the freed pages wait for new rows. */
function vacuum(db: Db): void {
  try {
    db.run('VACUUM')
    db.get('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    warned(`the file was not made smaller: ${error.message}`)
  }
}
