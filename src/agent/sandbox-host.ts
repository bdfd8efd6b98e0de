/** A sandboxed command asks for a host that no list mentions: hooks, then the user. */
import { randomUUID } from 'node:crypto'
import type { PermissionUpdate } from '../hooks/plane.ts'
import type { Steps } from '../hooks/steps.ts'
import { addEvent } from '../store/audit.ts'
import { questionOf } from './permission-question.ts'
import { saveUpdates } from './permission-updates.ts'
import type { Session } from './session/session.ts'

/** Hooks see it as the fetch that it is. A rule that the user picks holds from the next command on. */
export async function allowsHost(session: Session, host: string): Promise<boolean> {
  const { isAllowed, by } = await answered(session, host)
  const { conversationId, id: sessionId } = session
  addEvent(session.db, { conversationId, sessionId, type: 'sandbox_host', detail: { host, allowed: isAllowed, by } })
  return isAllowed
}

async function answered(session: Session, host: string): Promise<{ isAllowed: boolean; by: string }> {
  if (questionOf(session).mode === 'dontAsk') return { isAllowed: false, by: 'mode dontAsk' }
  const id = `host_${randomUUID()}`
  const rule = { toolName: 'WebFetch', ruleContent: `domain:${host}` }
  const suggestions: PermissionUpdate[] = [
    { type: 'addRules', rules: [rule], behavior: 'allow', destination: 'localSettings' },
  ]
  const fields = {
    tool_name: 'WebFetch',
    tool_input: { url: `https://${host}/`, prompt: 'a sandboxed command asks for this host' },
    permission_suggestions: suggestions,
  }
  const step: Steps['before_permission'] = { tool: 'WebFetch', decision: 'ask', resolved: null }
  const hook = await session.ask('before_permission', step, () => ({ name: 'PermissionRequest', fields }), id)
  if (hook.decision === 'deny' || step.resolved === false || hook.stop !== null) return { isAllowed: false, by: 'hook' }
  if (hook.decision === 'allow' || step.resolved === true) return { isAllowed: true, by: 'hook' }
  const reason = `no rule and no entry of sandbox.network.allowedDomains names ${host}`
  const asked = { toolUseId: id, tool: 'Network', input: { host }, summary: `reach ${host}`, reason, suggestions }
  const said = await session.runtime.user.permission(asked, session.signal)
  if (!said) return { isAllowed: false, by: 'nobody' }
  if (said.allow) await saveUpdates(session, said.updates ?? [])
  else if (said.interrupt) session.interrupt()
  return { isAllowed: said.allow, by: said.by ?? 'person' }
}
