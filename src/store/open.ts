/** The database: opened once a process, every write in a transaction. */
import { accessSync, constants, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../package-root.ts'
import { type Added, seal, tableAddedTo, unknownEnd } from './chain/chain.ts'
import { claim, notFile } from './database-file.ts'
import { asStoreError, StoreError } from './failure.ts'
import { ownTables } from './own-tables.ts'
import { keepOutEnv } from './secrets.ts'

export { dbPath } from './database-file.ts'
export { StoreError } from './failure.ts'

export interface Db {
  readonly path: string
  readonly isOpen: boolean
  /** Statements are prepared once and kept. */
  run(sql: string, ...values: SqlValue[]): { changes: number; lastId: number }
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined
  all<Row>(sql: string, ...values: SqlValue[]): Row[]
  /** Every row as an array of its columns: for long readings, in which an object for each row is a third of the cost. */
  arrays<Columns extends readonly unknown[]>(sql: string, ...values: SqlValue[]): Columns[]
  /**
   * Row by row, as SQLite gives them: without a prototype. Must be read to its end before the next write: an open cursor
   * holds on to an old view of the file.
   */
  each<Row>(sql: string, ...values: SqlValue[]): IterableIterator<Row>
  /** BEGIN IMMEDIATE … COMMIT; inside another one, a savepoint. Rolls back when `work` throws. `work` must not await. */
  transaction<T>(work: () => T): T
  /** Whatever `work` reads is of one moment, and the file is locked once for all of it. `work` must not await. */
  snapshot<T>(work: () => T): T
  /** Changes TEMP tables and views, which are this connection's own. For connections that only read. */
  runTemp(sql: string, ...values: SqlValue[]): void
  close(): void
}

/** A database that is only looked at. */
export type ReadDb = Omit<Db, 'run' | 'transaction'>

export type SqlValue = string | number | bigint | null | Uint8Array

const SCHEMA_VERSION = 1

/** Bytes of the write-ahead log that stay on the disk when nobody reads from it any more. */
const largestLog = 16 * 1_048_576

/** The path of a database that lives as long as its connection, and in no file. */
export const inMemory = ':memory:'

/** Opens the database at an absolute path, and makes it where there is none (folder 0700, file 0600); or `inMemory`. */
export function openDb(path: string): Db {
  keepOutEnv(process.env)
  if (path === inMemory) return new Connection(path)
  const isNew = claim(path)
  try {
    return new Connection(path)
  } catch (error) {
    // nothing came of it, so nothing stays; when another process holds the file, it is that one's
    if (isNew && !(error instanceof StoreError && error.kind === 'locked'))
      for (const end of ['', '-wal', '-shm', '-journal']) rmSync(path + end, { force: true })
    throw error
  }
}

/** Opens a database that is there, to look at it. Must not change a row of it, and does not bring it up to date either. */
export function readDb(path: string): ReadDb {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw notFile(path)
  if (!found?.size)
    throw new StoreError(
      'not-there',
      `there is no database at ${path} yet: ona has not run, or AGENT_SDLC_DB names another file`,
    )
  try {
    return new Connection(path, { readOnly: true })
  } catch (error) {
    if (!(error instanceof StoreError && error.kind === 'not-there' && isUnchanging(path))) throw error
    return new Connection(path, { readOnly: true, unchanging: true })
  }
}

/**
 * On a medium that nobody can write to. SQLite wants to create its log beside the file there, unless it is told that the file does
 * not change. A log that is there holds rows that would be missing.
 */
function isUnchanging(path: string): boolean {
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return false
  try {
    accessSync(dirname(path), constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}

type Sqlite = typeof import('node:sqlite')
type Statement = ReturnType<InstanceType<Sqlite['DatabaseSync']>['prepare']>

class Connection implements Db {
  readonly path: string
  readonly #db: InstanceType<Sqlite['DatabaseSync']>
  readonly #statements = new Map<string, Statement>()
  readonly #arrayStatements = new Map<string, Statement>()
  /** Statements that add rows to a chained table. */
  readonly #addsTo = new Map<string, number>()
  /** What the open transaction has added so far. */
  readonly #added: Added[] = []
  readonly #chainEnd = unknownEnd()
  #depth = 0
  readonly #readOnly: boolean

  constructor(path: string, { readOnly = false, unchanging = false } = {}) {
    this.path = path
    this.#readOnly = readOnly
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    try {
      this.#db = new DatabaseSync(unchanging ? `${pathToFileURL(path)}?immutable=1` : path, { readOnly })
    } catch (error) {
      throw asStoreError(error, path) ?? error
    }
    try {
      if (readOnly) this.#prepareReading()
      else this.#prepareFile()
    } catch (error) {
      this.#db.close()
      throw asStoreError(error, path) ?? error
    }
  }

  /** Whose it is and its version are read first: a file that is not for us stays as it was. */
  #prepareFile(): void {
    this.#db.exec('PRAGMA busy_timeout=30000; PRAGMA foreign_keys=ON')
    const isEmpty = !this.get('SELECT 1 FROM sqlite_master LIMIT 1')
    if (!isEmpty) this.#refuseUnlessOurs() // another program may have a schema_meta too
    const found = this.#version()
    this.#refuseNewer(found)
    // a file without anything in it has nothing to lose yet: it is flushed with its first rows, not step by step
    this.#db.exec(`PRAGMA synchronous=${isEmpty ? 'OFF' : 'NORMAL'}; PRAGMA journal_mode=WAL`)
    // a log that grew beside a long reader is cut back once the reader is gone
    this.#db.exec(`PRAGMA journal_size_limit=${largestLog}`)
    const { user_version: made } = this.get<{ user_version: number }>('PRAGMA user_version')!
    if (found === undefined || made < ownTables.length)
      this.transaction(() => {
        if (found === undefined) this.#create()
        this.#createOwn()
      })
    if (isEmpty) this.#db.exec('PRAGMA synchronous=NORMAL')
  }

  /** What an older ona had no tables for is empty; the tables stand in memory. */
  #prepareReading(): void {
    this.#db.exec('PRAGMA busy_timeout=30000')
    this.#refuseUnlessOurs()
    this.#refuseNewer(this.#version())
    const { user_version: made } = this.get<{ user_version: number }>('PRAGMA user_version')!
    for (const sql of ownTables.slice(made))
      if (sql.startsWith('CREATE TABLE')) this.#db.exec(sql.replace('CREATE TABLE', 'CREATE TEMP TABLE'))
  }

  #refuseNewer(found: string | undefined): void {
    if (found === undefined || Number(found) <= SCHEMA_VERSION) return
    throw new StoreError(
      'newer-schema',
      `${this.path} has schema version ${found}, and this ona knows version ${SCHEMA_VERSION}; update ona, or set AGENT_SDLC_DB to another path`,
    )
  }

  #version(): string | undefined {
    const meta = this.get("SELECT 1 FROM sqlite_master WHERE name = 'schema_meta'")
    if (!meta) return undefined
    return this.get<{ value: string }>("SELECT value FROM schema_meta WHERE key = 'schema_version'")?.value
  }

  /** A file that someone made with schema.sql is ours; any other with tables is another program's. */
  #refuseUnlessOurs(): void {
    if (this.get("SELECT 1 FROM sqlite_master WHERE name = 'transcript_entries'")) return
    throw new StoreError(
      'other-program',
      `${this.path} is a database of another program; it was left as it is. Set AGENT_SDLC_DB to another path`,
    )
  }

  /** Another process may have been quicker; so it looks again inside the transaction. */
  #create(): void {
    if (!this.get("SELECT 1 FROM sqlite_master WHERE name = 'transcript_entries'"))
      this.#db.exec(readFileSync(join(packageRoot, 'schema.sql'), 'utf8'))
    this.#db.exec(`INSERT OR IGNORE INTO schema_meta(key, value) VALUES ('schema_version', '${SCHEMA_VERSION}')`)
  }

  #createOwn(): void {
    const { user_version: made } = this.get<{ user_version: number }>('PRAGMA user_version')!
    for (const sql of ownTables.slice(made)) this.#db.exec(sql)
    if (made < ownTables.length) this.#db.exec(`PRAGMA user_version=${ownTables.length}`)
  }

  run(sql: string, ...values: SqlValue[]): { changes: number; lastId: number } {
    return this.#try(() => {
      const statement = this.#statement(sql)
      const table = this.#addsTo.get(sql)
      // a row and its link belong together
      if (table !== undefined && this.#depth === 0) return this.transaction(() => this.run(sql, ...values))
      const { changes, lastInsertRowid } = statement.run(...values)
      const last = Number(lastInsertRowid)
      if (table !== undefined && changes) this.#added.push({ table, first: last - Number(changes) + 1, last })
      return { changes: Number(changes), lastId: last }
    })
  }

  runTemp(sql: string, ...values: SqlValue[]): void {
    if (!this.#readOnly) throw new TypeError('a connection that writes must not hide a table behind a TEMP one')
    this.#try(() => this.#statement(sql).run(...values))
  }

  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#try(() => {
      const statement = this.#statement(sql)
      if (this.#addsTo.has(sql)) throw new TypeError('rows of the record are added by run, which links them')
      const row = statement.get(...values)
      return row && ({ ...row } as Row) // SQLite's rows have no prototype, which surprises a comparison
    })
  }

  all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    return this.#try(() => this.#statement(sql).all(...values)).map((row) => ({ ...row }) as Row)
  }

  arrays<Columns extends readonly unknown[]>(sql: string, ...values: SqlValue[]): Columns[] {
    return this.#try(() => {
      let statement = this.#arrayStatements.get(sql)
      if (!statement) {
        statement = this.#db.prepare(sql)
        statement.setReturnArrays(true)
        this.#arrayStatements.set(sql, statement)
      }
      return statement.all(...values) as unknown as Columns[]
    })
  }

  *each<Row>(sql: string, ...values: SqlValue[]): IterableIterator<Row> {
    // its own statement: a kept one could be asked again while this loop is under way
    for (const row of this.#try(() => this.#db.prepare(sql)).iterate(...values)) yield row as Row
  }

  transaction<T>(work: () => T): T {
    const mark = `s${this.#depth}`
    const outer = this.#depth === 0
    const added = this.#added.length
    this.run(outer ? 'BEGIN IMMEDIATE' : `SAVEPOINT ${mark}`)
    this.#depth++
    try {
      const result = work()
      if (result instanceof Promise) throw new TypeError('the work of a transaction must not await')
      if (outer && this.#added.length > 0) seal(this, this.#added.splice(0), this.#chainEnd)
      this.run(outer ? 'COMMIT' : `RELEASE ${mark}`)
      return result
    } catch (error) {
      // a full disk may have ended the transaction already
      if (this.#db.isTransaction) this.#db.exec(outer ? 'ROLLBACK' : `ROLLBACK TO ${mark}; RELEASE ${mark}`)
      this.#added.length = Math.min(added, this.#added.length)
      this.#chainEnd.version = -1 // what was linked is undone
      throw error
    } finally {
      this.#depth--
    }
  }

  snapshot<T>(work: () => T): T {
    if (this.#db.isTransaction) return work()
    this.#try(() => this.#db.exec('BEGIN'))
    try {
      return work()
    } finally {
      if (this.#db.isTransaction) this.#db.exec('COMMIT')
    }
  }

  get isOpen(): boolean {
    return this.#db.isOpen
  }

  close(): void {
    this.#statements.clear()
    this.#arrayStatements.clear()
    this.#db.close()
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
      const table = tableAddedTo(sql)
      if (table >= 0) this.#addsTo.set(sql, table)
    }
    return statement
  }

  #try<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw asStoreError(error, this.path) ?? error
    }
  }
}

/** A new random id (UUID version 4). From SQLite, because loading node:crypto costs a quarter of a start. */
export function newId(db: Db): string {
  const { hex } = db.get<{ hex: string }>('SELECT lower(hex(randomblob(16))) AS hex')!
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
