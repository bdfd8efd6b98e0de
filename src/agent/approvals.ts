/**
 * Durable approvals (`"approvals"` in the settings): where nobody answers a prompt, the call waits as a row. Its turn ends
 * without a result for it, the process may end, and the next turn of the session takes the call up where it was left.
 */
import { openApprovals, requestApproval, settleApproval } from '../store/approvals.ts'
import type { PermissionRequest } from './events.ts'
import type { Session, WaitingCall } from './session/session.ts'
import { interruptedResult, runToolCall } from './tool-call.ts'
import type { TurnEnd } from './turn-end.ts'

const defaultHours = 24

/** Leaves the call open for an answer; undefined where the settings do not ask for that, or the call is a sub-agent's. */
export function awaitApproval(call: WaitingCall, request: PermissionRequest): string | undefined {
  const { session, use } = call
  const { approvals } = session.runtime.settings
  if (!approvals || session.agent) return undefined
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
  const why = `${request.tool} waits for approval ${id}: ona approvals show ${id}. After the decision, ona --resume ${session.id} continues at this call.`
  call.waiting = id
  call.end = { stop: 'end_turn', text: '', why }
  session.emit({ type: 'notice', level: 'warning', text: why })
  return why
}

/** Gives the calls that an earlier turn left open their results; the turn's end where one still waits. */
export async function settleApprovals(session: Session): Promise<TurnEnd | undefined> {
  if (session.agent) return undefined
  for (const { id, toolUseId, tool, status, decidedBy, note, owner } of openApprovals(session.db, session.id)) {
    const input = inputOf(session, toolUseId)
    const use = { type: 'tool_use', id: toolUseId, name: tool, input: input ?? {} } as const
    if (status === 'pending') {
      const who = owner ? ` by ${owner}` : ''
      return {
        stop: 'end_turn',
        text: '',
        why: `${tool} still waits for approval ${id}${who}: ona approvals show ${id}`,
      }
    }
    if (status === 'expired' || input === undefined) {
      session.result(use, interruptedResult(`approval ${id} expired; the call was not run`))
    } else {
      const by = 'operator' as const
      const feedback = [note, `(decided by ${decidedBy})`].filter(Boolean).join(' ')
      session.answers.set(toolUseId, status === 'approved' ? { allow: true, by } : { allow: false, by, feedback })
      await runToolCall(session, use)
      session.answers.delete(toolUseId)
    }
    settleApproval(session.db, id)
  }
  return undefined
}

/** As the model sent it: the approval's own copy may be redacted. */
function inputOf(session: Session, toolUseId: string): Record<string, unknown> | undefined {
  for (const message of session.messages.toReversed())
    for (const block of message.content)
      if (block.type === 'tool_use' && block.id === toolUseId) return block.input as Record<string, unknown>
  return undefined
}
