/**
 * Conversations that an overview is asked for together: those of an agent or a folder, those in which something was denied or a
 * hook ran. Each group is summed like a conversation, without slots, so that a filter reads one row and not all its members.
 */
import type { Db } from '../../../store/open.ts'
import { everything } from './tables.ts'

export type GroupKind = 'agent' | 'project' | 'refused' | 'hook'

/** Puts a conversation into a group. Returns the group's number, or undefined where it was a member before. */
export function join(db: Db, number: number, kind: GroupKind, name: string): number | undefined {
  const group = groupOf(db, kind, name)
  const { changes } = db.run('INSERT OR IGNORE INTO ona_inspect_members(number, grp) VALUES (?, ?)', number, group)
  if (changes === 0) return undefined
  db.run('UPDATE ona_inspect_groups SET conversations = conversations + 1 WHERE number = ?', group)
  return group
}

/** Numbers of groups are below `everything`, of which every conversation is a member. */
function groupOf(db: Db, kind: GroupKind, name: string): number {
  const known = db.get<{ number: number }>(
    'SELECT number FROM ona_inspect_groups WHERE kind = ? AND name = ?',
    kind,
    name,
  )
  if (known) return known.number
  const { number } = db.get<{ number: number }>(
    `SELECT coalesce(min(number), ${everything}) - 1 AS number FROM ona_inspect_groups`,
  )!
  db.run('INSERT INTO ona_inspect_groups(number, kind, name, conversations) VALUES (?, ?, ?, 0)', number, kind, name)
  return number
}

export const groupsOf = (db: Db, number: number): number[] => [
  everything,
  ...db.all<{ grp: number }>('SELECT grp FROM ona_inspect_members WHERE number = ?', number).map(({ grp }) => grp),
]
