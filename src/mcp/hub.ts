/** All MCP servers of a session: started beside it, and asked by the names that the model uses. */

import { isObject, type JsonObject, record } from '../hooks/shape.ts'
import type { Wrap } from '../sandbox/wrap.ts'
import type { McpSide } from '../tools/host.ts'
import { failed, said, type ToolOutput } from '../tools/output.ts'
import type { Tool } from '../tools/tool.ts'
import { approvalOf, rememberApproval, type ServerPolicy } from './approval.ts'
import type { ServerConfig, ServerStatus } from './config.ts'
import type { Connection, ConnectionDeps } from './connection.ts'
import { capped, described, schemaOf } from './content.ts'
import type { Elicitation, ElicitationAnswer } from './elicit.ts'
import { slugOf, toolNames } from './names.ts'
import type { Sampled, Sampling } from './sampling.ts'
import type { SecretStore } from './secrets.ts'

export interface HubDeps {
  readonly env: NodeJS.ProcessEnv
  /** For servers that ask for a sandbox. */
  readonly wrap?: Wrap
  readonly projectDir: string
  readonly home: string
  readonly version: string
  readonly policy: ServerPolicy
  /** Folders that servers may work in, the project first. */
  roots?(): readonly string[]
  /** Asks the user about a server that the project brings; undefined: nobody is there, ask another time. */
  approve?(server: ServerConfig): Promise<boolean | undefined>
  elicit?(asked: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>
  /** A reply of the model for a server that asks for one; without it servers cannot ask. */
  sample?(asked: Sampling, signal: AbortSignal): Promise<Sampled>
  readonly secrets?: SecretStore
  /** Shows a page to the user, for signing in. */
  openUrl?(url: string): void | Promise<void>
  readonly backOffMs?: readonly number[]
}

export interface McpTool extends Tool {
  readonly server: string
  readonly alwaysLoad: boolean
}

export interface McpPrompt {
  /** `mcp__server__prompt`, as a slash command. */
  readonly name: string
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[]
}

export interface ServerState {
  readonly name: string
  readonly scope: ServerConfig['scope']
  readonly transport: ServerConfig['transport']['type']
  readonly status: ServerStatus | 'unapproved' | 'disabled'
  readonly problem: string
  readonly tools: number
}

export interface McpHub extends McpSide {
  tools(): readonly McpTool[]
  prompts(): readonly McpPrompt[]
  /** A prompt as text for the model; `words` fill its arguments in their order. */
  prompt(name: string, words: readonly string[], signal: AbortSignal): Promise<ToolOutput>
  /** What connected servers say about themselves, for the system prompt. */
  instructions(): string
  status(): readonly ServerState[]
  /** Until every server is connected or has failed, or the time is over. */
  ready(ms: number): Promise<void>
  /** Tells of every change to tools, prompts or states. Gives a function that ends it. */
  onChange(listener: () => void): () => void
  signIn(server: string, signal: AbortSignal): Promise<boolean>
  reconnect(server: string): Promise<boolean>
  /** Stops a server and hides its tools, or starts it again. False: there is no such server. */
  enable(server: string, enabled: boolean): Promise<boolean>
  /** Makes these the servers that were added while the session runs; waits until they answer. */
  setServers(servers: readonly ServerConfig[]): Promise<ServersChange>
  close(): Promise<void>
}

export interface ServersChange {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** By name, why a server is not connected. */
  readonly errors: Readonly<Record<string, string>>
}

const backOffMs = [1000, 2000, 4000, 8000, 16_000]

/** Starts the servers and does not wait for them. Without servers, nothing of the SDK is loaded. */
export function connectServers(servers: readonly ServerConfig[], deps: HubDeps): McpHub {
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }
  const entries = entriesOf(servers)
  let closed = false
  const start = (entry: Entry) => startEntry(entry, deps, changed, () => closed)
  let starting: Promise<unknown> = Promise.all(entries.map(start))

  const live = () =>
    entries.flatMap(({ slug, config, connection }) => (connection ? [{ slug, config, connection }] : []))
  const find = (server: string) => entries.find(({ config, slug }) => config.name === server || slug === server)
  const named = (kind: 'tools' | 'prompts') =>
    live().flatMap(({ slug, config, connection }) => {
      const offered = connection.offer[kind].filter((each) => typeof each.name === 'string').slice(0, mostTools)
      const names = toolNames(
        slug,
        offered.map((each) => each.name as string),
      )
      return offered.map((each, at) => ({ name: names[at]!, own: each.name as string, each, config, connection }))
    })
  const callTool: McpSide['callTool'] = async (name, input, signal, progress) => {
    const find = () => named('tools').find((each) => each.name === name)
    const tool = find() ?? (await settled(name, signal).then(find))
    return tool
      ? tool.connection.callTool(tool.own, input, signal, progress)
      : failed(`there is no tool ${name}; its MCP server is not connected or does not offer it. /mcp shows the servers`)
  }
  /** Rebuilt only when a server offers something else: whoever compares lists finds the same one. */
  let made: { readonly from: readonly unknown[]; readonly tools: readonly McpTool[] } | undefined
  const tools = (): readonly McpTool[] => {
    const from = live().map(({ connection }) => connection.offer.tools)
    if (made?.from.length !== from.length || from.some((offered, at) => offered !== made?.from[at])) {
      made = { from, tools: named('tools').map(({ name, each, config }) => toolOf(name, each, config, callTool)) }
    }
    return made.tools
  }
  /** A call may name a tool of a server that is still starting. */
  const settled = async (name: string, signal: AbortSignal) => {
    const interrupted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    const meant = async () => {
      await starting
      await Promise.all(
        live().flatMap(({ slug, connection }) => (name.startsWith(`mcp__${slug}__`) ? [connection.settled] : [])),
      )
    }
    await Promise.race([meant(), interrupted])
  }
  const unknown = (server: string) => {
    const known = entries.map(({ config }) => config.name).join(', ') || 'none'
    return failed(`there is no MCP server ${server}; configured: ${known}`)
  }

  return {
    tools,
    prompts: () =>
      named('prompts').map(({ name, each, config }) => ({
        name,
        description: described(config.name, each.description),
        arguments: argumentsOf(each),
      })),
    callTool,
    async prompt(name, words, signal) {
      const prompt = named('prompts').find((each) => each.name === name)
      if (!prompt) return failed(`there is no prompt ${name}; /mcp shows the servers`)
      const values = argumentsOf(prompt.each).flatMap((each, at) =>
        words[at] === undefined ? [] : [[each.name, words[at]]],
      )
      return prompt.connection.prompt(prompt.own, Object.fromEntries(values), signal)
    },
    async listResources(server) {
      if (server !== undefined && !find(server)) return unknown(server)
      const asked = live().filter(
        ({ config, slug }) => server === undefined || config.name === server || slug === server,
      )
      const lists = await Promise.all(asked.map(async ({ config, connection }) => resourcesOf(config.name, connection)))
      const resources = lists.flat()
      return resources.length === 0
        ? said('No resources: the connected MCP servers offer none.')
        : said(capped(JSON.stringify(resources)))
    },
    async readResource(server, uri, signal) {
      const entry = find(server)
      if (!entry?.connection) return unknown(server)
      return entry.connection.readResource(uri, signal)
    },
    instructions: () =>
      live()
        .filter(({ connection }) => connection.status === 'connected' && connection.offer.instructions !== '')
        .map(({ config, connection }) => described(config.name, connection.offer.instructions))
        .join('\n\n'),
    status: () =>
      entries.map(({ config, connection, held, problem }) => ({
        name: config.name,
        scope: config.scope,
        transport: config.transport.type,
        status: connection?.status ?? held ?? 'pending',
        problem: connection?.problem || problem,
        tools: connection?.offer.tools.length ?? 0,
      })),
    async ready(ms) {
      const all = starting.then(() => Promise.all(live().map(({ connection }) => connection.settled)))
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms)
      })
      await Promise.race([all, late])
      clearTimeout(timer)
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async signIn(server, signal) {
      await starting
      return (await find(server)?.connection?.signIn(signal)) ?? false
    },
    async reconnect(server) {
      await starting
      return (await find(server)?.connection?.reconnect()) ?? false
    },
    async enable(server, enabled) {
      await starting
      const entry = find(server)
      if (!entry) return false
      if (!enabled) {
        await entry.connection?.close()
        Object.assign(entry, { connection: undefined, held: 'disabled', problem: 'switched off' })
        changed()
      } else if (!entry.connection) {
        Object.assign(entry, { held: undefined, problem: '' })
        starting = start(entry)
        await starting
        await find(server)?.connection?.settled
      }
      return true
    },
    async setServers(wanted) {
      await starting
      const same = (config: ServerConfig) => wanted.find((each) => JSON.stringify(each) === JSON.stringify(config))
      const gone = entries.filter(({ config, dynamic }) => dynamic && !same(config))
      for (const entry of gone) {
        entries.splice(entries.indexOf(entry), 1)
        await entry.connection?.close()
      }
      const known = entries.map(({ config }) => config.name)
      const fresh = wanted.filter(({ name }) => !known.includes(name))
      const added = entriesOf([...entries.map(({ config }) => config), ...fresh])
        .slice(entries.length)
        .map((entry) => ({ ...entry, dynamic: true }))
      entries.push(...added)
      starting = Promise.all(added.map(start))
      await starting
      await Promise.all(added.map((entry) => entry.connection?.settled))
      changed()
      const failed = entries.filter(({ dynamic, connection }) => dynamic && connection?.status !== 'connected')
      const taken = wanted.filter(({ name }) => entries.some(({ config, dynamic }) => !dynamic && config.name === name))
      return {
        added: fresh.map(({ name }) => name),
        removed: gone.map(({ config }) => config.name).filter((name) => !wanted.some((each) => each.name === name)),
        errors: Object.fromEntries([
          ...failed.map(({ config, connection, problem }) => [
            config.name,
            connection?.problem || problem || 'not connected',
          ]),
          ...taken.map(({ name }) => [name, 'a configured server has this name']),
        ]),
      }
    },
    async close() {
      closed = true
      listeners.clear()
      await starting
      await Promise.all(live().map(({ connection }) => connection.close()))
    },
  }
}

const mostTools = 1000

/** A server's tool as one of ours. Its input is checked by the server, which knows what it wants. */
function toolOf(
  name: string,
  offered: JsonObject,
  { name: server, alwaysLoad }: ServerConfig,
  callTool: McpSide['callTool'],
): McpTool {
  const schema = schemaOf(offered.inputSchema)
  const readOnly = isObject(offered.annotations) && offered.annotations.readOnlyHint === true
  return {
    name,
    prompt: described(server, offered.description),
    input: { ...record({}), schema: () => schema },
    safety: readOnly ? 'read_only' : 'network',
    server,
    alwaysLoad,
    summary: (input) => JSON.stringify(input).slice(0, 200),
    run: (input, { signal, progress }) => callTool(name, input, signal, progress),
  }
}

interface Entry {
  readonly slug: string
  readonly config: ServerConfig
  connection?: Connection
  /** Added while the session runs. */
  readonly dynamic?: boolean
  /** Why it is not even started. */
  held?: 'unapproved' | 'disabled'
  problem: string
}

/** Two names that become one slug would be one server to the model: the second is not started. */
function entriesOf(servers: readonly ServerConfig[]): Entry[] {
  const taken = new Map<string, string>()
  return servers.map((config) => {
    const slug = slugOf(config.name)
    const other = taken.get(slug)
    if (other === undefined) taken.set(slug, config.name)
    return other === undefined
      ? { slug, config, problem: '' }
      : { slug, config, held: 'disabled' as const, problem: `its name is too much like that of ${other}; rename one` }
  })
}

async function startEntry(entry: Entry, deps: HubDeps, changed: () => void, isClosed: () => boolean): Promise<void> {
  if (entry.held) return
  const { config } = entry
  const hold = (held: Entry['held'], problem: string) => {
    Object.assign(entry, { held, problem })
    changed()
  }
  let approval = approvalOf(config, deps.policy, deps.projectDir, deps.home)
  if (approval === 'unasked' && deps.approve) {
    const answer = await deps.approve(config)
    if (answer !== undefined) {
      rememberApproval(config, answer, deps.projectDir, deps.home)
      approval = answer ? 'approved' : 'refused'
    }
  }
  if (approval === 'forbidden') return hold('disabled', 'the settings do not allow this server')
  if (approval === 'refused') return hold('disabled', 'you said no to it; ona mcp reset-project-choices asks again')
  if (approval === 'unasked') {
    return hold(
      'unapproved',
      'the project brings it, and you have not approved it; start ona on a terminal, or list it in enabledMcpjsonServers',
    )
  }
  const [{ Connection }, { serverLogin }] = await Promise.all([import('./connection.ts'), import('./oauth.ts')])
  if (isClosed()) return
  const { secrets, openUrl } = deps
  const connection: ConnectionDeps = {
    env: deps.env,
    projectDir: deps.projectDir,
    ...(deps.wrap && { wrap: deps.wrap }),
    roots: deps.roots ?? (() => [deps.projectDir]),
    elicit: deps.elicit ?? (async () => ({ action: 'cancel' as const })),
    ...(deps.sample && { sample: deps.sample }),
    ...(secrets && {
      login: ({ transport }, interactive) =>
        serverLogin(transport as never, secrets, interactive ? openUrl : undefined),
    }),
    changed,
    version: deps.version,
    startMs: milliseconds(deps.env['MCP_TIMEOUT'], 30_000),
    callMs: milliseconds(deps.env['MCP_TOOL_TIMEOUT'], 120_000),
    backOffMs: deps.backOffMs ?? backOffMs,
  }
  entry.connection = new Connection(config, connection)
}

async function resourcesOf(server: string, connection: Connection): Promise<readonly JsonObject[]> {
  try {
    return (await connection.resources()).map(({ uri, name, mimeType, description }) => ({
      uri,
      name,
      ...(mimeType !== undefined && { mimeType }),
      ...(typeof description === 'string' && { description: description.slice(0, 500) }),
      server,
    }))
  } catch (error) {
    return [{ server, problem: (error as Error).message }]
  }
}

function argumentsOf(prompt: JsonObject): McpPrompt['arguments'] {
  const list = Array.isArray(prompt.arguments) ? prompt.arguments.filter(isObject) : []
  return list.map(({ name, required }) => ({ name: String(name), required: required === true }))
}

function milliseconds(text: string | undefined, otherwise: number): number {
  const value = Number(text)
  return text !== undefined && Number.isSafeInteger(value) && value > 0 ? value : otherwise
}
