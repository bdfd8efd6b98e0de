/** `ona audit retain`, `erase` and `hold`: what is removed from the record, and what must stay. */

import { homedir } from 'node:os'
import { bringBack, eraseSession, sessionsBefore } from '../../../audit/evidence/erase.ts'
import { removeErasedFiles } from '../../../audit/evidence/erase-files.ts'
import { runRetention } from '../../../audit/evidence/retention.ts'
import { counted, grouped } from '../../../hooks/text/counted.ts'
import {
  begunRetention,
  holdConversation,
  holdOf,
  holds,
  releaseConversation,
} from '../../../store/archive/retention.ts'
import { type Db, dbPath, openDb, StoreError } from '../../../store/open.ts'
import { operatorProblem } from '../../../store/operator.ts'
import { command } from '../../command.ts'
import { failed, said, saidJson, warned, wrong } from '../../print.ts'
import { openProgress } from '../../progress.ts'
import { sqlTime } from '../../since.ts'

const retainHelp = `ona audit retain removes the content of sessions that were last active more than N days ago: prompts, replies, inputs,
outputs and reasons. Who, when, which tool and what was decided stay, and the chain still verifies.

  ona audit retain --days 90
  ona audit retain --days 90 --dry-run      how many sessions that would be

  --days N            how many days of content stay
  --dry-run           only count
  --json              print the result as JSON
  --run ID            used by ona itself: finishes, within a minute, the run that a session began for cleanupPeriodDays; archived
                      conversations and sessions in use stay
  --for SESSION       with --run: the session that gets the event

Conversations on hold (ona audit hold) are left out.
`

export const retain = command(
  'ona audit retain',
  { help: retainHelp, flags: { days: 'value', 'dry-run': 'flag', run: 'value', for: 'value', json: 'flag' } },
  ({ days, 'dry-run': dryRun, run, for: startedBy = '', json }) => {
    if (run !== undefined) return finishRun(Number(run), startedBy, json)
    const count = Number(days)
    if (days === undefined || !Number.isSafeInteger(count) || count < 1)
      return wrong('ona audit retain', '--days must be a positive number of days')
    const before = sqlTime(Date.now() - count * 86_400_000)
    return erase((db) => sessionsBefore(db, before), before, `retention of ${counted(count, 'day')}`, {
      ...{ dryRun, json, before },
    })
  },
)

/** At most so long; the rest waits for the next day. */
const longestMs = 60_000

/** No operator's act: it erases what the settings of the session that began the run say, once, whoever starts it. */
function finishRun(run: number, startedBy: string, json: true | undefined): number {
  const db = openDb(dbPath())
  try {
    const now = new Date()
    const begun = begunRetention(db, run, now)
    if (!begun) return failed(`there is no run ${run} to finish; cleanupPeriodDays in the settings begins one a day`)
    const until = now.getTime() + longestMs
    const done = runRetention(db, { ...begun, now, startedBy, run, goOn: () => Date.now() < until })
    for (const problem of removeErasedFiles(db, process.env['HOME'] || homedir())) warned(problem)
    return json ? saidJson(done) : said(`${counted(done.rows, 'row')} of ${counted(done.sessions, 'session')} erased`)
  } finally {
    db.close()
  }
}

const eraseHelp = `ona audit erase removes the content of one session, such as personal data that someone asked you to delete. The chain
still verifies, and says how many rows were erased. The sessions of its sub-agents are erased with it. A conversation on hold must be released first.

  ona audit erase --session ID [--reason TEXT]
`

export const erasing = command(
  'ona audit erase',
  { help: eraseHelp, flags: { session: 'value', reason: 'value', json: 'flag' } },
  ({ session, reason, json }) => {
    if (session === undefined) return wrong('ona audit erase', 'name the session with --session ID')
    const find = (db: Db) =>
      db.get('SELECT 1 FROM sessions WHERE session_id = ?', session) ? withSubagents(db, session) : undefined
    return erase(find, session, reason ?? 'erased on request', { json })
  },
)

/** Sub-agents may have sub-agents. */
const withSubagents = (db: Db, session: string): string[] =>
  db
    .arrays<[string]>(
      `WITH RECURSIVE erased(id) AS (
         VALUES (?) UNION SELECT a.session_id FROM ona_subagents a JOIN erased ON a.parent_session_id = erased.id)
       SELECT id FROM erased`,
      session,
    )
    .map(([id]) => id)

/** Archived sessions that are in the database at once. */
const broughtBack = 100

function erase(
  find: (db: Db, about: string) => string[] | undefined,
  about: string,
  reason: string,
  { dryRun, json, before }: { dryRun?: true | undefined; json?: true | undefined; before?: string },
): number {
  const db = openDb(dbPath())
  try {
    const held = operatorProblem('erasing content of the record', { db, home: process.env['HOME'] || homedir() })
    if (held) return failed(held)
    const sessions = find(db, about)
    if (!sessions) return failed(`there is no session ${about}`)
    for (const id of sessions) {
      const hold = holdOf(db, id)
      if (hold) return failed(`session ${id} is on hold (${hold}); ona audit hold --release its conversation first`)
    }
    let [rows, left] = [0, 0]
    const progress = openProgress()
    for (const [at, id] of dryRun ? [] : sessions.entries()) {
      if (at % broughtBack === 0) bringBack(db, sessions.slice(at, at + broughtBack))
      try {
        rows += eraseSession(db, id, reason, before)
        progress.show(`${grouped(at + 1)} of ${counted(sessions.length, 'session')}`, (at + 1) / sessions.length)
      } catch (error) {
        if (!(error instanceof StoreError && error.kind === 'damaged')) throw error
        left++ // its archive alone is missing or was changed
        progress.end()
        warned(`session ${id} was not erased: ${error.message}`)
      }
    }
    progress.end()
    if (!dryRun) for (const problem of removeErasedFiles(db, process.env['HOME'] || homedir())) warned(problem)
    const done = sessions.length - left
    if (json) saidJson({ sessions: done, rows })
    else
      said(
        dryRun
          ? `${counted(done, 'session')} would be erased`
          : `${counted(rows, 'row')} of ${counted(done, 'session')} erased`,
      )
    return left > 0 ? 1 : 0
  } finally {
    db.close()
  }
}

const holdHelp = `ona audit hold keeps a conversation from being erased, by retain, erase and cleanupPeriodDays, until it is released.

  ona audit hold CONVERSATION --reason "case 2026-14"
  ona audit hold --release CONVERSATION
  ona audit hold                            the conversations on hold
`

export const hold = command(
  'ona audit hold',
  { help: holdHelp, flags: { reason: 'value', release: 'flag', json: 'flag' }, words: 1 },
  ({ reason = 'on hold', release, json }, [conversation]) => {
    const db = openDb(dbPath())
    try {
      if (conversation === undefined) {
        if (release) return wrong('ona audit hold', 'name the conversation to release')
        if (json) return saidJson(holds(db))
        const held = holds(db)
        if (held.length === 0) return said('no conversation is on hold')
        for (const { conversationId, reason: why, since } of held) said(`${conversationId}  ${since}  ${why}`)
        return 0
      }
      const problem = operatorProblem('a hold on the record', { db, home: process.env['HOME'] || homedir() })
      if (problem) return failed(problem)
      if (!db.get('SELECT 1 FROM conversations WHERE id = ?', conversation))
        return failed(`there is no conversation ${conversation}; ona inspect shows them`)
      if (!release) holdConversation(db, conversation, reason)
      else if (!releaseConversation(db, conversation)) return failed(`${conversation} is not on hold`)
      const state = release ? 'released' : 'on hold'
      return json ? saidJson({ conversation, state }) : said(`${conversation} ${state}`)
    } finally {
      db.close()
    }
  },
)
