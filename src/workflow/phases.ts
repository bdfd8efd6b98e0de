/** The six phases and the only ways between them. */
import { addEvent } from '../store/audit.ts'
import { getConversation, type Phase, phases, setPhase } from '../store/conversations.ts'
import type { Db } from '../store/open.ts'
import { operatorProblem } from '../store/operator.ts'
import { approvedPlan, completePlan } from '../store/plans.ts'
import { coverageOf, missing } from './coverage.ts'

export { type Phase, phases }

export interface Move {
  readonly conversationId: string
  readonly to: Phase
  readonly sessionId?: string | null
  /** Who asks, for the record; only an operator can sign off. */
  readonly by: string
  /** The operator has seen the report and approves it. */
  readonly approved?: boolean
}

export type Moved =
  | { readonly ok: true; readonly from: Phase; readonly to: Phase }
  | { readonly ok: false; readonly why: string }

interface Way {
  readonly from: Phase | 'any'
  readonly to: Phase
  /** What is still missing, or undefined when the way is open. Read in the transaction that moves. */
  closed(db: Db, move: Move): string | undefined
  /** Rows that the change rests on, in its commit. */
  also?(db: Db, move: Move): void
}

const ways: readonly Way[] = [
  { from: 'any', to: 'planning', closed: () => undefined },
  {
    from: 'planning',
    to: 'implement',
    closed: (db, { conversationId }) =>
      approvedPlan(db, conversationId)
        ? undefined
        : 'there is no approved plan: the agent gives one with ExitPlanMode, and you approve it (ona plan approve)',
  },
  {
    from: 'implement',
    to: 'test',
    closed: () => undefined,
    also: (db, { conversationId, sessionId = null, by }) =>
      void addEvent(db, { conversationId, sessionId, type: 'implementation_complete', detail: { by } }),
  },
  {
    from: 'test',
    to: 'verify',
    closed: (db, { conversationId }) => missing(coverageOf(db, conversationId)),
  },
  {
    from: 'verify',
    to: 'done',
    closed: (db, { conversationId, approved }) =>
      missing(coverageOf(db, conversationId)) ??
      (approved ? undefined : 'the operator has not approved the report: ona --transition done --approve --as NAME'),
    also: (db, { conversationId, sessionId = null, by }) => {
      const { id } = approvedPlan(db, conversationId)! // without one nothing is covered, and the way is closed
      completePlan(db, id)
      addEvent(db, { conversationId, sessionId, type: 'sign_off', detail: { by, plan: id } })
    },
  },
]

/** Moves a conversation on, with all rows that belong to it, or changes nothing and says what is missing. */
export function transition(db: Db, move: Move): Moved {
  const { conversationId, to, by, sessionId = null } = move
  const held = to === 'planning' ? undefined : operatorProblem(`moving a conversation to ${to}`, { db })
  if (held) return { ok: false, why: held }
  return db.transaction((): Moved => {
    const conversation = getConversation(db, conversationId)
    if (!conversation) return { ok: false, why: `there is no conversation ${conversationId}` }
    const { phase: from } = conversation
    const way = ways.find((each) => each.to === to && (each.from === from || each.from === 'any'))
    if (!way) return { ok: false, why: noWay(from, to) }
    const why = way.closed(db, move)
    if (why !== undefined) return { ok: false, why }
    way.also?.(db, move)
    setPhase(db, conversationId, from, to) // read in this transaction: nobody can have moved it since
    addEvent(db, { conversationId, sessionId, type: 'phase', detail: { from, to, by } })
    return { ok: true, from, to }
  })
}

/** Who signed the work off, and when. */
export function signOff(db: Db, conversationId: string): { by: string; at: string } | undefined {
  return db.get<{ by: string; at: string }>(
    `SELECT json_extract(detail, '$.by') AS by, timestamp AS at FROM events
     WHERE conversation_id = ? AND event_type = 'sign_off' AND json_valid(detail) ORDER BY id DESC LIMIT 1`,
    conversationId,
  )
}

export const isPhase = (word: string): word is Phase => (phases as readonly string[]).includes(word)

function noWay(from: Phase, to: Phase): string {
  const open = ways.filter((way) => way.from === from || way.from === 'any').map((way) => way.to)
  const next = [...new Set(open)].filter((phase) => phase !== from).join(' or ')
  const skipped = from === 'implement' && (to === 'verify' || to === 'done') ? ': the test phase cannot be skipped' : ''
  return `there is no way from ${from} to ${to}${skipped}; from ${from} it goes to ${next}`
}
