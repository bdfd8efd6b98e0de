/** The MCP servers declared for a folder. */
import { homedir } from 'node:os'
import { isObject } from '../../hooks/shape.ts'
import type { ServerPolicy } from '../../mcp/approval.ts'
import { claudeServers, type Declared, projectServers, readServers } from '../../mcp/config.ts'
import { readLayers } from '../../store/settings/settings-files.ts'
import { settingsHere } from './folder-settings.ts'

/** Where a server comes from that no file declares: the operator stored it in the database. */
export const snapshotSource = 'the settings snapshot in the database'

/** By scope, the weakest first. */
export async function declaredHere(cwd = process.cwd(), env = process.env, loaded = settingsHere({ cwd, env })) {
  const { settings, trusted } = loaded
  const { layers } = readLayers({ cwd, home: env['HOME'] || homedir(), env })
  const files = layers.flatMap(({ level, file, settings: { mcpServers = {} } }): Declared[] =>
    level === 'user' || level === 'local' ? [{ scope: level, from: file, servers: mcpServers }] : [],
  )
  const project = projectServers(cwd)
  const order = ['user', 'project', 'local']
  const claude = claudeServers(env['HOME'] || homedir(), cwd, env).filter(({ servers }) => isObject(servers))
  const declared = [...claude, ...project.declared, ...files].sort(
    (a, b) => order.indexOf(a.scope) - order.indexOf(b.scope),
  )
  const inFiles = new Set(files.flatMap(({ servers }) => Object.keys(servers as object)))
  const stored = Object.entries(settings.mcpServers ?? {}).filter(([name]) => !inFiles.has(name))
  if (stored.length > 0) declared.push({ scope: 'user', from: snapshotSource, servers: Object.fromEntries(stored) })
  const { servers, problems } = readServers(declared, env)
  return {
    declared,
    servers,
    problems: [...project.problems, ...problems],
    trusted,
    settings: settings as ServerPolicy,
  }
}
