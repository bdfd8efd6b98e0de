/** The host's requests about MCP servers. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { readServers } from '../../mcp/config.ts'
import type { Answer, Control, Host } from './control.ts'

const missing = (name: unknown): Answer => ({ error: `there is no MCP server ${name}` })

export const mcpControls: Record<string, Control> = {
  mcp_status: ({ session }) => ({ mcpServers: serverStatus(session.runtime.mcp) }),

  async mcp_reconnect({ session }, { serverName }) {
    const { mcp } = session.runtime
    if (!mcp?.status().some(({ name }) => name === serverName)) return missing(serverName)
    const connected = await mcp.reconnect?.(String(serverName))
    if (connected) return {}
    const state = mcp.status().find(({ name }) => name === serverName) as { problem?: string } | undefined
    return { error: `${serverName} is not connected${state?.problem ? `: ${state.problem}` : ''}` }
  },

  async mcp_toggle({ session }, { serverName, enabled }) {
    const found = await session.runtime.mcp?.enable?.(String(serverName), enabled === true)
    return found ? {} : missing(serverName)
  },

  async mcp_set_servers({ session, servers }, { servers: declared }) {
    if (!isObject(declared)) return { error: 'servers must be an object' }
    const own = Object.entries(declared).filter(([, each]) => isObject(each) && each['type'] === 'sdk')
    const others = Object.fromEntries(
      Object.entries(declared).filter(([, each]) => !isObject(each) || each['type'] !== 'sdk'),
    )
    const read = readServers([{ scope: 'flag', from: 'mcp_set_servers', servers: others }], session.runtime.env)
    const configs = [...own.map(([name]) => servers.config(name)), ...read.servers]
    const change = await session.runtime.mcp?.setServers?.(configs)
    if (!change) return { error: 'this session can take no further MCP servers' }
    const faults = read.problems.map((problem) => [/mcpServers\.(\S+)/.exec(problem)?.[1] ?? '', problem])
    return { ...change, errors: { ...change.errors, ...Object.fromEntries(faults) } } as unknown as JsonObject
  },

  /** A message that a server in the host's process sends by itself. */
  mcp_message({ servers }: Host, { server_name: name, message }) {
    return servers.deliver(String(name), message) ? {} : missing(name)
  },
}

type Hub = Host['session']['runtime']['mcp']

function serverStatus(hub: Hub): JsonObject[] {
  const tools = hub?.tools() ?? []
  return (hub?.status() ?? []).map((state) => {
    const { name, status, problem, scope } = state as { name: string; status: string; problem?: string; scope?: string }
    const own = tools.filter((tool) => (tool as { server?: string }).server === name)
    return {
      name,
      status: status === 'unapproved' ? 'disabled' : status === 'closed' ? 'failed' : status,
      ...(problem && { error: problem }),
      ...(scope && { scope: scope === 'flag' ? 'dynamic' : scope }),
      tools: own.map((tool) => ({ name: tool.name.replace(/^mcp__.+?__/, ''), description: tool.prompt })),
    }
  })
}
