/** What is installed: ona's own files under `~/.ona/plugins`, and Claude Code's under `~/.claude/plugins`, read in place and never written. */
import { join } from 'node:path'
import { updateFile } from '../files/atomic-write.ts'
import { readPlainFile } from '../files/plain-file.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { readMarketplace } from './marketplace.ts'
import { checkSource, type Source } from './source.ts'

export interface PluginHome {
  readonly home: string
  readonly env: NodeJS.ProcessEnv
}

export interface Installed {
  /** `name@marketplace`. */
  readonly id: string
  readonly root: string
  readonly version?: string
  /** Where it came from; for Claude Code's, where its marketplace did. */
  readonly source?: Source
  /** What the marketplace declares of it besides its own manifest. */
  readonly entry?: JsonObject
  readonly by: 'ona' | 'claude'
}

export interface KnownMarketplace {
  readonly name: string
  readonly source: Source
  /** The folder with `.claude-plugin/marketplace.json`. */
  readonly location: string
  readonly by: 'ona' | 'claude'
}

export const ownFolder = ({ home }: Pick<PluginHome, 'home'>): string => join(home, '.ona', 'plugins')
const claudeFolder = ({ home, env }: PluginHome): string =>
  env['CLAUDE_CODE_PLUGIN_CACHE_DIR'] || join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'plugins')

/** Where a plugin keeps files between sessions. */
export const dataFolder = (at: Pick<PluginHome, 'home'>, id: string): string =>
  join(ownFolder(at), 'data', id.replaceAll(/[^\w.-]/g, '-'))

/** ona's own first: the same plugin of Claude Code's is then left aside. */
export function installedPlugins(at: PluginHome, cwd?: string): Installed[] {
  const own = entriesOf(objectIn(join(ownFolder(at), 'installed.json'), 'plugins')).flatMap(([id, value]) =>
    typeof value['root'] === 'string' ? [ownInstalled(id, value)] : [],
  )
  const theirs = claudePlugins(at, cwd).filter(({ id }) => !own.some((each) => each.id === id))
  return [...own, ...theirs]
}

function ownInstalled(id: string, value: JsonObject): Installed {
  const source = checkSource(value['source'])
  return {
    id,
    root: value['root'] as string,
    ...(typeof value['version'] === 'string' && { version: value['version'] }),
    ...('source' in source && { source: source.source }),
    ...(isObject(value['entry']) && { entry: value['entry'] }),
    by: 'ona',
  }
}

/** Version 1 has one record a plugin, version 2 a list with a scope; one of this project goes before one of the user. */
function claudePlugins(at: PluginHome, cwd: string | undefined): Installed[] {
  const plugins = objectIn(join(claudeFolder(at), 'installed_plugins.json'), 'plugins')
  if (Object.keys(plugins).length === 0) return []
  const markets = claudeMarketplaces(at)
  return Object.entries(plugins).flatMap(([id, value]) => {
    const records = [value].flat().filter(isObject)
    const here = records.filter(({ scope, projectPath }) =>
      scope !== 'local' && scope !== 'project' ? true : projectPath === cwd,
    )
    const record = here.find(({ projectPath }) => projectPath !== undefined) ?? here[0]
    if (!record || typeof record['installPath'] !== 'string') return []
    const [, name = '', marketplace = ''] = /^([^@]+)@(.+)$/.exec(id) ?? []
    const market = markets.find((each) => each.name === marketplace)
    const entry = market && entryIn(market.location, name)
    return [
      {
        id,
        root: record['installPath'],
        ...(typeof record['version'] === 'string' && { version: record['version'] }),
        ...(market && { source: market.source }),
        ...(entry && { entry }),
        by: 'claude' as const,
      },
    ]
  })
}

function entryIn(location: string, name: string): JsonObject | undefined {
  const file = marketplaceFile(location)
  const read = readMarketplace(textIn(file) ?? '{}', file)
  const entry = read.ok ? read.marketplace.plugins.find((each) => each.name === name) : undefined
  return entry && Object.keys(entry.parts).length > 0 ? entry.parts : undefined
}

export const marketplaceFile = (location: string): string =>
  location.endsWith('.json') ? location : join(location, '.claude-plugin', 'marketplace.json')

export function knownMarketplaces(at: PluginHome): KnownMarketplace[] {
  const own = marketplacesIn(join(ownFolder(at), 'marketplaces.json'), 'location', 'ona')
  const theirs = claudeMarketplaces(at).filter(({ name }) => !own.some((each) => each.name === name))
  return [...own, ...theirs]
}

const claudeMarketplaces = (at: PluginHome): KnownMarketplace[] =>
  marketplacesIn(join(claudeFolder(at), 'known_marketplaces.json'), 'installLocation', 'claude')

const marketplacesIn = (file: string, key: string, by: 'ona' | 'claude'): KnownMarketplace[] =>
  entriesOf(objectIn(file)).flatMap(([name, value]) => {
    const read = checkSource(value['source'])
    return typeof value[key] === 'string' && 'source' in read
      ? [{ name, source: read.source, location: value[key], by }]
      : []
  })

export function rememberPlugin(at: PluginHome, id: string, record: JsonObject | undefined): void {
  updateFile(join(ownFolder(at), 'installed.json'), (text) => {
    const all = parsed(text)
    const plugins = isObject(all['plugins']) ? all['plugins'] : {}
    return printed({ ...all, plugins: without({ ...plugins, [id]: record }) })
  })
}

export function rememberMarketplace(at: PluginHome, name: string, record: JsonObject | undefined): void {
  updateFile(join(ownFolder(at), 'marketplaces.json'), (text) => printed(without({ ...parsed(text), [name]: record })))
}

const without = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))
const printed = (value: JsonObject): string => `${JSON.stringify(value, null, 2)}\n`
const entriesOf = (value: JsonObject): [string, JsonObject][] =>
  Object.entries(value).filter((entry): entry is [string, JsonObject] => isObject(entry[1]))

function objectIn(file: string, key?: string): JsonObject {
  const value = parsed(textIn(file))
  if (key === undefined) return value
  return isObject(value[key]) ? value[key] : {}
}

function parsed(text: string | undefined): JsonObject {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    return isObject(value) ? value : {}
  } catch {
    return {} // a damaged file installs nothing; what it named is reported as not installed
  }
}

export function textIn(file: string): string | undefined {
  try {
    return readPlainFile(file, 4 << 20)
  } catch {
    return undefined // most people have none
  }
}
