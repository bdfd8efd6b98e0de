/** The hooks and MCP servers that an agent's definition declares for that agent alone. */
import type { Handler } from '../../hooks/handler.ts'
import { readHooks, sayHookProblem } from '../../hooks/settings.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { readServers, type ServerConfig } from '../../mcp/config.ts'
import type { McpHub } from '../../mcp/hub.ts'
import { hookFiles } from '../../store/settings/hook-file.ts'
import { said } from '../../tools/output.ts'
import type { McpHost, Runtime } from '../session/runtime.ts'
import type { Session } from '../session/session.ts'
import type { AgentKind, Extensions } from './agent-definitions.ts'

export interface Equipped {
  /** The runtime that was given, with what the agent brings; all else is shared, also what changes in it later. */
  readonly runtime: Runtime
  /** Starts the servers, waits for them, and says what is not as it is written. They may ask questions of the session. */
  start(session: () => Session): Promise<void>
  close(): Promise<void>
}

/** `alone`: the whole session runs as this agent, so that its end is a Stop and no SubagentStop. */
export async function equip(
  runtime: Runtime,
  { name, source, extensions }: AgentKind,
  { projectDir, alone = false }: { projectDir: string; alone?: boolean },
): Promise<Equipped | { readonly problem: string }> {
  if (!extensions) return { runtime, start: async () => {}, close: async () => {} }
  const head = await fieldsOf(extensions)
  if ('problem' in head) return { problem: `agent ${name} (${source}): ${head.problem}` }

  const hooks = hooksOf(head.fields, extensions, runtime, projectDir)
  if ('problem' in hooks) return { problem: `agent ${name} (${source}): ${hooks.problem}` }
  const handlers = alone ? hooks.handlers : hooks.handlers.map(atSubagentStop)

  const servers = serversOf(head.fields, extensions, runtime, source)
  const own: Runtime = Object.assign(Object.create(runtime), { plane: runtime.plane.with(handlers) })
  let hub: McpHub | undefined
  return {
    runtime: own,
    async start(session) {
      const warn = (text: string) => session().emit({ type: 'notice', level: 'warning', text })
      for (const text of [...hooks.warnings, ...servers.problems]) warn(text)
      for (const each of servers.named)
        if (!runtime.mcp?.status().some((known) => known.name === each))
          warn(`agent ${name} names the MCP server "${each}", which is not configured`)
      if (servers.own.length === 0) return
      hub = runtime.openServers?.(servers.own, session)
      if (!hub) return warn(`--strict-mcp-config: the MCP servers of agent ${name} are not started`)
      Object.assign(own, { mcp: joined(hub, runtime.mcp) })
      await hub.ready(10_000)
      for (const each of hub.status())
        if (each.problem) warn(`MCP server ${each.name} of agent ${name}: ${each.problem}`)
    },
    close: async () => hub?.close(),
  }
}

async function fieldsOf({ head }: Extensions): Promise<{ fields: JsonObject } | { problem: string }> {
  if (typeof head !== 'string') return { fields: head }
  const { parse } = await import('yaml')
  try {
    const fields: unknown = parse(head)
    return isObject(fields) ? { fields } : { problem: 'its head is no YAML of keys and values' }
  } catch (cause) {
    return { problem: `its head is no YAML: ${(cause as Error).message.split('\n')[0]}` }
  }
}

/** A hook that cannot be read may be the rule that should hold the agent: it is not started without it. */
function hooksOf(
  { hooks }: JsonObject,
  { scope, trusted }: Extensions,
  { settings, home }: Runtime,
  cwd: string,
): { handlers: Handler[]; warnings: string[] } | { problem: string } {
  const off = settings.disableAllHooks === true || settings.allowManagedHooksOnly === true
  const withheld = off ? 'hooks_disabled' : trusted ? undefined : 'untrusted_workspace'
  const load = hookFiles(scope, { cwd, home })
  const { handlers, problems } = readHooks({ hooks }, { source: { kind: 'session' }, withheld, load })
  const wrong = problems.find(({ level }) => level === 'error')
  if (wrong) return { problem: sayHookProblem(wrong) }
  return { handlers, warnings: problems.map(sayHookProblem) }
}

/** A sub-agent's end has an event of its own. */
const atSubagentStop = (handler: Handler): Handler =>
  handler.event === 'Stop' ? { ...handler, event: 'SubagentStop' } : handler

interface Servers {
  readonly own: readonly ServerConfig[]
  /** Servers of the session that it counts on. */
  readonly named: readonly string[]
  readonly problems: readonly string[]
}

/** A list of names and of `{name: server}`, or one object of servers. */
function serversOf(
  { mcpServers }: JsonObject,
  { scope, trusted }: Extensions,
  { env }: Runtime,
  from: string,
): Servers {
  const list = Array.isArray(mcpServers) ? mcpServers : mcpServers === undefined ? [] : [mcpServers]
  const named = list.filter((each) => typeof each === 'string')
  const declared = list.filter((each) => typeof each !== 'string').map((servers) => ({ scope, from, servers }))
  if (declared.length > 0 && !trusted)
    return { own: [], named, problems: [`${from}: this folder is not trusted, so its MCP servers are not started`] }
  const { servers, problems } = readServers(declared, env)
  return { own: servers, named, problems }
}

/** The agent's servers before the session's: a name that both have means the agent's. */
function joined(own: McpHub, theirs: McpHost | undefined): McpHost {
  if (!theirs) return own
  const has = (name: string) => own.tools().some((tool) => tool.name === name)
  const sideOf = (server: string) => (own.status().some(({ name }) => name === server) ? own : theirs)
  return {
    ...theirs,
    tools: () => [...own.tools(), ...theirs.tools().filter(({ name }) => !has(name))],
    status: () => [...own.status(), ...theirs.status()],
    instructions: () => [own, theirs].flatMap((side) => side.instructions?.() || []).join('\n\n'),
    callTool: (name, ...call) => (has(name) ? own : theirs).callTool(name, ...call),
    readResource: (server, ...what) => sideOf(server).readResource(server, ...what),
    async listResources(server) {
      if (server !== undefined) return sideOf(server).listResources(server)
      const lists = await Promise.all([own.listResources(), theirs.listResources()])
      return said(lists.map(({ content }) => content).join('\n'))
    },
  }
}
