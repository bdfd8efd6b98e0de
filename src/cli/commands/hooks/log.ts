/** `ona hooks log`: what hooks did. */
import { existsSync } from 'node:fs'
import { hookAnswer } from '../../../audit/inspect/hook-answer.ts'
import { eventNames } from '../../../hooks/events.ts'
import type { Invocation } from '../../../hooks/plane.ts'
import { stepNames } from '../../../hooks/steps.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { errorLine } from '../../../hooks/text/error-line.ts'
import { visible } from '../../../hooks/text/visible.ts'
import { command } from '../../command.ts'
import { noted, said, saidJson, table, wrong } from '../../print.ts'

const help = `ona hooks log shows which hooks ran, what each said (its verdict), how long it took, and why.

  ona hooks log
  ona hooks log --event PreToolUse --tool Bash

  --event NAME         an event or a step
  --tool NAME          of calls of this tool
  --session ID         of this session
  --conversation ID    of this conversation
  --limit N            the newest N (50)
  --json               one line of JSON
`

const logFlags = {
  json: 'flag',
  event: { kind: 'value', oneOf: [...eventNames, ...stepNames] },
  tool: 'value',
  session: 'value',
  conversation: 'value',
  limit: 'value',
} as const

export const log = command('ona hooks log', { help, flags: logFlags }, async (values) => {
  const limit = Number(values.limit ?? 50)
  if (!Number.isSafeInteger(limit) || limit < 1)
    return wrong('ona hooks log', `--limit must be a number of rows, not ${values.limit}`)
  const { dbPath, readDb } = await import('../../../store/open.ts')
  const path = dbPath()
  if (!existsSync(path)) return values.json ? saidJson([]) : said(`no hook has run: there is no ${path} yet`)
  const { listHookInvocations } = await import('../../../store/audit.ts')
  const db = readDb(path)
  try {
    const { event, tool: toolName, session: sessionId, conversation: conversationId } = values
    const { archivedHooks, bringArchived, conversationOf } = await import('../../../store/archive/reading.ts')
    const one = conversationId ?? conversationOf(db, sessionId)
    bringArchived(db, [one])
    const filter = { event, toolName, sessionId, conversationId, limit }
    let rows = listHookInvocations(db, filter)
    // a session that is not there is in no archive
    if (one === '' && sessionId === undefined && rows.length < limit) {
      const read = (id: string) => listHookInvocations(db, { ...filter, conversationId: id })
      const archived = archivedHooks(db, limit - rows.length, filter, read)
      rows = [...archived.rows, ...rows].sort((a, b) => a.id - b.id).slice(-limit)
      if (archived.left > 0)
        noted(`not looked into: ${counted(archived.left, 'archived conversation')}; --conversation ID reads one`)
    }
    if (values.json) return saidJson(rows)
    if (rows.length === 0) return said('no hook run matches')
    return said(table(['when', 'event', 'tool', 'verdict', 'took', 'hook', 'why'], rows.map(logRow)))
  } finally {
    db.close()
  }
})

/** What the hook said, in the words of inspect. */
function logRow(row: Invocation): string[] {
  const { hook, ms, says, why } = hookAnswer({
    ...{ ...row, id: 0, toolUseId: row.toolUseId ?? null, toolName: row.toolName ?? null, skipped: row.skippedReason },
  })
  const open = says === 'failed' && failedOpen.test(row.stderr ?? '')
  return [
    row.startedAt.replace('T', ' ').slice(0, 19),
    row.event,
    row.toolName ?? '',
    open ? 'failed open' : says,
    ms === null ? '' : `${ms} ms`,
    visible(hook),
    visible((says === 'failed' ? failure(why) : why.split('\n', 1)[0]!).slice(0, 100)),
  ]
}

/** The guard failed, and what it guards went on: a line of the plane's own. */
const failedOpen = /^\[SDLC_HOOK\] (?:.*; )?failed open: /m

/** The exit code, and of what the program printed the line that says why. */
function failure(why: string): string {
  const [code = ''] = /^exit \d+ /.exec(why) ?? []
  return code + errorLine(why.slice(code.length))
}
