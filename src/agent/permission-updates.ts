/** What the user answered "always" to, or a hook requested: in force at once, and kept where it says. */
import { homedir } from 'node:os'
import type { PermissionUpdate } from '../hooks/plane.ts'
import { ruleText } from '../permissions/rules/rule.ts'
import { applyUpdates } from '../permissions/rules/update.ts'
import type { Session } from './session/session.ts'

/** The user answers for the whole session: rules hold for its sub-agents and for the one that started this one, too. */
export async function saveAnswer(session: Session, updates: readonly PermissionUpdate[]): Promise<void> {
  if (updates.length === 0) return
  const rules = updates.filter(({ type }) => type !== 'setMode')
  const root = session.parent ?? session
  for (const each of [root, ...root.children])
    if (each !== session) each.permissions = applyUpdates(each.permissions, rules).settings
  await saveUpdates(session, updates)
}

export async function saveUpdates(session: Session, updates: readonly PermissionUpdate[]): Promise<void> {
  const updated = applyUpdates(session.permissions, updates)
  session.permissions = updated.settings
  if (updated.mode) session.mode = updated.mode
  if (updates.every(({ destination }) => destination === 'session' || destination === 'cliArg')) return
  const { persistPermissionUpdates } = await import('../store/settings/settings-edit.ts')
  const places = { cwd: session.projectDir, home: session.runtime.home || homedir(), env: session.runtime.env }
  for (const edited of await persistPermissionUpdates(updates, places, ruleText)) {
    if (!edited.ok)
      session.emit({
        type: 'notice',
        level: 'error',
        text: `${edited.file}: ${edited.why}; the rule holds for this session only`,
      })
  }
}
