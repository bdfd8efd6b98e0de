/**
 * The overview and the search of `ona inspect` on a large record: `node bench/inspect.ts [ROWS]`, by default 1,000,000. The
 * record is made once and kept in ONA_BENCH_RECORDS, else in a temporary folder. CPU time, the best of some rounds.
 */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dashboard } from '../src/audit/inspect/data/api.ts'
import { fill } from '../src/audit/inspect/data/fill.ts'
import { search } from '../src/audit/inspect/data/search.ts'
import { overviewPage } from '../src/audit/inspect/page.ts'
import { openDb } from '../src/store/open.ts'
import { generateRecord } from './lib/generate-record.ts'
import { report } from './lib/report.ts'

const rows = Number(process.argv[2] ?? 1_000_000)
const scratch = mkdtempSync(join(tmpdir(), 'ona-bench-inspect-'))
const path = join(process.env['ONA_BENCH_RECORDS'] ?? scratch, `${rows}.db`)
if (!existsSync(`${path}.json`)) writeFileSync(`${path}.json`, JSON.stringify(generateRecord(path, { rows })))

function cpuMs(work: () => unknown): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
const best = (work: () => unknown): number => Math.min(...Array.from({ length: 3 }, () => cpuMs(work)))

const db = openDb(path)
const before = statSync(path).size
let progress = { rows: 1, read: 0 }
let longest = 0
const built = cpuMs(() => {
  while (progress.read < progress.rows)
    longest = Math.max(
      longest,
      cpuMs(() => (progress = fill(db, 'main', 1))),
    )
})
db.run('PRAGMA wal_checkpoint(TRUNCATE)')
const indexed = (statSync(path).size - before) / 1e6

const month = { from: Math.floor(Date.now() / 1000) - 30 * 86_400 }
const measured: [what: string, limitMs: number, ms: number][] = [
  ['the first page', 300, best(() => overviewPage(db, 1, progress))],
  ['the overview', 300, best(() => dashboard(db, progress, {}, 1))],
  ['the overview, filtered', 300, best(() => dashboard(db, progress, { agent: 'ona', refused: true, ...month }, 1))],
  ...['test', 'the', 'npm test', '"npm run"', 'error file', 'nosuchword', 'pri*'].map(
    (words): [string, number, number] => [`search ${words}`, 500, best(() => search(db, words, {}))],
  ),
  ['search the, filtered', 500, best(() => search(db, 'the', { agent: 'codex', refused: true }))],
]
db.close()
rmSync(scratch, { recursive: true, force: true })
report(
  `Pages of ona inspect on a record of ${rows.toLocaleString('en')} rows; CPU time, the best of some rounds. The search index took ${(built / 1000).toFixed(1)} s, the longest batch ${longest.toFixed(0)} ms, and adds ${indexed.toFixed(0)} MB to ${(before / 1e6).toFixed(0)} MB.`,
  measured.map(([what, atMost, value]) => ({ what, value, unit: 'ms', atMost })),
)
