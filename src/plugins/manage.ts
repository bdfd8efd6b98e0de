/** What `ona plugin` and /plugin do: list, enable, trust. */
import { existsSync } from 'node:fs'
import { Problem } from '../files/problem.ts'
import { type Edited, editSettings } from '../store/settings/settings-edit.ts'
import { settingsFile, settingsFileToWrite } from '../store/settings/settings-files.ts'
import type { Settings } from '../store/settings/settings-shape.ts'
import type { Market } from './marketplaces.ts'
import type { MarketplacePolicy } from './policy.ts'
import { type Plugin, readPlugin } from './read-plugin.ts'
import { dataFolder, type Installed, installedPlugins } from './registry.ts'
import { contentHash, type Trust, trustOf, trustPlugin } from './trust.ts'

/** The settings that apply in a folder, as `settingsHere` loads them. */
export interface Here {
  readonly settings: Settings
  readonly managed: Settings
  readonly place: { readonly cwd: string; readonly home: string }
}

export interface Managing extends Market {
  readonly cwd: string
  readonly settings: Settings
  readonly managed: Settings
}

export const managing = ({ settings, managed, place }: Here, env: NodeJS.ProcessEnv): Managing => ({
  home: place.home,
  cwd: place.cwd,
  env,
  settings,
  managed,
  policy: managed as MarketplacePolicy,
  declared: settings.extraKnownMarketplaces,
})

export interface Status {
  readonly id: string
  readonly version?: string
  /** Undefined: enabled by the settings and not installed. */
  readonly installed?: Installed
  readonly enabled: boolean
  /** Enabled by managed settings: it is trusted, and cannot be disabled. */
  readonly required: boolean
  readonly trust?: Trust
  readonly plugin?: Plugin
  readonly problem?: string
}

/** Every plugin that is installed or enabled, by id. */
export function statusOfAll(at: Managing): Status[] {
  const installed = installedPlugins(at, at.cwd)
  const ids = new Set([...installed.map(({ id }) => id), ...Object.keys(at.settings.enabledPlugins ?? {})])
  return [...ids].sort().map((id) =>
    statusOf(
      at,
      id,
      installed.find((each) => each.id === id),
    ),
  )
}

export function statusOf(at: Managing, id: string, installed: Installed | undefined): Status {
  const on = (settings: Settings) =>
    settings.enabledPlugins?.[id] !== undefined && settings.enabledPlugins[id] !== false
  const state = { id, enabled: on(at.settings), required: on(at.managed) }
  if (!installed) return state
  const base = { ...state, installed, ...(installed.version && { version: installed.version }) }
  if (!existsSync(installed.root)) return { ...base, problem: `${installed.root} is gone` }
  try {
    const trust = state.required ? 'trusted' : trustOf(at.home, id, contentHash(installed))
    const plugin = readInstalled(at, installed)
    return 'problem' in plugin ? { ...base, trust, problem: plugin.problem } : { ...base, trust, plugin }
  } catch (error) {
    if (error instanceof Problem) return { ...base, problem: error.message }
    throw error
  }
}

/** Whole, whether it is trusted or not: to be shown, not to be run. */
export function readInstalled(at: Managing, { id, root, entry }: Installed): Plugin | { readonly problem: string } {
  const marketplace = id.slice(id.indexOf('@') + 1)
  return readPlugin(root, { env: at.env, marketplace, data: dataFolder(at, id), ...(entry && { entry }) })
}

export const scopes = ['user', 'project', 'local'] as const
export type Scope = (typeof scopes)[number]

/** Writes `enabledPlugins` of the scope's settings; undefined takes the plugin out of them. */
export async function setEnabled(
  at: Managing,
  id: string,
  on: boolean | undefined,
  scope: Scope,
): Promise<Edited & { tookOver?: string }> {
  const places = { cwd: at.cwd, home: at.home, env: at.env }
  const file = settingsFileToWrite(scope, places)
  const before = settingsFile(scope, places)
  const edited = await editSettings(file, [{ path: ['enabledPlugins', id], value: on }])
  return edited.ok && edited.changed && before !== undefined && before !== file
    ? { ...edited, tookOver: before }
    : edited
}

export function trust(at: Managing, installed: Installed): void {
  trustPlugin(at.home, installed.id, contentHash(installed))
}

/** One word for a list. */
export function stateOf({ enabled, required, trust: state, problem, installed }: Status): string {
  if (!installed) return 'not installed'
  if (problem) return 'broken'
  if (!enabled) return 'disabled'
  if (state === 'new') return 'not trusted'
  if (state === 'changed') return 'changed since it was trusted'
  return required ? 'enabled by managed settings' : 'enabled'
}
