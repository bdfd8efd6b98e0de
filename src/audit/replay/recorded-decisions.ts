/** What the record says became of the calls of a session: decided, begun, or put to a hook in the place of a user. */
import type { ReadDb } from '../../store/open.ts'

export interface Was {
  /** What hooks and rules said. What a user then answered is not theirs. */
  readonly decision: 'allow' | 'ask' | 'deny'
  /** hook, gate, rule, person, operator, nobody; for what was simply allowed, nothing. */
  readonly by: string
  /** What became of it in the end, where that is on record. */
  readonly ended?: 'allow' | 'deny'
}

/** Outcomes of the calls of a session, by the id of the call. Null: it was never judged. */
export function outcomesOf(db: ReadDb, sessionId: string): (toolUseId: string) => Was | null {
  const decided = decisionsOf(db, sessionId)
  const isQuestioned = questionsOf(db, sessionId)
  const started = startedCalls(db, sessionId)
  return (id) => {
    const decision = decided(id)
    // asked of every call that may have begun: its event is then the next
    const began = decision?.[1] !== 'deny' && started(id)
    if (decision) return wasOf(decision, () => isQuestioned(id))
    return began ? allowed : null
  }
}

const allowed: Was = { decision: 'allow', by: '' }

type Decided = readonly [id: string, decision: string, reason: string | null]

function wasOf([, decision, reason]: Decided, questioned: () => boolean): Was {
  const { by, was } = reasonOf(reason)
  const ended = decision === 'deny' ? 'deny' : 'allow'
  if (was === 'allow' || was === 'ask' || was === 'deny') return { decision: was, by, ended }
  // An answer is on record, so there was a question; a refusal by a hook was one only where hooks of the question ran.
  const asked = decision !== 'deny' || by === 'person' || by === 'nobody' || (by === 'hook' && questioned())
  return { decision: asked ? 'ask' : 'deny', by, ended }
}

interface Reason {
  readonly by: string
  readonly was: unknown
}

/** Reasons repeat themselves, and few come up in turns. */
const reasons: { json: string | null; reason: Reason }[] = []
function reasonOf(json: string | null): Reason {
  for (const known of reasons) if (known.json === json) return known.reason
  const reason = readReason(json)
  reasons.unshift({ json, reason })
  if (reasons.length > mostReasons) reasons.pop()
  return reason
}
const mostReasons = 4

/** `was`: stored with imported calls, what rules and hooks said. A row of another program may hold anything. */
function readReason(json: string | null): Reason {
  try {
    const { by, was } = JSON.parse(json ?? '{}') ?? {}
    return { by: typeof by === 'string' ? by : '', was }
  } catch {
    return { by: '', was: undefined }
  }
}

/** The last decision on a call. Read at once, or call by call in a session that has more than fit in memory. */
function decisionsOf(db: ReadDb, sessionId: string): (id: string) => Decided | undefined {
  const rows = db.arrays<Decided>(
    `${decisions} WHERE session_id = ? ORDER BY tool_use_id, id LIMIT ${mostInMemory + 1}`,
    sessionId,
  )
  if (rows.length > mostInMemory)
    return (id) =>
      db.arrays<Decided>(`${decisions} WHERE session_id = ? AND tool_use_id = ? ORDER BY id`, sessionId, id).at(-1)
  const known = new Map<string, Decided>()
  const endings = new Uint8Array(256) // most calls have no decision, which their last letters tell sooner than the map
  for (const row of rows) {
    known.set(row[0], row)
    endings[endingOf(row[0])] = 1
  }
  return (id) => (endings[endingOf(id)] === 1 ? known.get(id) : undefined)
}
const mostInMemory = 5000
const decisions = 'SELECT tool_use_id, decision, reason_json FROM tool_permission_log'

/** Of the last letters of an id, a number below 256. */
const endingOf = (id: string): number =>
  (id.charCodeAt(id.length - 1) * 97 + id.charCodeAt(id.length - 2) * 7 + id.charCodeAt(id.length - 3)) & 255

/**
 * Calls that began. Events and results are in the same order but for calls that ran side by side, so the next event is looked
 * at first, and only a window of those that were passed over is in memory.
 */
function startedCalls(db: ReadDb, sessionId: string): (id: string) => boolean {
  let page: readonly Started[] = []
  let next = 0
  let last = 0
  const passed = new Set<string>()
  const hasNext = (): boolean => {
    if (next < page.length) return true
    if (last < 0) return false
    page = db.arrays<Started>(starts, sessionId, last)
    next = 0
    last = page.length < startsPage ? -1 : page.at(-1)![0]
    return page.length > 0
  }
  return (id) => {
    if (hasNext() && isOf(page[next]![1], id)) return next++ >= 0
    for (let ahead = 0; ahead < windowSize && !passed.has(id) && hasNext(); ahead++)
      passed.add(callOf(page[next++]![1]))
    for (const oldest of passed) {
      if (passed.size <= 2 * windowSize) break
      passed.delete(oldest)
    }
    return passed.delete(id)
  }
}
const windowSize = 4000

type Started = readonly [id: number, detail: string | null]

const startsPage = 500
const starts = `SELECT id, detail FROM events WHERE session_id = ? AND event_type = 'tool_start' AND id > ?
  ORDER BY id LIMIT ${startsPage}`

/** The runtime writes the id first. */
const idOpening = '{"tool_use_id":"'
const isOf = (detail: string | null, id: string): boolean =>
  detail?.startsWith(idOpening) === true &&
  detail.startsWith(id, idOpening.length) &&
  detail[idOpening.length + id.length] === '"'

/** The call that an event is of; a row of another program may hold anything. */
function callOf(detail: string | null): string {
  try {
    return String(JSON.parse(detail ?? '')?.tool_use_id ?? '')
  } catch {
    return ''
  }
}

/** Whether hooks of the question ran at a call. An index shows whether any ran at all, so that is looked up first. */
function questionsOf(db: ReadDb, sessionId: string): (id: string) => boolean {
  let any: boolean | undefined
  return (id) => {
    any ??= db.arrays(`${questions} LIMIT 1`).length > 0
    return any && db.arrays(`${questions} AND session_id = ? AND tool_use_id = ? LIMIT 1`, sessionId, id).length > 0
  }
}
const questions = "SELECT 1 FROM hook_invocations WHERE hook_event IN ('PermissionRequest', 'before_permission')"
