/**
 * Brings one session file of another agent into the database. Each batch of lines is one transaction that also moves the
 * file's cursor: a kill loses no line and repeats none, and two imports at once share the work.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { isObject } from '../../hooks/shape.ts'
import type { HistoryFile, HistoryReader, HistoryRecord, State } from '../../hosts/history/record.ts'
import { unarchiveSession } from '../../store/archive/archive.ts'
import type { Db } from '../../store/open.ts'
import { addCounts, type Counts, noCounts } from './counts.ts'
import { batches } from './lines.ts'
import { ArchivedSession, type ImportTarget, recordWriter } from './write-records.ts'

/** Undefined when all is read; otherwise why this file could not be. */
export async function importFile(
  target: ImportTarget,
  reader: HistoryReader,
  file: HistoryFile,
  counts: Counts,
): Promise<string | undefined> {
  try {
    if (reader.rows && !file.lines) importRows(target, reader, file, counts)
    else while (!(await importLines(target, reader, file, counts))) {}
    return undefined
  } catch (cause) {
    if (!isFileError(cause)) throw cause
    return `${file.path} cannot be read: ${cause.message}`
  }
}

/** The system's errors, and those of what unpacks or opens the file. Those of our own database are others, and end the import. */
const isFileError = (cause: unknown): cause is NodeJS.ErrnoException =>
  cause instanceof Error &&
  /^(?:E[A-Z0-9]+$|ERR_SQLITE_ERROR|ZSTD_|Z_)/.test((cause as NodeJS.ErrnoException).code ?? '')

interface Cursor {
  readonly bytes: number
  /** The hash of the bytes before the cursor: when they differ, the file was rewritten. */
  readonly mark: string
  readonly state: State
}

/** False: another process moved the cursor meanwhile, so that it must be read again. */
async function importLines(
  target: ImportTarget,
  reader: HistoryReader,
  file: HistoryFile,
  counts: Counts,
): Promise<boolean> {
  const { db } = target
  const saved = readCursor(db, reader, file)
  const isPacked = file.path.endsWith('.zst')
  const rewritten = saved !== undefined && !isPacked && markAt(file.path, saved.bytes) !== saved.mark
  let cursor: Cursor =
    saved && !rewritten ? saved : { bytes: 0, mark: '', state: { ...file.about, ...(rewritten && { rewritten }) } }
  let stored = saved?.bytes
  for await (const { lines, end, tooLong } of batches(file.path, cursor.bytes)) {
    const mark = isPacked ? cursor.mark : markAt(file.path, end)
    const { state: before } = cursor
    const next = commit(target, counts, (added): Cursor | undefined => {
      if (readCursor(db, reader, file)?.bytes !== stored) return undefined
      const state: State = structuredClone(before)
      added.unreadable += tooLong
      addLines(lines, { target, reader, file, state, added })
      const reached = { bytes: end, mark, state }
      saveCursor(db, reader, file, reached)
      return reached
    })
    if (!next) return false
    cursor = next
    stored = end
  }
  return true
}

/** One transaction. What it counts is added when it is stored; an archived session returns before rows are added to it. */
function commit<T>({ db, dryRun }: ImportTarget, counts: Counts, work: (added: Counts) => T): T {
  for (;;) {
    const added = noCounts()
    try {
      const done = db.transaction(() => work(added))
      addCounts(counts, added)
      if (dryRun) for (const table of rowTables) db.run(`DELETE FROM ${table}`) // counted, and of no more use
      return done
    } catch (cause) {
      if (!(cause instanceof ArchivedSession)) throw cause
      unarchiveSession(db, cause.sessionId)
    }
  }
}
const rowTables = ['tool_permission_log', 'hook_invocations', 'events', 'transcript_entries']

/** The hash of the last bytes before a place; '' when the file ends before it. */
function markAt(path: string, place: number): string {
  const fd = openSync(path, 'r')
  try {
    const size = Math.min(256, place)
    if (fstatSync(fd).size < place) return 'shorter'
    const bytes = Buffer.alloc(size)
    readSync(fd, bytes, 0, size, place - size)
    return process.getBuiltinModule('node:crypto').hash('sha256', bytes)
  } finally {
    closeSync(fd)
  }
}

interface Adding {
  readonly target: ImportTarget
  readonly reader: HistoryReader
  readonly file: HistoryFile
  readonly state: State
  readonly added: Counts
}

/** A few lines at a time, so that no more than those are in memory as records. */
function addLines(lines: readonly Buffer[], { target, reader, file, state, added }: Adding): void {
  const isRewritten = state['rewritten'] === true
  const writer = recordWriter(target, reader, file.path, added, { skipKnown: reader.repeats || isRewritten })
  const { skip } = reader
  const wanted = skip ? lines.filter((line) => !isBulk(line, skip)) : lines
  for (let at = 0; at < wanted.length; at += linesAtOnce) {
    const read = wanted.slice(at, at + linesAtOnce).map((line) => recordsIn(line, reader, state))
    const isFirst = firsts(
      target,
      read.flatMap((each) => (each?.key ? [each.key] : [])),
    )
    for (const each of read) {
      if (!each) {
        added.unreadable++
        continue
      }
      const isCopy = each.key !== '' && !isFirst.delete(each.key)
      if (isCopy && !isRewritten) added.copied++
      for (const record of each.records) if (!isCopy || record.kind === 'session') writer.add(record)
    }
  }
  writer.finish()
}
const linesAtOnce = 64

/** `key`: of a line that may be a copy of a line in another file. Undefined: cut off by a crash, or nested too deep. */
function recordsIn(line: Buffer, reader: HistoryReader, state: State) {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    if (!isObject(value)) return undefined
    const records = reader.read(value, state)
    const mayBeCopy = reader.copyKey && records.some(({ kind }) => kind !== 'session' && kind !== 'unknown')
    const name = mayBeCopy ? reader.copyKey!(value, state) : ''
    return { records, key: name === '' ? '' : keyOf(reader.agent, name) }
  } catch {
    return undefined
  }
}

/** 64 bits: among a hundred million records, two that differ share one with a chance of 1 in 4,000. */
const keyOf = (agent: string, name: string): string =>
  process.getBuiltinModule('node:crypto').hash('sha256', `${agent} ${name}`, 'base64').slice(0, 11)

/** Of these keys, those that no line before had; they are remembered. A dry run may write to the very database it reads. */
function firsts({ db, dryRun }: ImportTarget, keys: readonly string[]): Set<string> {
  if (keys.length === 0) return new Set()
  const asked = JSON.stringify(keys)
  const known = dryRun?.recorded.arrays<[string]>(
    'SELECT key FROM ona_import_records WHERE key IN (SELECT value FROM json_each(?))',
    asked,
  )
  const added = db.arrays<[string]>(
    'INSERT OR IGNORE INTO ona_import_records SELECT value FROM json_each(?) RETURNING key',
    asked,
  )
  const found = new Set(added.map(([key]) => key))
  for (const [key] of known ?? []) found.delete(key)
  return found
}

function isBulk(line: Buffer, skip: readonly string[]): boolean {
  const head = line.toString('latin1', 0, Math.min(300, line.length))
  return skip.some((part) => head.includes(part))
}

/** Rows of another SQLite file: read from a cursor that is a time, and recognised by their keys. */
function importRows(target: ImportTarget, reader: HistoryReader, file: HistoryFile, counts: Counts): void {
  const { db, sinceMs = 0 } = target
  const saved = readCursor(db, reader, file)
  const state = saved?.state ?? { ...file.about }
  let batch: HistoryRecord[] = []
  let unreadable = 0
  // older sessions than the last time are before the cursor
  const isOlder = saved !== undefined && sinceMs < Number(saved.state['since'] ?? 0)
  const from = saved && !isOlder ? saved.bytes : sinceMs
  if (!saved || isOlder) state['since'] = sinceMs
  let reached = saved?.bytes ?? 0
  const store = () => {
    commit(target, counts, (added) => {
      const writer = recordWriter(target, reader, file.path, added, { skipKnown: true })
      for (const record of batch) writer.add(record)
      writer.finish()
      const now = readCursor(db, reader, file)?.bytes ?? 0
      saveCursor(db, reader, file, { bytes: Math.max(reached, now), mark: '', state })
      added.unreadable += unreadable
    })
    batch = []
    unreadable = 0
  }
  try {
    for (const row of reader.rows!(file.path, from)) {
      if ('unreadable' in row) {
        unreadable += row.unreadable
        continue
      }
      if (row.line['row'] === 'session' && batch.length > 1000) store()
      reached = Math.max(reached, row.cursor)
      try {
        batch.push(...reader.read(row.line, state))
      } catch {
        unreadable++
      }
    }
  } finally {
    // also what was read before a damaged place
    if (batch.length > 0 || unreadable > 0) store()
  }
}

function readCursor(db: Db, { agent }: HistoryReader, { key }: HistoryFile): Cursor | undefined {
  const row = db.get<{ bytes: number; mark: string; state: string }>(
    'SELECT bytes, mark, state FROM ona_import_files WHERE agent = ? AND file_key = ?',
    agent,
    key,
  )
  return row && { ...row, state: JSON.parse(row.state) }
}

function saveCursor(
  db: Db,
  { agent }: HistoryReader,
  { key, path }: HistoryFile,
  { bytes, mark, state }: Cursor,
): void {
  db.run(
    `INSERT INTO ona_import_files(agent, file_key, path, bytes, mark, state) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT(agent, file_key) DO UPDATE SET path = excluded.path, bytes = excluded.bytes, mark = excluded.mark,
       state = excluded.state, imported_at = datetime('now')`,
    ...[agent, key, path, bytes, mark, JSON.stringify(state)],
  )
}
