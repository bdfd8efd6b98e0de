/** A plugin's folder, as Claude Code or Agent Plugins 1.0 lays it out: hooks, MCP servers, commands, skills, agents and styles. */
import { existsSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { leadsOut } from '../files/leads-out.ts'
import { readPlainFile, statOf } from '../files/plain-file.ts'
import { blockingEvents } from '../hooks/claude/events.ts'
import type { Handler } from '../hooks/handler.ts'
import { isHookName, meantHookName, readHooks, sayHookProblem } from '../hooks/settings.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { readJson } from '../hooks/text/json-text.ts'
import { readServers, type ServerConfig } from '../mcp/config.ts'
import { agentPluginsSchema, checkManifest, type Declarations, type Manifest, nameProblem } from './manifest.ts'

/** Paths are absolute, of files or folders. */
export interface Plugin {
  readonly name: string
  /** `name@marketplace`. */
  readonly id: string
  readonly version?: string
  readonly description?: string
  readonly root: string
  readonly handlers: readonly Handler[]
  readonly servers: readonly ServerConfig[]
  readonly commands: readonly string[]
  readonly skills: readonly string[]
  readonly agents: readonly string[]
  readonly outputStyles: readonly string[]
  /** A folder of programs for the PATH of commands. */
  readonly bin?: string
  /** Parts that have no effect here. */
  readonly warnings: readonly string[]
}

export interface ReadOptions {
  readonly env: NodeJS.ProcessEnv
  readonly withoutMcp?: boolean
  /** The marketplace it comes from; "inline" for a folder named by a flag. */
  readonly marketplace?: string
  /** Its entry in the marketplace, which may declare what the plugin's own manifest does not. */
  readonly entry?: JsonObject
  /** Where it may keep files between sessions. */
  readonly data?: string
  /** Why nothing of it runs: its hooks are recorded as skipped, and the rest is left out. */
  readonly withheld?: 'untrusted_plugin'
}

/** All or nothing: a guard of the plugin's that cannot be read must not be lost. */
export function readPlugin(folder: string, options: ReadOptions): Plugin | { readonly problem: string } {
  const root = resolve(folder)
  if (!statOf(root)?.isDirectory()) return { problem: `${folder} is not a folder` }
  const read = manifestOf(root, options.entry)
  if ('problem' in read) return read
  const { manifest } = read
  const name = manifest.name ?? basename(root)
  const { env, withheld, marketplace = 'inline', data } = options
  const filled = filler({ root, ...(data && { data }) })
  const hooks = declared(root, manifest.hooks, manifest.kind === 'claude' ? 'hooks/hooks.json' : undefined, 'hooks')
  if ('problem' in hooks) return hooks
  const servers = declared(
    root,
    manifest.mcpServers,
    manifest.kind === 'claude' ? '.mcp.json' : 'mcp.json',
    'mcpServers',
  )
  if ('problem' in servers) return servers
  const variables = variablesOf(root, data)
  const source = { kind: 'plugin', pluginId: name, root, env: variables } as const
  const events = hooks.values.map(knownEvents)
  const lost = events.flatMap(({ unknown }) => unknown).flatMap(lostGuard)
  if (lost.length > 0) return { problem: `plugin ${name}: ${lost.join('; ')}` }
  const handlers = events.map((each) =>
    readHooks({ hooks: filled(each.hooks) }, { source, profile: 'claude', ...(withheld && { withheld }) }),
  )
  const faults = handlers.flatMap(({ problems }) => problems)
  const broken = faults.filter(({ level }) => level === 'error')
  if (broken.length > 0) return { problem: `plugin ${name}: ${broken.map(sayHookProblem).join('; ')}` }
  const found = readServers(
    options.withoutMcp || withheld
      ? []
      : servers.values.map((each) => ({ scope: 'flag', from: root, servers: named(filled(each), name) })),
    { ...env, ...variables },
  )
  const places = placesOf(root, manifest)
  if ('problem' in places) return places
  const parts = [...hooks.values, ...servers.values, ...Object.values(places.places).flat()]
  if (parts.length === 0 && !read.declared)
    return { problem: `${root} is not a plugin: it has no .claude-plugin/plugin.json and none of its usual folders` }
  return {
    name,
    id: `${name}@${marketplace}`,
    ...(manifest.version !== undefined && { version: manifest.version }),
    ...(manifest.description !== undefined && { description: manifest.description }),
    root,
    handlers: handlers.flatMap((one) => one.handlers),
    servers: found.servers.map((server) => inPluginEnv(server, variables)),
    ...(withheld ? nothing : places.places),
    warnings: [
      ...read.warnings,
      ...events
        .flatMap(({ unknown }) => unknown)
        .map((event) => `plugin ${name}: its hook of ${event} never runs: ona has no such event`),
      ...faults.map((fault) => `plugin ${name}: ${sayHookProblem(fault)}`),
      ...found.problems,
      ...unused(root, name, manifest),
    ],
  }
}

const nothing = { commands: [], skills: [], agents: [], outputStyles: [] }

type Read =
  | { readonly manifest: Manifest; readonly warnings: readonly string[]; readonly declared: boolean }
  | { readonly problem: string }

/** Claude Code's manifest goes before that of Agent Plugins: only it has hooks. A folder without one is read by its layout. */
function manifestOf(root: string, entry: JsonObject = {}): Read {
  const claude = join(root, '.claude-plugin/plugin.json')
  const portable = join(root, 'plugin.json')
  const kind = !existsSync(claude) && isAgentPlugin(portable) ? 'agent-plugins' : 'claude'
  const file = kind === 'claude' ? claude : portable
  if (leadsOut(root, file)) return { problem: `${file} is a link that leads out of the plugin` }
  const read = jsonIn(file)
  if ('problem' in read) return read
  const fallback = basename(root)
  const declaredName = 'name' in read.value || 'name' in entry || nameProblem(fallback) ? {} : { name: fallback }
  const checked = checkManifest(
    kind === 'claude' ? withEntry(read.value, { ...declaredName, ...entry }) : read.value,
    kind,
    file,
  )
  return checked.ok ? { ...checked, declared: existsSync(file) } : { problem: checked.problems.join('\n') }
}

function isAgentPlugin(file: string): boolean {
  const read = existsSync(file) ? jsonIn(file) : { value: {} }
  return 'value' in read && read.value['$schema'] === agentPluginsSchema
}

/** What the plugin says of itself goes first; lists of parts add up. */
function withEntry(own: JsonObject, entry: JsonObject): JsonObject {
  const parts = ['commands', 'agents', 'skills', 'outputStyles', 'hooks', 'mcpServers']
  const both = parts.filter((key) => own[key] !== undefined && entry[key] !== undefined)
  return { ...entry, ...own, ...Object.fromEntries(both.map((key) => [key, [own[key], entry[key]].flat()])) }
}

type Values = { readonly values: readonly unknown[] } | { readonly problem: string }

/** Inline in the manifest, in files that it names, and in the file where they usually lie. */
function declared(root: string, { files, inline }: Declarations, usual: string | undefined, key: string): Values {
  const values: unknown[] = inline.map((each) => (key in each ? each[key] : each))
  const all = new Set([...(usual ? [join(root, usual)] : []), ...files.map((file) => join(root, file))])
  for (const file of all) {
    if (leadsOut(root, file))
      return { problem: `${file} is a link that leads out of the plugin; put the file itself there` }
    if (!existsSync(file) && usual && file !== join(root, usual))
      return { problem: `${file}: there is no such file, and the manifest's ${key} names it; correct the path` }
    const read = jsonIn(file)
    if ('problem' in read) return read
    if (Object.keys(read.value).length > 0) values.push(read.value[key] ?? read.value)
  }
  return { values }
}

/** An empty object where there is no such file. */
function jsonIn(file: string): { readonly value: JsonObject } | { readonly problem: string } {
  if (!existsSync(file)) return { value: {} }
  try {
    const read = readJson(readPlainFile(file, 4 << 20))
    if (read.ok && isObject(read.value)) return { value: read.value }
    return { problem: `${file} is not a JSON object${read.ok ? '' : `: ${read.why}`}` }
  } catch (cause) {
    return { problem: `${file} cannot be read: ${(cause as Error).message}` }
  }
}

/** Events that only Claude Code has are left out and reported; a fault in a hook of a known event is an error. */
function knownEvents(hooks: unknown): { readonly hooks: unknown; readonly unknown: readonly string[] } {
  if (!isObject(hooks)) return { hooks, unknown: [] }
  const entries = Object.entries(hooks)
  return {
    hooks: Object.fromEntries(entries.filter(([event]) => isHookName(event))),
    unknown: entries.flatMap(([event]) => (isHookName(event) ? [] : [event])),
  }
}

/** A guard at an event that ona does not raise, or at one that was mistyped, would be lost. */
function lostGuard(event: string): string[] {
  const meant = meantHookName(event)
  if (meant !== undefined) return [`its hook of ${event} would never run; did you mean ${meant}?`]
  return blockingEvents.includes(event)
    ? [`its hook of ${event} would guard nothing: ona does not raise this event`]
    : []
}

type Places = Pick<Plugin, 'commands' | 'skills' | 'agents' | 'outputStyles' | 'bin'>

/** Paths in the manifest take the place of the usual folder; skills are added to it. */
function placesOf(root: string, manifest: Manifest): { readonly places: Places } | { readonly problem: string } {
  const { commands, agents, skills, outputStyles } = manifest
  const usual = (folder: string) => (existsSync(join(root, folder)) ? [folder] : [])
  const named: Record<Exclude<keyof Places, 'bin'>, readonly string[]> = manifest.kind === 'claude'
    ? {
        commands: commands ?? usual('commands'),
        agents: agents ?? usual('agents'),
        skills: [...usual('skills'), ...(skills ?? (existsSync(join(root, 'skills')) ? [] : usual('SKILL.md')))],
        outputStyles: outputStyles ?? usual('output-styles'),
      }
    : { ...nothing, skills: usual('skills') }
  for (const [key, paths] of Object.entries(named))
    for (const path of paths) {
      const at = join(root, path)
      if (!statOf(at))
        return {
          problem: `${at}: there is no such file or folder, and the manifest's ${key} names it; correct the path`,
        }
      if (leadsOut(root, at))
        return { problem: `${at} is a link that leads out of the plugin; put the file itself there` }
    }
  const absolute = (paths: readonly string[]) => [...new Set(paths.map((path) => resolve(root, path)))]
  return {
    places: {
      commands: absolute(named.commands),
      agents: absolute(named.agents),
      skills: absolute(named.skills),
      outputStyles: absolute(named.outputStyles),
      ...(statOf(join(root, 'bin'))?.isDirectory() && { bin: join(root, 'bin') }),
    },
  }
}

/** `CLAUDE_PLUGIN_ROOT` for Claude Code's plugins, `PLUGIN_ROOT` for Agent Plugins; both are always set. */
function variablesOf(root: string, data: string | undefined): Record<string, string> {
  return {
    CLAUDE_PLUGIN_ROOT: root,
    PLUGIN_ROOT: root,
    ...(data && { CLAUDE_PLUGIN_DATA: data, PLUGIN_DATA: data }),
    PYTHONDONTWRITEBYTECODE: '1', // compiled files would change the hash that the user trusted
  }
}

/** Fills in where the plugin lies, in every string of a declaration. */
function filler(places: { readonly root: string; readonly data?: string }): (value: unknown) => unknown {
  const text = (value: string) =>
    value.replace(/\$(?:\{(?:CLAUDE_)?PLUGIN_(ROOT|DATA)\}|(?:CLAUDE_)?PLUGIN_(ROOT|DATA)\b)/g, (whole, a, b) => {
      return (a ?? b) === 'ROOT' ? places.root : (places.data ?? whole)
    })
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(fill)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each)]))
  }
  return fill
}

const named = (servers: unknown, plugin: string): unknown =>
  isObject(servers)
    ? Object.fromEntries(Object.entries(servers).map(([name, each]) => [`plugin:${plugin}:${name}`, each]))
    : servers

const inPluginEnv = (server: ServerConfig, variables: Readonly<Record<string, string>>): ServerConfig =>
  server.transport.type === 'stdio'
    ? { ...server, transport: { ...server.transport, env: { ...variables, ...server.transport.env } } }
    : server

const unusedFiles = ['.lsp.json', 'settings.json', 'monitors', 'themes', 'workflows']

const unused = (root: string, name: string, { unused: keys, kind }: Manifest): string[] => {
  const there = new Set(readdirSync(root))
  const files = kind === 'claude' ? unusedFiles.filter((file) => there.has(file)) : []
  return [...keys, ...files].map((what) => `plugin ${name}: ${what} has no effect`)
}
