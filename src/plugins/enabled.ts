/** The plugins of a session: those that the settings enable, of what is installed, as far as they are trusted. */
import { existsSync, mkdirSync } from 'node:fs'
import { Problem } from '../files/problem.ts'
import type { Handler } from '../hooks/handler.ts'
import type { JsonObject } from '../hooks/shape.ts'
import { type MarketplacePolicy, sourceRefused } from './policy.ts'
import { type Plugin, readPlugin } from './read-plugin.ts'
import { dataFolder, type Installed, installedPlugins, knownMarketplaces, type PluginHome } from './registry.ts'
import { contentHash, trustOf } from './trust.ts'

export interface PluginSettings extends MarketplacePolicy {
  readonly enabledPlugins?: Readonly<Record<string, unknown>>
  readonly disableAllHooks?: boolean
  readonly allowManagedHooksOnly?: boolean
}

export interface EnabledRequest extends PluginHome {
  readonly cwd: string
  /** The settings in force. */
  readonly settings: PluginSettings
  /** What managed settings say: a plugin that they enable is trusted, and their marketplace lists count. */
  readonly managed?: PluginSettings
}

export interface EnabledPlugins {
  readonly plugins: readonly Plugin[]
  /** Each names a plugin that is enabled and not used, and what to do. */
  readonly warnings: readonly string[]
  /** The ids of those that wait for trust. */
  readonly untrusted: readonly string[]
  /** Nothing may start before these are put right: a guard of a trusted or required plugin would be missing. */
  readonly problems: readonly string[]
}

export const noPlugins: EnabledPlugins = { plugins: [], warnings: [], untrusted: [], problems: [] }

export function enabledPlugins(request: EnabledRequest): EnabledPlugins {
  const ids = Object.entries(request.settings.enabledPlugins ?? {}).flatMap(([id, on]) => (on === false ? [] : [id]))
  if (ids.length === 0) return noPlugins
  const { managed = {} } = request
  const installed = installedPlugins(request, request.cwd)
  const plugins: Plugin[] = []
  const warnings: string[] = []
  const untrusted: string[] = []
  const problems: string[] = []
  for (const id of ids.sort()) {
    const required = managed.enabledPlugins?.[id] !== undefined && managed.enabledPlugins[id] !== false
    const used = useOf(id, installed, { ...request, required })
    if ('plugin' in used) {
      plugins.push(used.plugin)
      warnings.push(...used.plugin.warnings)
    }
    if ('untrusted' in used) untrusted.push(id)
    if ('why' in used) (required && !('plugin' in used) ? problems : warnings).push(`plugin ${id} ${used.why}`)
    if ('broken' in used)
      problems.push(`plugin ${id} cannot be used; ona plugin disable ${id} turns it off\n${used.broken}`)
  }
  return { plugins, warnings, untrusted, problems }
}

/** What switches hooks off in the settings switches off those of plugins, but for those that managed settings enable. */
export function hooksInForce(
  { id, handlers }: Plugin,
  { settings, managed = {} }: Pick<EnabledRequest, 'settings' | 'managed'>,
): readonly Handler[] {
  const off = settings.disableAllHooks === true || settings.allowManagedHooksOnly === true
  const required = managed.enabledPlugins?.[id] === true && managed.disableAllHooks !== true
  return off && !required ? handlers.map((each) => ({ ...each, withheld: 'hooks_disabled' })) : handlers
}

type Use = { plugin: Plugin } | { plugin: Plugin; why: string; untrusted: true } | { why: string } | { broken: string }

function useOf(id: string, installed: readonly Installed[], request: EnabledRequest & { required: boolean }): Use {
  const found = installed.find((each) => each.id === id)
  if (!found)
    return {
      why: `is enabled and not installed; ona plugin add ${id} installs it, ona plugin disable ${id} turns it off`,
    }
  if (!existsSync(found.root))
    return { why: `is not used: ${found.root} is gone; ona plugin update ${id} installs it again` }
  const refused = request.required ? undefined : refusedBy(request.managed ?? {}, found, request)
  if (refused) return { why: `is not used: ${refused}` }
  const trust = request.required ? 'trusted' : trusted(found, request.home)
  if (typeof trust === 'object') return { why: `is not used: ${trust.problem}` }
  const withheld = trust !== 'trusted'
  const data = dataFolder(request, id)
  const plugin = readPlugin(found.root, {
    env: request.env,
    marketplace: id.slice(id.indexOf('@') + 1),
    ...(found.entry && { entry: found.entry }),
    data,
    ...(withheld && { withheld: 'untrusted_plugin' as const }),
  })
  if ('problem' in plugin) return withheld ? { why: `is not used: ${plugin.problem}` } : { broken: plugin.problem }
  if (!withheld) {
    if (plugin.handlers.length + plugin.servers.length > 0) mkdirSync(data, { recursive: true, mode: 0o700 })
    return { plugin }
  }
  const since = trust === 'changed' ? 'has changed since you trusted it' : 'is not trusted'
  return {
    plugin,
    untrusted: true,
    why: `${since}, so nothing of it is used; ona plugin info ${id} shows what it runs, ona plugin trust ${id} trusts it`,
  }
}

/** Judged by the source of its marketplace, which is what an administrator allows. */
function refusedBy(policy: MarketplacePolicy, found: Installed, request: PluginHome): string | undefined {
  if (policy.strictKnownMarketplaces === undefined && policy.blockedMarketplaces === undefined) return undefined
  const name = found.id.slice(found.id.indexOf('@') + 1)
  return sourceRefused(knownMarketplaces(request).find((each) => each.name === name)?.source ?? found.source, policy)
}

function trusted(found: { root: string; id: string; entry?: JsonObject }, home: string) {
  try {
    return trustOf(home, found.id, contentHash(found))
  } catch (error) {
    if (error instanceof Problem) return { problem: error.message }
    throw error
  }
}
