/** All MCP servers of a session: started beside it, and asked by the names that the model uses. */

import { isObject, type JsonObject, record } from '../hooks/shape.ts'
import { grouped } from '../hooks/text/counted.ts'
import { visible } from '../hooks/text/visible.ts'
import type { McpSide } from '../tools/host.ts'
import { failed, said, type ToolOutput } from '../tools/output.ts'
import type { Tool } from '../tools/tool.ts'
import type { ServerConfig, ServerStatus } from './config.ts'
import type { Connection } from './connection.ts'
import { capped, described, schemaOf } from './content.ts'
import { type Entry, entriesOf, offerOf, startEntry, statusOf } from './entry.ts'
import type { HubDeps } from './hub-deps.ts'
import type { ToolsChange } from './known-tools.ts'
import { toolNames } from './names.ts'

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
  /** Of a connected server, what of it is not used. */
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
  /** Until every server is connected, has failed, or is known from an earlier connection; or the time is over, and its state says so. */
  ready(ms: number): Promise<void>
  /** Connects the servers that are known from an earlier connection: the first request is out. */
  connect(): void
  /** What servers have added, removed or changed since they were last connected, in this session. */
  changes(): readonly ToolsChange[]
  /** Called on every change to tools, prompts or states. Gives a function that ends it. */
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

/** So long after the start at the latest, servers that are known from an earlier connection are connected, too. */
const connectAfterMs = 1000

/** Starts the servers and does not wait for them. Without servers, nothing of the SDK is loaded. */
export function connectServers(servers: readonly ServerConfig[], deps: HubDeps): McpHub {
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }
  const entries = entriesOf(servers, deps)
  const changes: ToolsChange[] = []
  let closed = false
  const watch = { changed, toolsChanged: (change: ToolsChange) => void changes.push(change), isClosed: () => closed }
  const start = (entry: Entry): Promise<void> => {
    entry.starting ??= closed ? Promise.resolve() : startEntry(entry, deps, watch)
    return entry.starting
  }
  /** Connected, or has failed. */
  const connected = async (entry: Entry): Promise<void> => {
    await start(entry)
    await entry.connection?.settled
  }
  const connect = () => {
    clearTimeout(timer)
    for (const entry of entries) void start(entry)
  }
  for (const entry of entries) if (!entry.cached) void start(entry)
  const timer = entries.some(({ cached }) => cached) ? setTimeout(connect, connectAfterMs).unref() : undefined

  const find = (server: string) => entries.find(({ config, slug }) => config.name === server || slug === server)
  const named = (kind: 'tools' | 'prompts') =>
    entries.flatMap((entry) => {
      const offered = offerOf(entry)
        [kind].filter((each) => typeof each.name === 'string')
        .slice(0, mostTools)
      const names = toolNames(
        entry.slug,
        offered.map((each) => each.name as string),
      )
      return offered.map((each, at) => ({ name: names[at]!, own: each.name as string, each, entry }))
    })
  /** A call may name a tool of a server that is still starting. `shown`: the definition that the call was made for. */
  const call = async (
    name: string,
    input: JsonObject,
    signal: AbortSignal,
    progress: (text: string) => void,
    shown?: JsonObject,
  ): Promise<ToolOutput> => {
    const meant = entries.filter(({ slug }) => name.startsWith(`mcp__${slug}__`))
    await Promise.race([Promise.all(meant.map(connected)), interrupted(signal)])
    const tool = named('tools').find((each) => each.name === name)
    if (!tool?.entry.connection) {
      const problem = meant.map(({ connection }) => connection?.problem).find(Boolean)
      const why = `its MCP server is not connected or does not offer it${problem ? ` (${problem})` : ''}`
      return failed(`there is no tool ${name}; ${why}. /mcp shows the servers`)
    }
    if (shown && shown !== tool.each && JSON.stringify(shown) !== JSON.stringify(tool.each))
      return failed(
        `the MCP server ${tool.entry.config.name} has changed ${name} since it was listed, so the call was not made. The next request has its new definition: call it again`,
      )
    return tool.entry.connection.callTool(tool.own, input, signal, progress)
  }
  const callTool: McpSide['callTool'] = (name, input, signal, progress) => call(name, input, signal, progress)
  /** Rebuilt only when a server offers something else: whoever compares lists finds the same one. */
  let made: { readonly from: readonly unknown[]; readonly tools: readonly McpTool[] } | undefined
  const tools = (): readonly McpTool[] => {
    const from = entries.flatMap((entry) => [offerOf(entry).tools, entry.known.unaccepted])
    if (made?.from.length !== from.length || from.some((offered, at) => offered !== made?.from[at]))
      made = { from, tools: named('tools').map((tool) => toolOf(tool, call)) }
    return made.tools
  }
  const unknown = (server: string) => {
    const known = entries.map(({ config }) => config.name).join(', ') || 'none'
    return failed(`there is no MCP server ${server}; configured: ${known}`)
  }

  return {
    tools,
    prompts: () =>
      named('prompts').map(({ name, each, entry }) => ({
        name,
        description: described(entry.config.name, each.description),
        arguments: argumentsOf(each),
      })),
    callTool,
    async prompt(name, words, signal) {
      const prompt = named('prompts').find((each) => each.name === name)
      if (prompt) await connected(prompt.entry)
      if (!prompt?.entry.connection) return failed(`there is no prompt ${name}; /mcp shows the servers`)
      const values = argumentsOf(prompt.each).flatMap((each, at) =>
        words[at] === undefined ? [] : [[each.name, words[at]]],
      )
      return prompt.entry.connection.prompt(prompt.own, Object.fromEntries(values), signal)
    },
    async listResources(server) {
      if (server !== undefined && !find(server)) return unknown(server)
      const asked = entries.filter((entry) => server === undefined || entry === find(server))
      const lists = await Promise.all(
        asked.map(async (entry) => {
          await connected(entry)
          return entry.connection ? resourcesOf(entry.config.name, entry.connection) : []
        }),
      )
      const resources = lists.flat()
      return resources.length === 0
        ? said('No resources: the connected MCP servers offer none.')
        : said(capped(JSON.stringify(resources)))
    },
    async readResource(server, uri, signal) {
      const entry = find(server)
      if (entry) await Promise.race([connected(entry), interrupted(signal)])
      if (!entry?.connection) return unknown(server)
      return entry.connection.readResource(uri, signal)
    },
    instructions: () =>
      entries
        .filter((entry) => offerOf(entry).instructions !== '')
        .map((entry) => described(entry.config.name, offerOf(entry).instructions))
        .join('\n\n'),
    status: () =>
      entries.map((entry) => ({
        name: entry.config.name,
        scope: entry.config.scope,
        transport: entry.config.transport.type,
        status: statusOf(entry),
        problem: entry.connection?.problem || entry.problem || leftOut(entry),
        tools: offerOf(entry).tools.length,
      })),
    async ready(ms) {
      const waiting = new Set(entries.filter(({ cached }) => !cached))
      const answered = async (entry: Entry) => {
        await connected(entry)
        waiting.delete(entry)
        if (entry.problem === late) entry.problem = ''
      }
      const late = `no answer within ${ms / 1000} s; its tools are offered once it answers`
      let timer: NodeJS.Timeout | undefined
      const over = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms)
      })
      await Promise.race([Promise.all(Array.from(waiting, answered)), over])
      clearTimeout(timer)
      for (const entry of waiting) entry.problem = late
      if (waiting.size > 0) changed()
    },
    connect,
    changes: () => changes,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async signIn(server, signal) {
      const entry = find(server)
      if (entry) await start(entry)
      return (await entry?.connection?.signIn(signal)) ?? false
    },
    async reconnect(server) {
      const entry = find(server)
      if (entry) await start(entry)
      return (await entry?.connection?.reconnect()) ?? false
    },
    async enable(server, enabled) {
      const entry = find(server)
      if (!entry) return false
      if (!enabled) {
        await entry.starting
        await entry.connection?.close()
        Object.assign(entry, { connection: undefined, held: 'disabled', problem: 'switched off' })
        changed()
      } else if (entry.held) {
        Object.assign(entry, { held: undefined, problem: '', cached: undefined, starting: undefined })
        await connected(entry)
      }
      return true
    },
    async setServers(wanted) {
      const same = (config: ServerConfig) => wanted.find((each) => JSON.stringify(each) === JSON.stringify(config))
      const gone = entries.filter(({ config, dynamic }) => dynamic && !same(config))
      for (const entry of gone) {
        entries.splice(entries.indexOf(entry), 1)
        await entry.starting
        await entry.connection?.close()
      }
      const known = entries.map(({ config }) => config.name)
      const fresh = wanted.filter(({ name }) => !known.includes(name))
      const added = entriesOf([...entries.map(({ config }) => config), ...fresh], deps)
        .slice(entries.length)
        .map((entry) => ({ ...entry, dynamic: true }))
      entries.push(...added)
      await Promise.all(added.map(connected))
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
      clearTimeout(timer)
      listeners.clear()
      await Promise.all(entries.map(({ starting }) => starting))
      await Promise.all(entries.map(({ connection }) => connection?.close()))
    },
  }
}

const mostTools = 1000

/** Said of a server that is connected, too. */
function leftOut(entry: Entry): string {
  const { tools, prompts } = offerOf(entry)
  const parts = Object.entries({ tools, prompts }).flatMap(([what, { length }]) =>
    length > mostTools ? [`${grouped(length)} ${what}`] : [],
  )
  return parts.length === 0 ? '' : `it offers ${parts.join(' and ')}; the first ${grouped(mostTools)} are used`
}

/** A server's tool as one of ours. Its input is checked by the server, which knows what it wants. */
function toolOf(
  { name, own, each: offered, entry: { config, known } }: NamedTool,
  call: (...given: [...Parameters<McpSide['callTool']>, shown: JsonObject]) => Promise<ToolOutput>,
): McpTool {
  const schema = schemaOf(offered.inputSchema)
  const readOnly = isObject(offered.annotations) && offered.annotations.readOnlyHint === true
  const why = `the MCP server ${config.name} has changed the description or schema of ${visible(own.slice(0, 64))} since its use was allowed`
  return {
    name,
    prompt: described(config.name, offered.description),
    input: { ...record({}), schema: () => schema },
    safety: readOnly ? 'read_only' : 'network',
    server: config.name,
    alwaysLoad: config.alwaysLoad,
    ...(known.unaccepted.has(own) && {
      changed: { why, remedy: `ona mcp accept ${config.name}`, accept: () => known.accept(own) },
    }),
    summary: (input) => JSON.stringify(input).slice(0, 200),
    run: (input, { signal, progress }) => call(name, input, signal, progress, offered),
  }
}

interface NamedTool {
  readonly name: string
  /** The server's own name of it. */
  readonly own: string
  readonly each: JsonObject
  readonly entry: Entry
}

const interrupted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

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
