/** `settings_snapshot('effective')`, the settings of record, and what was last imported into it. */
import { addEvent } from '../audit.ts'
import { newestConversation } from '../conversations.ts'
import type { Db } from '../open.ts'

export interface OnRecord {
  readonly json: string
  /** Whether the files were imported just now. */
  readonly imported: boolean
}

/**
 * The settings of record for a start in `project`, whose files say `content`. They are imported only when that differs
 * from the last import. When another project was in force meanwhile, what was in force here comes back, an operator's
 * changes with it.
 */
export function settingsOfRecord(db: Db, project: string, content: string): OnRecord {
  const quick = unchanged(db, content)
  return quick ?? db.transaction(() => unchanged(db, content) ?? importFiles(db, project, content))
}

/** Puts back the guards that the record lacked, and records that they were missing. */
export function restoreRecord(db: Db, json: string, restored: readonly string[]): void {
  db.transaction(() => {
    db.run("UPDATE settings_snapshot SET json = ?, updated_at = datetime('now') WHERE scope = 'effective'", json)
    const conversationId = newestConversation(db)?.id ?? 'none'
    addEvent(db, { conversationId, type: 'settings_restored', detail: { restored } })
  })
}

interface Import {
  readonly project: string
  readonly content: string
  readonly snapshot: string
}

function unchanged(db: Db, content: string): OnRecord | undefined {
  const json = snapshotOf(db)
  return json !== undefined && lastImport(db)?.content === content ? { json, imported: false } : undefined
}

function importFiles(db: Db, project: string, content: string): OnRecord {
  const inForce = snapshotOf(db)
  const last = lastImport(db)
  // stored by the operator before anything was imported: it stands, as any change of theirs does
  if (inForce !== undefined && !last) return remember(db, { project, content, snapshot: inForce }, false)

  if (inForce !== undefined && last) keep(db, { ...last, snapshot: inForce }, 0)
  const own = db.get<Import>(`${imports} WHERE project = ?`, project)
  const json = inForce !== undefined && own?.content === content ? own.snapshot : content
  db.run(
    "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective', ?, datetime('now'))",
    json,
  )
  return remember(db, { project, content, snapshot: json }, true)
}

function remember(db: Db, row: Import, imported: boolean): OnRecord {
  db.run('UPDATE ona_settings_imports SET current = 0 WHERE current = 1')
  keep(db, row, 1)
  db.run(`DELETE FROM ona_settings_imports WHERE current = 0 AND rowid NOT IN
    (SELECT rowid FROM ona_settings_imports ORDER BY imported_at DESC LIMIT 200)`)
  return { json: row.snapshot, imported }
}

const keep = (db: Db, { project, content, snapshot }: Import, current: 0 | 1) =>
  db.run(
    'INSERT OR REPLACE INTO ona_settings_imports(project, content, snapshot, current) VALUES (?, ?, ?, ?)',
    project,
    content,
    snapshot,
    current,
  )

const imports = 'SELECT project, content, snapshot FROM ona_settings_imports'
const lastImport = (db: Db) => db.get<Import>(`${imports} WHERE current = 1`)
export const snapshotOf = (db: Db): string | undefined =>
  db.get<{ json: string }>("SELECT json FROM settings_snapshot WHERE scope = 'effective'")?.json
