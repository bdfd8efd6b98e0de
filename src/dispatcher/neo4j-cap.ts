/** Whether a Neo4j server is there: asked rarely, never while a tool waits, and never for longer than a second. */
import { join } from 'node:path'
import { neo4jFromState } from './capability.ts'
import { late } from './lazy-builtins.ts'
import { readJson } from './session/files.ts'
import { isObject } from './session/paths.ts'
import type { Context, Json, Neo4jCapability } from './types.ts'

const freshForMs = 5 * 60_000
const mostPatienceMs = 1000

interface Driver {
  getServerInfo(): Promise<{ agent?: string; protocolVersion?: unknown }>
  close(): Promise<void>
}
interface DriverPackage {
  driver(uri: string, auth?: unknown, options?: Json): Driver
  auth: { basic(username: string, password: string): unknown }
}

export async function neo4jCapability(ctx: Context): Promise<Neo4jCapability> {
  const known = neo4jFromState(ctx.state)
  if (ctx.event.name === 'PreToolUse') return known
  const now = Date.now()
  if (known.lastCheckTs !== undefined && now - known.lastCheckTs < freshForMs) return known
  const settings = readSettings(ctx.paths.hooksRoot)
  if (!settings.uri) return { enabled: false, reachable: false, lastCheckTs: now }
  const { budgetMs, elapsed } = ctx.timers
  // Half of what is left at most: a server that does not answer must not cost the event its record.
  const patienceMs = Math.max(20, Math.min(mostPatienceMs, (budgetMs - elapsed()) / 2))
  const version = await serverVersion(settings, ctx.paths.repoRoot, patienceMs)
  const reachable = version !== undefined
  return { enabled: true, reachable, ...(version && { schemaVersion: version }), lastCheckTs: now }
}

interface Settings {
  readonly uri: string
  readonly username: string
  readonly password: string
}

/** The address may be committed (config.json); who we are may not: config.local.json or the environment. */
function readSettings(hooksRoot: string): Settings {
  const part = (file: string): Json => {
    const { value } = readJson(join(hooksRoot, file))
    const neo4j = isObject(value) ? value['neo4j'] : undefined
    return isObject(neo4j) ? neo4j : {}
  }
  const shared = part('config.json')
  const local = part('config.local.json')
  const text = (variable: string, ...values: unknown[]) =>
    process.env[variable] ?? (values.find((value) => typeof value === 'string') as string | undefined) ?? ''
  return {
    uri: text('NEO4J_URI', local['uri'], shared['uri']),
    username: text('NEO4J_USERNAME', local['username'], 'neo4j'),
    password: text('NEO4J_PASSWORD', local['password']),
  }
}

/** What the server calls itself; undefined when nobody answers or the repository has no neo4j-driver to ask with. */
async function serverVersion(
  { uri, username, password }: Settings,
  repoRoot: string,
  patienceMs: number,
): Promise<string | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let driver: Driver | undefined
  try {
    const neo4j = late('node:module').createRequire(join(repoRoot, 'package.json'))('neo4j-driver') as DriverPackage
    driver = neo4j.driver(uri, neo4j.auth.basic(username, password), { connectionTimeout: patienceMs })
    const tooLate = new Promise<undefined>((done) => {
      timer = setTimeout(() => done(undefined), patienceMs)
    })
    const info = await Promise.race([driver.getServerInfo(), tooLate])
    return info && (info.agent ?? String(info.protocolVersion ?? 'unknown'))
  } catch {
    return undefined // no driver, or no server: both are ordinary
  } finally {
    clearTimeout(timer)
    driver?.close().catch(() => {})
  }
}
