/**
 * Durable approvals (`"approvals"` in the settings): where nobody answers a prompt, the call waits as a row. Its turn ends
 * without a result for it, the process may end, and the next turn of the session takes the call up where it was left.
 * A sub-agent's call waits in the same way, and with it the call that started the sub-agent.
 */
import {
  type Approval,
  openApprovals,
  requestApproval,
  settleApproval,
  takeWaitingCall,
  waitingCalls,
} from '../store/approvals.ts'
import type { PermissionAnswer, PermissionRequest } from './events.ts'
import type { Session, WaitingCall } from './session/session.ts'
import { interruptedResult, runToolCall } from './tool-call.ts'
import type { TurnEnd } from './turn-end.ts'

const defaultHours = 24

/** Leaves the call open for an answer; undefined where the settings do not ask for that, or nothing could resume it. */
export function awaitApproval(call: WaitingCall, request: PermissionRequest): string | undefined {
  const { session, use } = call
  const { approvals } = session.runtime.settings
  if (!approvals || (session.agent && session.agent.toolUseId === undefined)) return undefined
  const { expiresAfterHours = defaultHours, owner = null } = approvals
  const id = requestApproval(session.db, {
    conversationId: session.conversationId,
    sessionId: session.id,
    toolUseId: use.id,
    tool: request.tool,
    input: JSON.stringify(request.input),
    summary: request.summary,
    reason: request.reason,
    owner,
    expiresInSeconds: Math.round(expiresAfterHours * 3600),
  })
  const [{ resume }] = openApprovals(session.db, session.id) as [Approval]
  const why = `${request.tool} waits for approval ${id}: ona approvals show ${id}. After the decision, ona --resume ${resume} continues at this call.`
  call.waiting = id
  call.end = { stop: 'end_turn', text: '', why, approval: id }
  session.emit({ type: 'notice', level: 'warning', text: why })
  return why
}

/** Whether a turn of the session would take up a call that was left open. */
export const hasOpenCalls = ({ db, id }: Pick<Session, 'db' | 'id'>): boolean =>
  openApprovals(db, id).length > 0 || waitingCalls(db, id).length > 0

/** Gives the calls that an earlier turn left open their results; the turn's end where one still waits, or ends it. */
export async function settleApprovals(session: Session): Promise<TurnEnd | undefined> {
  for (const approval of openApprovals(session.db, session.id)) {
    if (approval.status === 'pending') return stillWaits(approval)
    const end = await settle(session, approval)
    if (end) return end
  }
  for (const call of waitingCalls(session.db, session.id)) {
    const pending = openApprovals(session.db, call.childSessionId).find(({ status }) => status === 'pending')
    const { background } = JSON.parse(call.detail) as { background?: object }
    if (background) {
      if (!pending) await session.services.resumeAgent(session, call.toolUseId)
    } else {
      if (pending) return stillWaits(pending)
      const end = await runAgain(session, call.toolUseId, { answer: { allow: true, by: 'operator' } })
      if (end) return end
    }
  }
  return undefined
}

const stillWaits = ({ tool, id, owner }: Approval): TurnEnd => ({
  stop: 'end_turn',
  text: '',
  why: `${tool} still waits for approval ${id}${owner ? ` by ${owner}` : ''}: ona approvals show ${id}`,
  approval: id,
})

async function settle(session: Session, approval: Approval): Promise<TurnEnd | undefined> {
  const { id, toolUseId, status, decidedBy, note, input } = approval
  if (!settleApproval(session.db, id)) return undefined
  const use = useOf(session, toolUseId)
  if (!use) return undefined // compacted or rewound: nothing waits for its result
  if (status === 'expired') {
    session.result(use, interruptedResult(`approval ${id} expired; the call was not run`))
    return undefined
  }
  const feedback = [note, `(decided by ${decidedBy})`].filter(Boolean).join(' ')
  const by = 'operator' as const
  const answer: PermissionAnswer = status === 'approved' ? { allow: true, by } : { allow: false, by, feedback }
  return runAgain(session, toolUseId, { answer, input })
}

/** Hooks and deny rules judge it once more; the prompt alone is answered. */
async function runAgain(
  session: Session,
  toolUseId: string,
  given: { readonly answer: PermissionAnswer; readonly input?: string },
): Promise<TurnEnd | undefined> {
  const use = useOf(session, toolUseId)
  if (!use) {
    takeWaitingCall(session.db, session.id, toolUseId)
    return undefined
  }
  session.answers.set(toolUseId, given)
  const { end } = await runToolCall(session, use)
  session.answers.delete(toolUseId)
  return end
}

/** As the model sent it: the approval's own copy may be redacted. */
function useOf(session: Session, toolUseId: string) {
  for (const message of session.messages.toReversed())
    for (const block of message.content) if (block.type === 'tool_use' && block.id === toolUseId) return block
  return undefined
}
