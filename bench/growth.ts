/**
 * What a user waits for, on a record of ten thousand rows and on larger ones: `node bench/growth.ts [ROWS…]`, by default 10k,
 * 100k and 1M; `ONA_BENCH_ROWS=10000,5000000` does the same. Records are made once and kept in ONA_BENCH_RECORDS, else in a
 * temporary folder. CPU time of the whole process, the best of some rounds in turns: what else the machine does counts least.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, uptime } from 'node:os'
import { join } from 'node:path'
import { dashboard } from '../src/audit/inspect/data/api.ts'
import { fill } from '../src/audit/inspect/data/fill.ts'
import { search } from '../src/audit/inspect/data/search.ts'
import { conversationPage, overviewPage } from '../src/audit/inspect/page.ts'
import { type Db, openDb } from '../src/store/open.ts'
import { listSessions } from '../src/store/session/session-list.ts'
import { type Generated, generateRecord } from './lib/generate-record.ts'
import { report } from './lib/report.ts'

const sizes = (process.argv.slice(2).join() || process.env['ONA_BENCH_ROWS'] || '10000,100000,1000000').split(',')
const rounds = 5
const scratch = mkdtempSync(join(tmpdir(), 'ona-bench-growth-'))
const folder = process.env['ONA_BENCH_RECORDS'] ?? scratch
const bin = join(import.meta.dirname, '../bin/ona.mjs')
const project = join(scratch, 'project')
mkdirSync(project, { recursive: true })
writeHistory()

interface Waited {
  readonly what: string
  argv(record: Generated): string[]
}

const ona = (what: string, argv: (record: Generated) => string[]): Waited => ({
  what,
  argv: (record) => [bin, ...argv(record)],
})
const rule = ['--rule', 'deny:Bash(rm *)']
const waited: readonly Waited[] = [
  ona('inspect --conversation ID --json', ({ conversationId }) => [
    'inspect',
    '--conversation',
    conversationId,
    '--json',
  ]),
  ona('hooks replay --conversation ID', ({ conversationId: id }) => ['hooks', 'replay', '--conversation', id, ...rule]),
  ona('hooks log', () => ['hooks', 'log']),
  ona('hooks log --event, no match', () => ['hooks', 'log', '--event', 'SessionEnd']),
  ona('hooks log --tool, no match', () => ['hooks', 'log', '--tool', 'Nope']),
  ona('hooks log --session, no such', () => ['hooks', 'log', '--session', 'none']),
  ona('hooks replay --since 1h', () => ['hooks', 'replay', '--since', '1h', ...rule]),
  ona('hooks replay --project, none', () => ['hooks', 'replay', '--project', '/none', ...rule]),
  ona('hooks replay --agent, none', () => ['hooks', 'replay', '--agent', 'codex', ...rule]),
  ona('policy suggest --project, none', () => ['policy', 'suggest', '--project', '/none']),
  ona('inspect --conversation ID --html', ({ conversationId: id }) => [
    ...['inspect', '--conversation', id, '--html', join(scratch, 'page.html')],
  ]),
  ona('audit export --since 1h', () => ['audit', 'export', '--since', '1h']),
  ona('audit checkpoint', () => ['audit', 'checkpoint']),
  ona('doctor', () => ['doctor']),
  ona('-p, a turn', () => ['-p', 'hello', '--model', 'rehearsal']),
  ona('-p --continue', () => ['-p', 'hello', '--continue', '--model', 'rehearsal']),
  ona('-p --continue --fork-session', () => ['-p', 'hello', '--continue', '--fork-session', '--model', 'rehearsal']),
  ona('hooks list', () => ['hooks', 'list']),
  ona('plan list', ({ conversationId }) => ['plan', 'list', '--conversation', conversationId]),
  ona('approvals list', () => ['approvals', 'list']),
  ona('approvals list --all', () => ['approvals', 'list', '--all']),
  ona('audit hold, the list', () => ['audit', 'hold']),
  ona('audit retain --dry-run, nothing old', () => ['audit', 'retain', '--days', '3650', '--dry-run']),
  ona('audit archive --dry-run, nothing old', () => ['audit', 'archive', '--older-than', '3650d', '--dry-run']),
  ona('audit import, nothing new', () => ['audit', 'import', '--all']),
  ona('audit import --dry-run', () => ['audit', 'import', '--all', '--dry-run']),
  ona('--eval of Glob', () => ['--eval', '{"tool":"Glob","input":{"pattern":"*.json"}}']),
]
const upToDate = { rows: 0, read: 0 }
const guard = '.ona/hooks/guard.sh'
/** In process: what a browser waits for. */
const pages = [
  { what: 'inspect, the list', show: (db: Db) => overviewPage(db, 1, upToDate) },
  { what: 'inspect, the overview', show: (db: Db) => dashboard(db, upToDate, {}, 1) },
  {
    what: 'inspect, the overview of a folder without work',
    show: (db: Db) => dashboard(db, upToDate, { project: '/none' }, 1),
  },
  { what: 'inspect, the overview of an agent', show: (db: Db) => dashboard(db, upToDate, { agent: 'ona' }, 1) },
  { what: 'inspect, the overview of refusals', show: (db: Db) => dashboard(db, upToDate, { refused: true }, 1) },
  { what: 'inspect, the overview of a hook', show: (db: Db) => dashboard(db, upToDate, { hook: guard }, 1) },
  {
    what: 'inspect, a conversation',
    show: (db: Db, { conversationId }: Generated) => conversationPage(db, conversationId, 1, upToDate),
  },
  { what: 'inspect, a search', show: (db: Db) => search(db, 'settings agree', {}) },
  {
    what: 'inspect, a search in a folder without work',
    show: (db: Db) => search(db, 'settings agree', { project: '/none' }),
  },
  { what: 'inspect, a search in an agent', show: (db: Db) => search(db, 'settings agree', { agent: 'ona' }) },
  { what: '--resume, the list', show: (db: Db) => listSessions(db) },
]
const streamed = ona('inspect --json, every conversation', () => ['inspect', '--json'])

const records = sizes.map((size) => ({ size: Number(size), ...recordOf(Number(size)) }))
const pageCells = pages.map(() => records.map(() => Infinity))
const cells = waited.map(() => records.map(() => Infinity))
for (let round = 0; round < rounds; round++)
  for (const [row, { argv }] of waited.entries())
    for (const [column, record] of records.entries())
      cells[row]![column] = Math.min(cells[row]![column]!, cpuOf(argv(record), record.path))
for (const [at, work] of pages.entries())
  for (let round = 0; round < rounds; round++)
    for (const [column, record] of records.entries()) {
      const db = openDb(record.path)
      while (isBehind(db));
      const start = process.cpuUsage()
      if (work.show(db, record) === undefined) throw new Error(`${work.what}: there is no such page`)
      const { user, system } = process.cpuUsage(start)
      db.close()
      pageCells[at]![column] = Math.min(pageCells[at]![column]!, (user + system) / 1000)
    }
const perConversation = records.map(
  (record) => (cpuOf(streamed.argv(record), record.path) / record.conversations) * 1000,
)
rmSync(scratch, { recursive: true, force: true })

const rows: [string, readonly number[]][] = [
  ...pages.map(({ what }, at): [string, number[]] => [what, pageCells[at]!]),
  ...waited.map(({ what }, at): [string, number[]] => [what, cells[at]!]),
  ['inspect --json, 1000 conversations', perConversation],
]
const list = (values: readonly string[]) => values.join(' · ')
report(
  `Records of ${list(records.map(({ size }) => size.toLocaleString('en')))} rows (${list(records.map(({ bytes }) => `${Math.round(bytes / 1e6)} MB`))}). CPU time of the whole process, or of the page in process; the best of ${rounds} rounds in turns. The ratio is that of the largest record to the smallest.`,
  rows.map(([what, values]) => ({
    ...{ what, value: values.at(-1)! / values[0]!, atMost: 2 },
    detail: `${list(values.map((ms) => ms.toFixed(ms < 20 ? 1 : 0)))} ms`,
  })),
)

/** A history of another agent, which is imported in the first round. */
function writeHistory(): void {
  const folder = join(scratch, '.claude/projects/-work')
  mkdirSync(folder, { recursive: true })
  const about = { sessionId: 's', cwd: '/work', version: '1', timestamp: '2026-11-01T10:00:00.000Z' }
  const lines = Array.from({ length: 200 }, (_, n) => [
    { ...about, type: 'user', uuid: `u${n}`, message: { role: 'user', content: `prompt ${n}` } },
    { ...about, type: 'assistant', uuid: `a${n}`, message: { id: `m${n}`, content: [{ type: 'text', text: 'ok' }] } },
  ])
  writeFileSync(
    join(folder, 's.jsonl'),
    lines
      .flat()
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  )
}

/** The index is built once, by whoever looks first. */
function isBehind(db: Db): boolean {
  const { read, rows } = fill(db, 'main', 1000)
  return read < rows
}

/**
 * What is made once has its facts beside it. It ends before this machine was started: to the commands that are for an operator, a
 * process that began while an agent's command ran, by the record, is that agent's. And it ends an hour before that, so that
 * `--since 1h` finds as much in every record.
 */
function recordOf(rows: number): Generated & { readonly path: string } {
  const path = join(folder, `${rows}.db`)
  if (!existsSync(`${path}.json`)) {
    const until = new Date(Date.now() - (uptime() + 3600) * 1000)
    writeFileSync(`${path}.json`, JSON.stringify(generateRecord(path, { rows, until })))
  }
  return { ...(JSON.parse(readFileSync(`${path}.json`, 'utf8')) as Generated), path }
}

/** User and system time of a process and its children, in milliseconds, as bash counts them. */
function cpuOf(argv: readonly string[], path: string): number {
  const env = { ...process.env, AGENT_SDLC_DB: path, HOME: scratch }
  const timed = 'TIMEFORMAT="%U %S"; time "$@" > /dev/null 2>&3'
  const run = spawnSync('bash', ['-c', `exec 3> "$0"; ${timed}`, join(scratch, 'stderr'), process.execPath, ...argv], {
    ...{ env, cwd: project, encoding: 'utf8' },
  })
  const [user, system] = run.stderr.trim().split(' ').map(Number)
  if (run.status !== 0 || system === undefined)
    throw new Error(`${argv.join(' ')} ended with ${run.status}: ${readFileSync(join(scratch, 'stderr'), 'utf8')}`)
  return (user! + system) * 1000
}
