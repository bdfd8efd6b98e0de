/** Reports MCP servers that do not work: a notice for the user, an event row for the record. */
import type { McpHub, ServerState } from '../../mcp/hub.ts'
import { addEvent } from '../../store/audit.ts'
import type { Session } from './session.ts'

/** Gives a function that reports what has not been reported yet; it is called on every change of a server, too. */
export function mcpFailures(hub: McpHub, session: () => Session | undefined): () => void {
  const reported = new Map<string, string>()
  const report = () => {
    const current = session()
    if (!current) return
    for (const state of hub.status()) {
      const { name, status, problem } = state
      // A restart in between does not make the next failure a new one; a connection does.
      if (status === 'connected') reported.delete(name)
      if (!isFailure(state) || reported.get(name) === problem) continue
      reported.set(name, problem)
      current.emit({ type: 'notice', level: 'warning', text: `MCP server ${name} (${status}): ${problem}` })
      const { conversationId, id: sessionId } = current
      addEvent(current.db, {
        conversationId,
        sessionId,
        type: 'mcp_server_failure',
        detail: { server: name, status, problem },
      })
    }
  }
  hub.onChange(report)
  return report
}

/** A server that the user or the policy switched off is no failure. */
const isFailure = ({ status, problem }: ServerState): boolean =>
  problem !== '' && (status === 'failed' || status === 'pending' || status === 'needs-auth' || status === 'unapproved')
