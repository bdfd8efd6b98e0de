/** A database in memory that knows how far each history has been imported: what is counted in it is what an import would add. */
import { statSync } from 'node:fs'
import { type Db, inMemory, openDb, readDb } from '../../store/open.ts'
import type { Found } from './find-histories.ts'

/** `path`: the record, which is only read, and need not be there. */
export function openDryRun(path: string, found: readonly Found[]): Db {
  const db = openDb(inMemory)
  if (!statSync(path, { throwIfNoEntry: false })?.size) return db
  const record = readDb(path)
  try {
    db.transaction(() => {
      for (const { reader, files } of found) {
        for (const { key } of files) {
          const sql = `SELECT ${columns} FROM ona_import_files WHERE agent = ? AND file_key = ?`
          const [cursor] = record.arrays<(string | number)[]>(sql, reader.agent, key)
          if (cursor) db.run(`INSERT INTO ona_import_files(${columns}) VALUES (?, ?, ?, ?, ?, ?)`, ...cursor)
        }
        const wanted = new Set(files.map(({ path: file }) => file))
        const sql = 'SELECT session_id, agent, source_id, file FROM ona_imports WHERE agent = ?'
        for (const known of record.arrays<[string, string, string, string]>(sql, reader.agent)) {
          if (!wanted.has(known[3])) continue
          db.run("INSERT INTO conversations(id, project_dir) VALUES (?, '')", known[0])
          db.run('INSERT INTO sessions(session_id, conversation_id) VALUES (?, ?)', known[0], known[0])
          db.run('INSERT INTO ona_imports(session_id, agent, source_id, file) VALUES (?, ?, ?, ?)', ...known)
        }
      }
    })
  } finally {
    record.close()
  }
  return db
}

const columns = 'agent, file_key, path, bytes, mark, state'
