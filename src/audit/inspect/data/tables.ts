/**
 * The tables of `ona inspect`: a full-text index and sums, derived from the record. Only inspect creates and fills them,
 * so that a turn pays nothing for them. Dropping them loses nothing: they are rebuilt from the record.
 */
import type { Db } from '../../../store/open.ts'

/** Raise it when a table or what is counted changes: the old tables are dropped and rebuilt. */
const layout = 4

/** Activity is summed by quarters of an hour: the largest slot that no time zone's midnight cuts in two. */
export const slotSeconds = 900

/** A text is found at `conversation number * textStride + entry id`: conversations are ranges of row ids. */
export const textStride = 2 ** 32

/** The number under which all conversations together are summed, without slots. Those of groups are below it, of conversations above. */
export const everything = 0

/** `main`: the database itself. `temp`: a database that cannot be written keeps its index in memory. */
export type Schema = 'main' | 'temp'

/** How texts become words, in the index and where its matches are marked. */
export const tokenizer = 'porter unicode61 remove_diacritics 2'

const tables: Readonly<Record<string, string>> = {
  ona_inspect_cursor: 'TABLE @(name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID',
  ona_inspect_conversations: 'TABLE @(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL)',
  ona_inspect_agents: 'INDEX @ ON ona_inspect_conversations(agent)',
  // of a conversation, the last row of each table of the record that was counted
  ona_inspect_read: `TABLE @(
    number INTEGER NOT NULL, source TEXT NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (number, source)) WITHOUT ROWID`,
  ona_inspect_activity: `TABLE @(
    number INTEGER NOT NULL, slot INTEGER NOT NULL, prompts INTEGER NOT NULL, calls INTEGER NOT NULL, refused INTEGER NOT NULL,
    asked INTEGER NOT NULL, tokens INTEGER NOT NULL, cost REAL NOT NULL, priced INTEGER NOT NULL,
    PRIMARY KEY (number, slot)) WITHOUT ROWID`,
  ona_inspect_slots: 'INDEX @ ON ona_inspect_activity(slot, number)',
  ona_inspect_groups: `TABLE @(
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, conversations INTEGER NOT NULL, UNIQUE (kind, name))`,
  ona_inspect_members:
    'TABLE @(number INTEGER NOT NULL, grp INTEGER NOT NULL, PRIMARY KEY (number, grp)) WITHOUT ROWID',
  ona_inspect_member: 'INDEX @ ON ona_inspect_members(grp, number)',
  // of a group, or of all conversations, by the days of a time zone
  ona_inspect_days: `TABLE @(
    zone TEXT NOT NULL, number INTEGER NOT NULL, day TEXT NOT NULL, calls INTEGER NOT NULL, refused INTEGER NOT NULL,
    cost REAL NOT NULL, PRIMARY KEY (zone, number, day)) WITHOUT ROWID`,
  ona_inspect_names: 'TABLE @(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)',
  ona_inspect_hooks: `TABLE @(
    number INTEGER NOT NULL, slot INTEGER NOT NULL, hook INTEGER NOT NULL, runs INTEGER NOT NULL, denied INTEGER NOT NULL,
    failed INTEGER NOT NULL, durations TEXT NOT NULL, PRIMARY KEY (number, slot, hook)) WITHOUT ROWID`,
  ona_inspect_rulings: `TABLE @(
    number INTEGER NOT NULL, slot INTEGER NOT NULL, decision TEXT NOT NULL, decider TEXT NOT NULL, tool TEXT NOT NULL,
    cause INTEGER NOT NULL, times INTEGER NOT NULL, PRIMARY KEY (number, slot, decision, decider, tool, cause)) WITHOUT ROWID`,
  // contentless: the words point at rows of the record, and the text itself is kept once, there
  ona_inspect_text: `VIRTUAL TABLE @ USING fts5(body, content='', contentless_delete=1, tokenize='${tokenizer}')`,
}

/** Creates the tables where they are missing or of an older layout. */
export function createTables(db: Db, schema: Schema): void {
  if (isMade(db, schema) && cursor(db, 'layout') === layout) return
  inBatch(db, schema, () => makeTables(db, schema))
}

const isMade = (db: Db, schema: Schema): boolean =>
  db.get(`SELECT 1 FROM ${schema}.sqlite_master WHERE name = 'ona_inspect_cursor'`) !== undefined

function makeTables(db: Db, schema: Schema): void {
  for (const [name, sql] of Object.entries(tables))
    if (!sql.startsWith('INDEX')) db.run(`DROP TABLE IF EXISTS ${schema}.${name}`)
  for (const [name, sql] of Object.entries(tables)) db.run(`CREATE ${sql.replace('@', `${schema}.${name}`)}`)
  setCursor(db, 'layout', layout)
}

/** What is kept in memory needs no transaction, and a database that cannot be written takes none. */
export const inBatch = <T>(db: Db, schema: Schema, work: () => T): T =>
  schema === 'temp' ? work() : db.transaction(work)

/**
 * Part of every erasure: nothing that was derived from the record outlives it. An index keeps the words of a deleted row
 * until its segments are merged, so all of it goes; inspect rebuilds it from what is left. The tables themselves stay: another
 * process may be reading or filling them.
 */
export function emptyTables(db: Db, schema: Schema = 'main'): void {
  if (isMade(db, schema) && db.get("SELECT 1 FROM ona_inspect_cursor WHERE name <> 'layout'")) makeTables(db, schema)
}

export const cursor = (db: Db, name: string): number =>
  db.get<{ last: number }>('SELECT last FROM ona_inspect_cursor WHERE name = ?', name)?.last ?? 0

export const setCursor = (db: Db, name: string, last: number): void =>
  void db.run('INSERT OR REPLACE INTO ona_inspect_cursor(name, last) VALUES (?, ?)', name, last)
