/**
 * Claude Code's managed settings: a drop-in folder beside `managed-settings.json` (code.claude.com/docs/en/managed-settings). Its
 * permission rules have our grammar.
 */

import { managedHooks } from '../config/managed-hooks.ts'
import {
  looseJson,
  type Managed,
  ownFile,
  type Policy,
  type PolicyPlace,
  type PolicyRule,
  type Surroundings,
} from '../managed.ts'
import { claudeEvents } from './events.ts'

const folder = { linux: '/etc/claude-code', darwin: '/Library/Application Support/ClaudeCode' }

export const claudeManaged: Managed = {
  holds: 'hooks and rules hold: no setting, flag or variable of its user switches them off',
  files(policy, place) {
    const settings = managedSettings(policy, place, 'claudecode', { onFailure: 'block' })
    return [
      ownFile(`${folder[place.platform]}/managed-settings.d/50-ona.json`, `${JSON.stringify(settings, null, 2)}\n`),
    ]
  },
  support: ({ tool, content }) =>
    content?.includes(':') && !/^(Bash|Read|Edit|Agent|Skill|WebFetch)$/.test(tool)
      ? { how: 'hook', why: 'its rules do not look at this parameter' }
      : tool === 'Bash' && content !== undefined
        ? { how: 'native', why: 'the hook also looks into bash -c and the like' }
        : { how: 'native' },
  overrides: (seen) => dropInOverrides(seen, folder[seen.platform]),
}

/** Managed files beside ours. Lists add up; of single values the file that sorts last has its way. */
export function dropInOverrides({ machine, list }: Surroundings, base: string): string[] {
  const dropIns = list(`${base}/managed-settings.d`).map((name) => `${base}/managed-settings.d/${name}`)
  const own = `${base}/managed-settings.d/50-ona.json`
  const wantsOwnHooks = looseJson(machine(own))['allowManagedHooksOnly'] === true
  return [`${base}/managed-settings.json`, ...dropIns].flatMap((path) => {
    if (path === own) return []
    const { disableAllHooks, allowManagedHooksOnly, policyHelper } = looseJson(machine(path))
    return [
      ...(disableAllHooks === true ? [`${path} sets disableAllHooks: no hook runs, the policy's neither`] : []),
      ...(policyHelper !== undefined
        ? [`${path} names a policyHelper, whose answer replaces all managed settings`]
        : []),
      ...(wantsOwnHooks && allowManagedHooksOnly === false && path > own
        ? [`${path} sets allowManagedHooksOnly back to false: hooks of users run`]
        : []),
    ]
  })
}

/** The settings of Claude Code, which ona reads too. */
export function managedSettings(
  { rules, hooks, managedHooksOnly }: Policy,
  place: PolicyPlace,
  host: string,
  refusing: Readonly<Record<string, unknown>>,
) {
  const of = (behavior: PolicyRule['behavior']) =>
    rules.filter((rule) => rule.behavior === behavior).map(({ text }) => text)
  const permissions = { deny: of('deny'), ask: of('ask'), allow: of('allow') }
  return {
    ...(managedHooksOnly && { allowManagedHooksOnly: true }),
    permissions: Object.fromEntries(Object.entries(permissions).filter(([, list]) => list.length > 0)),
    hooks: managedHooks({ events: claudeEvents, unitMs: 1000, groups: true, refusing }, hooks, place, host),
  }
}
