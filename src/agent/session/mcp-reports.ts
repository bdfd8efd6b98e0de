/** Reports MCP servers that do not work or whose tools have changed: a notice for the user, an event row for the record. */
import { visible } from '../../hooks/text/visible.ts'
import type { McpHub, ServerState } from '../../mcp/hub.ts'
import type { ToolsChange } from '../../mcp/known-tools.ts'
import { addEvent } from '../../store/audit.ts'
import type { Session } from './session.ts'

/** Gives a function that reports what has not been reported yet; it is called on every change of a server, too. */
export function mcpReports(hub: McpHub, session: () => Session | undefined): () => void {
  const reported = new Map<string, string>()
  let changesReported = 0
  const report = () => {
    const current = session()
    if (!current) return
    const record = (type: string, detail: object, text: string) => {
      current.emit({ type: 'notice', level: 'warning', text })
      addEvent(current.db, { conversationId: current.conversationId, sessionId: current.id, type, detail })
    }
    for (const state of hub.status()) {
      const { name, status, problem } = state
      // A restart in between does not make the next failure a new one; a connection does.
      if (status === 'connected' && problem === '') reported.delete(name)
      if (!isFailure(state) || reported.get(name) === problem) continue
      reported.set(name, problem)
      record('mcp_server_failure', { server: name, status, problem }, `MCP server ${name} (${status}): ${problem}`)
    }
    for (const change of hub.changes().slice(changesReported)) record('mcp_tools_changed', change, changeText(change))
    changesReported = hub.changes().length
  }
  hub.onChange(report)
  return report
}

/** A server that the user or the policy switched off is no failure. */
const isFailure = ({ status, problem }: ServerState): boolean =>
  problem !== '' && status !== 'disabled' && status !== 'closed'

function changeText({ server, before, after, added, removed, changed }: ToolsChange): string {
  const parts = Object.entries({ changed, removed, added }).flatMap(([what, names]) =>
    names.length > 0 ? [`${what} ${listed(names)}`] : [],
  )
  const version = before !== after ? ` (${visible(before)} is now ${visible(after)})` : ''
  const next = changed.length > 0 ? `; rules that allow a changed tool prompt once more: ona mcp accept ${server}` : ''
  return `MCP server ${server}${version}: ${parts.join('; ')}${next}`
}

/** In the server's words: neither long nor with hidden characters. */
const listed = (names: readonly string[]): string => {
  const first = names.slice(0, 10).map((name) => visible(name.slice(0, 64)))
  return [...first, ...(names.length > 10 ? [`${names.length - 10} more`] : [])].join(', ')
}
