/** What the overview asks the server for, as JSON. */
import { redact } from '../../../hooks/secrets/redact.ts'
import { listApprovals } from '../../../store/approvals.ts'
import type { Db } from '../../../store/open.ts'
import * as read from './dashboard.ts'
import type { Filter } from './filter.ts'
import type { Dashboard, Progress, Waiting } from './shapes.ts'

export const pageConversations = 25

export function dashboard(db: Db, progress: Progress, filter: Filter, page: number, isFleet = false): Dashboard {
  const totals = read.totals(db, filter)
  const offset = (page - 1) * pageConversations
  return {
    ...{ isFleet, database: db.path, progress, totals, days: read.days(db, filter), hooks: read.hooks(db, filter) },
    ...{ denials: read.denials(db, filter), prompts: read.prompts(db, filter) },
    ...{ approvals: waiting(db), choices: read.choices(db, isFleet), page },
    conversations: read.conversations(db, filter, { limit: pageConversations, offset }),
    pages: Math.max(1, Math.ceil(totals.conversations / pageConversations)),
  }
}

const waiting = (db: Db): Waiting[] =>
  listApprovals(db).map(({ id, tool, summary, input, reason, owner, conversationId, createdAt, expiresAt }) => ({
    ...{ id, tool, summary: redact(summary), input: redact(input, 'json'), reason: redact(reason), owner },
    ...{ conversation: conversationId, createdAt, expiresAt },
  }))
