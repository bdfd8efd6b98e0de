/** How the settings of several levels become one. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { walkHooks } from '../../hooks/wire/walk-hooks.ts'
import { isRefusedVariable } from './repository-variables.ts'
import type { Layer } from './settings-files.ts'
import { type HookEntry, type Level, levels } from './settings-shape.ts'

/**
 * The strongest level wins; lists add up without repeats; objects are joined key by key. `layers` come weakest
 * first. Hooks run in the order managed, user, project, local, command line.
 */
export function merge(layers: readonly Layer[], builtinRules: readonly string[] = []): JsonObject {
  const managed = layers.filter((layer) => layer.level === 'managed')
  const rulesOfManagedOnly = managed.some(
    ({ settings }) =>
      settings['allowManagedPermissionRulesOnly'] === true ||
      (isObject(settings['permissions']) && settings['permissions']['allowManagedPermissionRulesOnly'] === true),
  )
  let merged: JsonObject = {}
  for (const { level, settings } of withBuiltin(layers, builtinRules)) {
    const { hooks: _, ...rest } = settings
    const said = rulesOfManagedOnly && level !== 'managed' ? withoutRules(rest) : rest
    const mine = level === 'project' || level === 'local' ? withoutRefused(said) : said
    merged = join(merged, level === 'project' ? withoutLooserSandbox(mine, merged) : mine)
  }
  const hooks = [...managed, ...layers.filter((layer) => layer.level !== 'managed')].flatMap(({ level, settings }) =>
    flatHooks(settings['hooks'], level),
  )
  return hooks.length > 0 ? { ...merged, hooks } : merged
}

/** The built-in allow rules are the lowest layer, unless a level that may sets `"builtinRules": false`. */
function withBuiltin(layers: readonly Layer[], rules: readonly string[]): readonly Pick<Layer, 'level' | 'settings'>[] {
  const off =
    layers.findLast(({ settings }) => settings['builtinRules'] !== undefined)?.settings['builtinRules'] === false
  return off || rules.length === 0
    ? layers
    : [{ level: 'default', settings: { permissions: { allow: rules } } }, ...layers]
}

/**
 * Both shapes as the flat list. A file cannot claim another source for its hooks; in the snapshot (`operator`) the recorded
 * source counts.
 */
export function flatHooks(hooks: unknown, level: Level | 'operator'): HookEntry[] {
  const entries: JsonObject[] = []
  walkHooks(hooks, { hook: ({ flat }) => entries.push(flat) })
  return entries.map(({ if: condition, ...entry }) => ({
    ...(condition !== undefined && { if_condition: condition }),
    ...entry,
    hook_event_name: String(entry['hook_event_name'] ?? ''),
    matcher: String(entry['matcher'] ?? ''),
    source: level === 'operator' ? (levels.find((known) => known === entry['source']) ?? level) : level,
  }))
}

/** What an untrusted folder may set: deny and ask rules. */
export function onlyRestrictions(settings: JsonObject): JsonObject {
  const sandbox = onlyTighter(settings['sandbox'])
  if (!isObject(settings['permissions'])) return sandbox
  const { deny, ask, disableBypassPermissionsMode } = settings['permissions']
  const kept = { deny, ask, disableBypassPermissionsMode }
  const said = Object.entries(kept).filter(([, value]) => value !== undefined)
  return said.length > 0 ? { ...sandbox, permissions: Object.fromEntries(said) } : sandbox
}

/** Of a sandbox: that it is on, and what it closes. */
function onlyTighter(sandbox: unknown): JsonObject {
  if (!isObject(sandbox)) return {}
  const part = (value: unknown, keys: readonly string[]) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key))) : {}
  const on = Object.entries(sandbox).filter(([key, value]) => key in switches && value === switches[key])
  const filesystem = part(sandbox['filesystem'], ['denyRead', 'denyWrite'])
  const network = part(sandbox['network'], ['deniedDomains'])
  const kept = {
    ...Object.fromEntries(on),
    ...(Object.keys(filesystem).length > 0 && { filesystem }),
    ...(Object.keys(network).length > 0 && { network }),
  }
  return Object.keys(kept).length > 0 ? { sandbox: kept } : {}
}

/** What acts outside of the folder is not for the files of one repository to set. */
function withoutRefused(settings: JsonObject): JsonObject {
  const { env } = settings
  if (!isObject(env)) return settings
  const kept = Object.entries(env).filter(([name]) => !isRefusedVariable(name))
  return { ...settings, env: Object.fromEntries(kept) }
}

/** A repository cannot switch off its user's sandbox. */
function withoutLooserSandbox(project: JsonObject, below: JsonObject): JsonObject {
  const [own, user] = [project['sandbox'], below['sandbox']]
  if (!isObject(own) || !isObject(user)) return project
  const kept = Object.entries(own).filter(([key]) => !(key in switches && user[key] === switches[key]))
  return { ...project, sandbox: Object.fromEntries(kept) }
}

/** The stricter position of each switch. */
const switches: Readonly<Record<string, boolean>> = {
  enabled: true,
  failIfUnavailable: true,
  autoAllowBashIfSandboxed: false,
  allowUnsandboxedCommands: false,
}

/** What of an untrusted folder's settings is held back, by key: `hooks`, `permissions.allow`. */
export const heldBackKeys = (settings: JsonObject): string[] =>
  leftOut(settings, onlyRestrictions(settings)).filter((key) => key !== '$schema')

/** Objects of which a part may be kept. */
const inParts = new Set(['permissions', 'sandbox', 'sandbox.filesystem', 'sandbox.network'])

function leftOut(settings: JsonObject, kept: JsonObject, above = ''): string[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    const path = `${above}${key}`
    const part = Object.hasOwn(kept, key) ? kept[key] : undefined
    if (inParts.has(path) && isObject(value)) return leftOut(value, isObject(part) ? part : {}, `${path}.`)
    return part === undefined ? [path] : []
  })
}

function withoutRules(settings: JsonObject): JsonObject {
  if (!isObject(settings['permissions'])) return settings
  const { allow: _a, ask: _b, deny: _c, ...permissions } = settings['permissions']
  return { ...settings, permissions }
}

/** Objects whose parts belong together: the stronger level's replaces the weaker one's. */
const whole = new Set(['model_config', 'statusLine', 'availableModels', 'fallbackModel'])

/** Two levels as one. */
export function join(weak: JsonObject, strong: JsonObject, path = ''): JsonObject {
  const joined = Object.entries(strong).map(([key, value]): [string, unknown] => {
    const below = Object.hasOwn(weak, key) ? weak[key] : undefined
    const here = path === '' ? key : `${path}.${key}`
    if (whole.has(here) || path === 'mcpServers') return [key, value]
    if (isObject(below) && isObject(value)) return [key, join(below, value, here)]
    if (Array.isArray(below) && Array.isArray(value)) return [key, unique([...below, ...value])]
    return [key, value]
  })
  return { ...weak, ...Object.fromEntries(joined) }
}

const unique = (values: readonly unknown[]): unknown[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
]
