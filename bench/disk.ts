/**
 * What a record takes on disk, in use and archived, and what a fork of a long session adds to it. Needs a build:
 * `npm run build && node bench/disk.ts [ROWS]`, 200,000 by default.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../src/store/open.ts'
import { generateRecord } from './lib/generate-record.ts'
import { report } from './lib/report.ts'

const wanted = Number(process.argv[2] ?? 200_000)
const place = mkdtempSync(join(tmpdir(), 'ona-bench-disk-'))

/** Runs ona on a record. */
function ona(db: string, ...words: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, '../bin/ona.mjs'), ...words], {
    cwd: place,
    env: { PATH: process.env['PATH'], HOME: place, AGENT_SDLC_DB: db, ONA_KEYCHAIN: 'off' },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`ona ${words.join(' ')} ended with ${status}: ${stderr}`)
}

/** Bytes that a fork of the longest session adds, and the entries of that session. */
function fork(entries: number): { readonly bytes: number; readonly entries: number } {
  const path = join(place, `fork-${entries}.db`)
  generateRecord(path, { rows: entries * 3, callsPerSession: entries, projects: place })
  const db = openDb(path)
  const longest = db.get<{ session_id: string; entries: number }>(
    'SELECT session_id, count(*) AS entries FROM transcript_entries GROUP BY session_id ORDER BY entries DESC LIMIT 1',
  )!
  db.close()
  const before = statSync(path).size
  ona(path, '-p', 'hello', '--model', 'rehearsal', '--resume', longest.session_id, '--fork-session')
  const bytes = statSync(path).size - before
  rmSync(path)
  return { bytes, entries: longest.entries }
}

try {
  const path = join(place, 'record.db')
  const { rows, calls, bytes } = generateRecord(path, { rows: wanted })
  ona(path, 'audit', 'archive', '--older-than', '1d')
  const left = statSync(path).size
  const compressed = statSync(join(place, globSync('record.db-archive-*', { cwd: place })[0]!)).size
  rmSync(path)
  const [short, long] = [fork(10_000), fork(100_000)]
  const megabytes = (size: number) => `${(size / 1e6).toFixed(1)} MB`
  report(
    `A record of ${rows.toLocaleString('en')} rows and ${calls.toLocaleString('en')} calls; sessions of ${short.entries.toLocaleString('en')} and ${long.entries.toLocaleString('en')} entries.`,
    [
      { what: 'bytes a row, with indexes and links', value: bytes / rows, unit: 'bytes', detail: megabytes(bytes) },
      {
        what: 'rows of archived conversations, compressed × before',
        value: compressed / (bytes - left),
        atMost: 0.11,
        detail: `${megabytes(compressed)} and ${megabytes(bytes - left)}`,
      },
      {
        what: 'the whole record after archiving × before',
        value: (left + compressed) / bytes,
        detail: `${megabytes(left + compressed)}, most of it the links of the chain`,
      },
      {
        what: 'what a fork adds, the long session × the short one',
        value: long.bytes / short.bytes,
        atMost: 1.5,
        detail: `${megabytes(long.bytes)} and ${megabytes(short.bytes)}`,
      },
    ],
  )
} finally {
  rmSync(place, { recursive: true, force: true })
}
