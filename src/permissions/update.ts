/** Changes to rules, modes and directories that a person or a PermissionRequest hook asks for. */
import type { PermissionMode, PermissionUpdate } from '../hooks/plane.ts'
import { isObject } from '../hooks/shape.ts'
import type { PermissionSettings } from './decide.ts'
import { modes } from './modes.ts'
import { readRule, ruleText } from './rule.ts'

export interface Updated {
  readonly settings: PermissionSettings
  /** The mode that the session is in from now on, where that was changed. */
  readonly mode?: PermissionMode
  /** What was not done, and why. */
  readonly warnings: readonly string[]
}

/** The settings as they are after the updates, whatever their destination. Changes nothing in place. */
export function applyUpdates(settings: PermissionSettings, updates: readonly PermissionUpdate[]): Updated {
  let now = settings
  let mode: PermissionMode | undefined
  const warnings: string[] = []
  for (const update of updates) {
    const why = refusal(now, update)
    if (why) {
      warnings.push(why)
      continue
    }
    if (update.type === 'setMode') mode = update.mode
    else now = applyUpdate(now, update, warnings)
  }
  return { settings: now, ...(mode && { mode }), warnings }
}

/** Why an update must not be made under these settings. */
function refusal(settings: PermissionSettings, update: PermissionUpdate): string | undefined {
  if (update.type === 'setMode') {
    const forbidden = update.mode === 'bypassPermissions' && settings.disableBypassPermissionsMode === 'disable'
    return forbidden ? 'bypassPermissions mode is disabled by the settings' : undefined
  }
  if (settings.allowManagedPermissionRulesOnly && 'rules' in update) {
    return 'the managed settings allow no other permission rules'
  }
  return undefined
}

type ListUpdate = Exclude<PermissionUpdate, { type: 'setMode' }>

function applyUpdate(settings: PermissionSettings, update: ListUpdate, warnings: string[]): PermissionSettings {
  if ('directories' in update) {
    const old = settings.additionalDirectories ?? []
    const kept = old.filter((each) => !update.directories.includes(each))
    const added = update.type === 'addDirectories' ? update.directories : []
    return { ...settings, additionalDirectories: [...kept, ...added] }
  }
  const { behavior } = update
  const texts = update.rules.map(ruleText).filter((text) => {
    const reading = update.type === 'removeRules' ? { ok: true as const } : readRule(text, behavior)
    if (!reading.ok) warnings.push(`Invalid permission rule "${text}" in ${behavior} was skipped: ${reading.why}`)
    return reading.ok
  })
  const old = update.type === 'replaceRules' ? [] : (settings[behavior] ?? [])
  const kept = old.filter((each) => !texts.includes(each))
  return { ...settings, [behavior]: update.type === 'removeRules' ? kept : [...kept, ...texts] }
}

const destinations = ['userSettings', 'projectSettings', 'localSettings', 'session', 'cliArg']

/** Reads an update that a hook wrote. */
export function readUpdate(value: unknown): { ok: true; update: PermissionUpdate } | { ok: false; why: string } {
  if (!isObject(value)) return { ok: false, why: 'an update must be an object' }
  const no = (field: string, why: string) => ({ ok: false as const, why: `${field} ${why}` })
  if (!destinations.includes(value.destination as string))
    return no('destination', `must be one of ${destinations.join(', ')}`)
  switch (value.type) {
    case 'setMode':
      if (!modes.includes(value.mode as PermissionMode)) return no('mode', `must be one of ${modes.join(', ')}`)
      break
    case 'addDirectories':
    case 'removeDirectories':
      if (!isListOf(value.directories, (each) => typeof each === 'string' && each !== ''))
        return no('directories', 'must be a list of paths')
      break
    case 'addRules':
    case 'replaceRules':
    case 'removeRules':
      if (!['allow', 'deny', 'ask'].includes(value.behavior as string))
        return no('behavior', 'must be allow, deny or ask')
      if (!isListOf(value.rules, isRuleValue)) return no('rules', 'must be a list of {toolName, ruleContent?}')
      break
    default:
      return no('type', 'must be addRules, replaceRules, removeRules, setMode, addDirectories or removeDirectories')
  }
  return { ok: true, update: value as unknown as PermissionUpdate }
}

const isListOf = (value: unknown, is: (each: unknown) => boolean): boolean => Array.isArray(value) && value.every(is)
const isRuleValue = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.toolName === 'string' &&
  (value.ruleContent === undefined || typeof value.ruleContent === 'string')
