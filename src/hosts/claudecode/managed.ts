/**
 * Claude Code's managed settings: a drop-in folder beside `managed-settings.json` (code.claude.com/docs/en/managed-settings). Its
 * permission rules have our grammar.
 */

import { managedHooks } from '../config/managed-hooks.ts'
import { type Managed, ownFile, type Policy, type PolicyPlace, type PolicyRule } from '../managed.ts'
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
      : { how: 'native' },
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
