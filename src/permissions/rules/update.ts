/** Changes to rules, modes and directories that the user or a PermissionRequest hook requests. */
import type { PermissionMode, PermissionUpdate } from '../../hooks/plane.ts'
import type { PermissionSettings } from '../question.ts'
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

/** The rules together with those that a skill brings; where only managed rules count, it brings none. */
export function withGranted(settings: PermissionSettings, granted: readonly string[]): PermissionSettings {
  if (granted.length === 0 || settings.allowManagedPermissionRulesOnly) return settings
  return { ...settings, allow: [...(settings.allow ?? []), ...granted] }
}
