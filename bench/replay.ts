/**
 * What it costs to ask a policy of 50 rules about the Bash calls on record: read from the database, judged and compared.
 * `node bench/replay.ts [CALLS]`, for some hundred commands again and again, for commands of which 60 % are new, and for
 * commands that are all new.
 * CPU time of one core, so that a busy machine counts less; the memory is that of the process at a tenth and at the end.
 * Then `ona hooks replay --jobs 2` on the calls of which 60 % are new, by wall time from start to end: only on an idle machine, and
 * with 150,000 calls or more, is that a measure of anything. Needs a build.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Policy } from '../src/audit/replay/judge-call.ts'
import { recordedCalls } from '../src/audit/replay/recorded-calls.ts'
import { replay } from '../src/audit/replay/replay.ts'
import { readDb } from '../src/store/open.ts'
import { generateRecord } from './lib/generate-record.ts'
import type { Shape } from './lib/recorded-work.ts'
import { type Line, report } from './lib/report.ts'

const wanted = Number(process.argv[2] ?? 20_000)
const rowsPerCall = 7

const allow = [
  ...['git status *', 'git diff *', 'git log *', 'git show *', 'git add *', 'git commit *', 'npm test *', 'ls *'],
  ...['npm run build *', 'npm run check *', 'npm run lint *', 'npx tsc *', 'npx mocha *', 'node scripts/*', 'cat *'],
  ...['mkdir -p *', 'jq *', 'builtin:read-only'],
]
const ask = [
  ...['git push *', 'npm publish *', 'docker push *', 'kubectl apply *', 'terraform apply *', 'gh pr merge *', 'ssh *'],
  ...['curl * -X POST *'],
]
const deny = [
  ...['rm -rf /*', 'rm -rf ~*', 'sudo *', 'git push --force *', 'git push -f *', 'git reset --hard origin/*', 'dd *'],
  ...['mkfs *', 'shutdown *', 'kubectl delete *', 'terraform destroy *', 'aws s3 rb *', 'chmod 777 *'],
]
const bash = (commands: readonly string[]) => commands.map((command) => `Bash(${command})`)
const permissions = {
  allow: [...bash(allow), 'Read(builtin:working-directories)', 'Edit(/src/**)', 'Edit(/test/**)', 'Edit(/build/**)'],
  ask: [...bash(ask), 'Edit(/package.json)', 'Edit(.github/**)', 'WebFetch'],
  deny: [...bash(deny), 'Read(.env)', 'Read(**/secrets/**)', 'Edit(/secrets/**)', 'Edit(/dist/**)'],
}

const shapes: Partial<Record<Shape, string>> = {
  repeating: 'some hundred commands again and again',
  bash: '60 % of the commands new',
  distinct: 'every command new',
}

const folder = mkdtempSync(join(tmpdir(), 'ona-bench-replay-'))
try {
  const lines: Line[] = []
  let counted = 0
  for (const [shape, commands] of Object.entries(shapes) as [Shape, string][]) {
    const path = join(folder, `${shape}.db`)
    const { calls } = generateRecord(path, { rows: wanted * rowsPerCall, shape })
    counted = calls
    lines.push(await measure(commands, path, calls))
    if (shape === 'bash') lines.push(...[[], ['--json']].map((flags) => withThreads(path, calls, flags)))
    rmSync(path)
  }
  report(
    `${counted.toLocaleString('en')} recorded Bash calls under 50 rules: read, judged and compared. In process: CPU time of one core, the best of three. --jobs 2: ona hooks replay from start to end, wall time, the best of five; 60 % of the commands are new.`,
    lines,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Rulings a second of CPU, with reading; the best of some rounds. */
async function measure(commands: string, path: string, calls: number): Promise<Line> {
  const policy: Policy = {
    ...{ permissions, mode: 'default', handlers: [], home: '/home/dev', dbPath: path, env: {}, runCommands: false },
    tool: (_, input) => ({ input, safety: 'mutating', brought: false }),
  }
  let [reading, whole] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  let memory: readonly number[] = []
  for (let round = 0; round < 3; round++) {
    reading = Math.min(reading, await cost(path, async (all) => void Array.from(all, () => 0).length))
    const seen: number[] = []
    whole = Math.min(
      whole,
      await cost(path, async (all) => void (await replay(watched(all, calls, seen), policy, () => {}))),
    )
    memory = seen
  }
  const perSecond = (seconds: number) => Math.round(calls / seconds).toLocaleString('en')
  const [tenth, end] = memory.map((bytes) => Math.round(bytes / 2 ** 20))
  const detail = `reading alone ${perSecond(reading)}; ${tenth} MB at a tenth, ${end} MB at the end`
  return { what: `one core, ${commands}`, value: calls / whole, unit: 'rulings/s', atLeast: 50_000, detail }
}

/** The whole program with two threads, the best of some runs. */
function withThreads(path: string, calls: number, flags: readonly string[]): Line {
  const settings = join(folder, 'settings.json')
  writeFileSync(settings, JSON.stringify({ permissions }))
  const argv = [join(import.meta.dirname, '../bin/ona.mjs'), 'hooks', 'replay', '--settings', settings, '--jobs', '2']
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const begin = performance.now()
    const run = spawnSync(process.execPath, [...argv, ...flags], {
      env: { ...process.env, AGENT_SDLC_DB: path },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (run.status !== 0) throw new Error(`ona hooks replay ended with ${run.status ?? run.signal}`)
    best = Math.min(best, performance.now() - begin)
  }
  const what = `the whole program, ${['--jobs 2', ...flags].join(' ')}`
  const value = calls / (best / 1000)
  // a shorter record ends before the threads are up to speed
  return { what, value, unit: 'calls/s', ...(calls >= 140_000 && { atLeast: 90_000 }) }
}

type Calls = ReturnType<typeof recordedCalls>

async function cost(path: string, work: (calls: Calls) => Promise<void>): Promise<number> {
  const db = readDb(path)
  const start = process.cpuUsage()
  await work(recordedCalls(db))
  const { user, system } = process.cpuUsage(start)
  db.close()
  return (user + system) / 1e6
}

/** Notes the memory of the process at a tenth of the calls and at the end. */
function* watched(calls: Calls, total: number, seen: number[]): Calls {
  let count = 0
  for (const call of calls) {
    if (++count === Math.ceil(total / 10)) seen.push(process.memoryUsage.rss())
    yield call
  }
  seen.push(process.memoryUsage.rss())
}
