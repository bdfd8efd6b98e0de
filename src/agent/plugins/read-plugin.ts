/** A plugin's folder, as Claude Code lays it out: commands, skills, agents, hooks and MCP servers under one name. */
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { readPlainFile, statOf } from '../../files/plain-file.ts'
import type { Handler } from '../../hooks/handler.ts'
import { readHooks, sayHookProblem } from '../../hooks/settings.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { readJson } from '../../hooks/text/json-text.ts'
import { readServers, type ServerConfig } from '../../mcp/config.ts'

export interface Plugin {
  readonly name: string
  readonly version?: string
  readonly root: string
  readonly handlers: readonly Handler[]
  readonly servers: readonly ServerConfig[]
  /** Parts that have no effect here. */
  readonly warnings: readonly string[]
}

/** All or nothing: a guard of the plugin's that cannot be read must not be lost. */
export function readPlugin(
  folder: string,
  { env, withoutMcp = false }: { readonly env: NodeJS.ProcessEnv; readonly withoutMcp?: boolean },
): Plugin | { readonly problem: string } {
  const root = resolve(folder)
  if (!statOf(root)?.isDirectory()) return { problem: `${folder} is not a folder` }
  const manifest = jsonIn(join(root, '.claude-plugin/plugin.json'))
  if ('problem' in manifest) return manifest
  const { name = basename(root), version, hooks, mcpServers } = manifest.value
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]*$/i.test(name))
    return { problem: `${root}: the plugin's name must be letters, digits and hyphens` }
  const declared = declarationsOf(root, hooks, 'hooks/hooks.json', 'hooks')
  if ('problem' in declared) return declared
  const servers = declarationsOf(root, mcpServers, '.mcp.json', 'mcpServers')
  if ('problem' in servers) return servers
  const read = declared.values.map((each) =>
    readHooks({ hooks: rooted(each, root) }, { source: { kind: 'plugin', pluginId: name, root }, profile: 'claude' }),
  )
  const faults = read.flatMap(({ problems }) => problems)
  const broken = faults.filter(({ level }) => level === 'error')
  if (broken.length > 0) return { problem: `plugin ${name}: ${broken.map(sayHookProblem).join('; ')}` }
  const found = readServers(
    withoutMcp
      ? []
      : servers.values.map((each) => ({ scope: 'flag', from: root, servers: named(rooted(each, root), name) })),
    { ...env, CLAUDE_PLUGIN_ROOT: root },
  )
  return {
    name,
    ...(typeof version === 'string' && { version }),
    root,
    handlers: read.flatMap(({ handlers }) => handlers),
    servers: found.servers.map((server) => inPluginEnv(server, root)),
    warnings: [
      ...faults.map((fault) => `plugin ${name}: ${sayHookProblem(fault)}`),
      ...found.problems,
      ...unused(root, name),
    ],
  }
}

type Declarations = { readonly values: readonly unknown[] } | { readonly problem: string }

/** Inline in the manifest, in files that it names, and in the file where they usually lie. */
function declarationsOf(root: string, given: unknown, usual: string, key: string): Declarations {
  const values: unknown[] = []
  const files = new Set([join(root, usual)])
  for (const each of [given ?? []].flat()) {
    if (typeof each === 'string') files.add(resolve(root, each))
    else values.push(isObject(each) && key in each ? each[key] : each)
  }
  for (const file of files) {
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
    const read = readJson(readPlainFile(file))
    if (read.ok && isObject(read.value)) return { value: read.value }
    return { problem: `${file} is not a JSON object${read.ok ? '' : `: ${read.why}`}` }
  } catch (cause) {
    return { problem: `${file} cannot be read: ${(cause as Error).message}` }
  }
}

function rooted(value: unknown, root: string): unknown {
  if (typeof value === 'string') return value.replace(/\$(?:\{CLAUDE_PLUGIN_ROOT\}|CLAUDE_PLUGIN_ROOT\b)/g, () => root)
  if (Array.isArray(value)) return value.map((each) => rooted(each, root))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rooted(each, root)]))
}

const named = (servers: unknown, plugin: string): unknown =>
  isObject(servers)
    ? Object.fromEntries(Object.entries(servers).map(([name, each]) => [`plugin:${plugin}:${name}`, each]))
    : servers

const inPluginEnv = (server: ServerConfig, root: string): ServerConfig =>
  server.transport.type === 'stdio'
    ? { ...server, transport: { ...server.transport, env: { CLAUDE_PLUGIN_ROOT: root, ...server.transport.env } } }
    : server

const unused = (root: string, name: string): string[] =>
  ['.lsp.json', 'settings.json'].flatMap((file) =>
    existsSync(join(root, file)) ? [`plugin ${name}: ${file} has no effect`] : [],
  )
