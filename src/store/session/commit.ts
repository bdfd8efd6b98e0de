/** The groups of rows that are committed as one. */
import type { Invocation } from '../../hooks/plane.ts'
import { addEvent, type EventRecord, logPermission, type PermissionRecord, recordHooks } from '../audit.ts'
import { touchConversation } from '../conversations.ts'
import type { Db } from '../open.ts'
import { type StoredUses, withReferences } from './stored-once.ts'
import { type Appended, appendEntry, type Entry, type ToolResultEntry } from './transcript.ts'

/** Whose rows they are. */
export interface Owner {
  readonly sessionId: string
  readonly conversationId: string
}

/**
 * One tool call, whole: the rows of every hook that was asked, the permission and the result. Either all of it is in
 * the database or nothing of it.
 */
export function commitToolCall(
  db: Db,
  call: Owner & {
    readonly invocations: readonly Invocation[]
    readonly permission?: Omit<PermissionRecord, 'sessionId' | 'toolUseId'>
    readonly result: Omit<ToolResultEntry, '_t'>
    readonly events?: readonly Omit<EventRecord, 'conversationId' | 'sessionId'>[]
    /** Further entries that belong to the call, after its result. */
    readonly extra?: readonly Entry[]
    readonly parentId?: number | null
    /** Calls that the transcript holds already. */
    readonly uses?: StoredUses
  },
): Appended {
  const { sessionId, permission, result } = call
  return db.transaction(() => {
    if (permission) logPermission(db, { ...permission, sessionId, toolUseId: result.tool_use_id as string })
    const [appended] = commitRound(db, {
      ...call,
      invocations: [],
      entries: [{ _t: 'tool_result', ...result } as ToolResultEntry, ...(call.extra ?? [])],
    })
    const stored = { sequence: appended!.sequence, id: result.tool_use_id, content: result.content }
    recordHooks(db, sessionId, call.conversationId, withReferences(call.invocations, call.uses, stored))
    return appended!
  })
}

/** What one step of a turn leaves behind (a prompt, a reply, a compaction): its entries and the hooks asked, as one. */
export function commitRound(
  db: Db,
  round: Owner & {
    readonly entries: readonly Entry[]
    readonly invocations?: readonly Invocation[]
    readonly events?: readonly Omit<EventRecord, 'conversationId' | 'sessionId'>[]
    readonly parentId?: number | null
  },
): Appended[] {
  const { sessionId, conversationId, entries, invocations = [], events = [], parentId = null } = round
  return db.transaction(() => {
    recordHooks(db, sessionId, conversationId, invocations)
    for (const event of events) addEvent(db, { ...event, conversationId, sessionId })
    touchConversation(db, conversationId)
    return entries.map((entry) => appendEntry(db, sessionId, entry, parentId))
  })
}
