/** A database in memory that knows how far each history has been imported: what is counted in it is what an import would add. */
import { statSync } from 'node:fs'
import { inMemory, openDb, readDb } from '../../store/open.ts'
import type { Found } from './find-histories.ts'
import type { ImportTarget } from './write-records.ts'

/** `path`: the record, which is only read, and need not be there. */
export function openDryRun(path: string, found: readonly Found[]): ImportTarget {
  const db = openDb(inMemory)
  if (!statSync(path, { throwIfNoEntry: false })?.size) return { db, dryRun: { recorded: db, seen: new Map() } }
  const recorded = readDb(path)
  db.transaction(() => {
    for (const { reader, files } of found) {
      for (const { key } of files) {
        const sql = `SELECT ${columns} FROM ona_import_files WHERE agent = ? AND file_key = ?`
        const [cursor] = recorded.arrays<(string | number)[]>(sql, reader.agent, key)
        if (cursor) db.run(`INSERT INTO ona_import_files(${columns}) VALUES (?, ?, ?, ?, ?, ?)`, ...cursor)
      }
      const wanted = new Set(files.map(({ path: file }) => file))
      const sql = `SELECT i.session_id, i.agent, i.source_id, i.file, s.conversation_id FROM ona_imports i
        JOIN sessions s ON s.session_id = i.session_id WHERE i.agent = ?`
      for (const [id, agent, source, file, conversation] of recorded.arrays<string[]>(sql, reader.agent)) {
        if (!wanted.has(file!)) continue
        db.run("INSERT OR IGNORE INTO conversations(id, project_dir) VALUES (?, '')", conversation!)
        db.run('INSERT INTO sessions(session_id, conversation_id) VALUES (?, ?)', id!, conversation!)
        db.run(
          'INSERT INTO ona_imports(session_id, agent, source_id, file) VALUES (?, ?, ?, ?)',
          ...[id!, agent!, source!, file!],
        )
      }
    }
  })
  return { db, dryRun: { recorded, seen: new Map() } }
}

const columns = 'agent, file_key, path, bytes, mark, state'
