/** The database: opened once a process, every write in a transaction. */

export interface Db {
  readonly path: string
  /** Statements are prepared once and kept. */
  run(sql: string, ...values: SqlValue[]): { changes: number; lastId: number }
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined
  all<Row>(sql: string, ...values: SqlValue[]): Row[]
  each<Row>(sql: string, ...values: SqlValue[]): IterableIterator<Row>
  /** BEGIN IMMEDIATE … COMMIT; inside another one, a savepoint. Rolls back when `work` throws. `work` must not await. */
  transaction<T>(work: () => T): T
  close(): void
}

export type SqlValue = string | number | bigint | null | Uint8Array
