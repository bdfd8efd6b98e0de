/** Another program's SQLite database: read while that program may be writing to it, never changed. */

export interface Store {
  /** All rows of a statement, which is to be short: a lock is held while it runs. */
  all(sql: string, ...values: readonly (string | number)[]): Record<string, unknown>[]
  close(): void
}

export function openStore(path: string): Store {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const db = new DatabaseSync(path, { readOnly: true })
  const statements = new Map<string, ReturnType<typeof db.prepare>>()
  db.exec('PRAGMA busy_timeout=10000')
  return {
    all(sql, ...values) {
      let statement = statements.get(sql)
      if (!statement) {
        statement = db.prepare(sql)
        statements.set(sql, statement)
      }
      return statement.all(...values)
    },
    close: () => db.close(),
  }
}
