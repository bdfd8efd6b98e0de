/**
 * The floor under the settings of record: what the files deny, ask about and guard with hooks can be added to in the
 * database, but not removed there.
 */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { flatHooks, join } from './settings-merge.ts'
import type { HookEntry } from './settings-shape.ts'

export interface OnFloor {
  readonly settings: JsonObject
  /** Guards that the database lacked and that are back. */
  readonly restored: readonly string[]
  /** What else the database says and the files do not. */
  readonly changed: readonly string[]
}

/** Lists of rules that only ever restrict. */
const rules = ['deny', 'ask'] as const
/** Other keys that only ever restrict: what a file sets stays set. */
const guards = [
  'allowManagedHooksOnly',
  'allowManagedPermissionRulesOnly',
  'allowManagedMcpServersOnly',
  'deniedMcpServers',
  'disabledMcpjsonServers',
  'hookFailure',
  'sandbox',
]

/** `stored` as the database holds it, on the floor of `files`. */
export function onFloor(stored: JsonObject, files: JsonObject): OnFloor {
  const restored: string[] = []
  const own = permissionsOf(files)
  const theirs = permissionsOf(stored)
  const permissions: JsonObject = {}
  for (const kind of rules) {
    const lost = listOf(own[kind]).filter((rule) => !listOf(theirs[kind]).includes(rule))
    restored.push(...lost.map((rule) => `permissions.${kind} ${JSON.stringify(rule)}`))
    if (lost.length > 0) permissions[kind] = lost
  }
  for (const key of ['disableBypassPermissionsMode', 'allowManagedPermissionRulesOnly']) {
    if (own[key] === undefined || own[key] === theirs[key]) continue
    permissions[key] = own[key]
    restored.push(`permissions.${key}`)
  }
  const floor: JsonObject = Object.keys(permissions).length > 0 ? { permissions } : {}
  for (const key of guards) {
    if (files[key] === undefined || same(files[key], stored[key])) continue
    floor[key] = files[key]
    restored.push(key)
  }
  const { hooks: _, disableAllHooks, ...rest } = stored
  const silenced = disableAllHooks === true && files['disableAllHooks'] !== true
  if (silenced) restored.push('the hooks that "disableAllHooks" switched off')
  const hooks = hooksOnFloor(stored, files, restored)
  const settings = {
    ...join(rest, floor),
    ...(disableAllHooks !== undefined && !silenced && { disableAllHooks }),
    ...(hooks.length > 0 && { hooks }),
  }
  return { settings, restored, changed: changesOf(stored, files) }
}

/** The files' hooks that the database lacks come first; a hook that no file has is the operator's, whatever it says. */
function hooksOnFloor(stored: JsonObject, files: JsonObject, restored: string[]): HookEntry[] {
  const declared = new Map(flatHooks(files['hooks'], 'operator').map((hook) => [canonical(hook), hook]))
  const kept = flatHooks(stored['hooks'], 'operator').map((hook) => declared.get(canonical(hook)) ?? operators(hook))
  const has = new Set(kept.map(canonical))
  const lost = [...declared].filter(([key]) => !has.has(key)).map(([, hook]) => hook)
  restored.push(...lost.map(nameOf))
  return [...lost, ...kept]
}

const operators = (hook: HookEntry): HookEntry => ({ ...hook, source: 'operator' })

function changesOf(stored: JsonObject, files: JsonObject): string[] {
  const declared = new Set(flatHooks(files['hooks'], 'operator').map(canonical))
  const added = flatHooks(stored['hooks'], 'operator').filter((hook) => !declared.has(canonical(hook)))
  const keys = (value: JsonObject, other: JsonObject) =>
    [...new Set([...Object.keys(value), ...Object.keys(other)])].filter((key) => !same(value[key], other[key]))
  const plain = keys(stored, files).filter(
    (key) => !['hooks', 'permissions', 'disableAllHooks', ...guards].includes(key),
  )
  const permissions = keys(permissionsOf(stored), permissionsOf(files)).flatMap((key) => {
    const here = permissionsOf(stored)[key]
    const before = listOf(permissionsOf(files)[key])
    if (Array.isArray(here))
      return here.filter((rule) => !before.includes(rule)).map((rule) => `permissions.${key} ${JSON.stringify(rule)}`)
    return here === undefined ? [] : [`permissions.${key} ${JSON.stringify(here)}`]
  })
  return [...permissions, ...added.map(nameOf), ...plain]
}

const nameOf = ({ hook_event_name, matcher, command }: HookEntry): string =>
  `hook ${hook_event_name}${matcher && ` ${matcher}`}${typeof command === 'string' ? `: ${command}` : ''}`

const permissionsOf = ({ permissions }: JsonObject): JsonObject => (isObject(permissions) ? permissions : {})
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const same = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b)

/** Text that is equal for equal values, whatever the order of their keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort()) : each,
  ) ?? ''
