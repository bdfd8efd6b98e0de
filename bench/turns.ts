/**
 * What ona adds to a turn, over a bare loop that does the least any agent must, side by side in one run; and whether it
 * grows. Needs a build: `npm run build && node bench/turns.ts [rounds]`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './lib/processes.ts'
import { type Line, report } from './lib/report.ts'

const root = join(import.meta.dirname, '..')
if (!existsSync(join(root, 'dist/main.cjs'))) throw new Error('there is no build; run npm run build first')
const rounds = Number(process.argv[2] ?? 5)
const place = mkdtempSync(join(tmpdir(), 'ona-turns-'))
const programs = {
  floor: [join(root, 'bench/lib/floor-agent.mjs')],
  ona: [join(root, 'bin/ona.mjs'), '-p', 'go', '--permission-mode', 'bypassPermissions'],
}

interface Run {
  readonly ms: number
  /** Megabytes at the most. */
  readonly peak: number
  readonly gaps: readonly number[]
}

async function run(name: keyof typeof programs, base: string): Promise<Run> {
  const begin = performance.now()
  const child = spawn(process.execPath, programs[name], {
    cwd: place,
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      HOME: place,
      ANTHROPIC_API_KEY: 'bench',
      ANTHROPIC_BASE_URL: base,
      FLOOR_DB: join(place, 'floor.db'),
      ONA_KEYCHAIN: 'off',
    },
  })
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid!))
  }, 5)
  const [code] = await once(child, 'close')
  clearInterval(watch)
  const ms = performance.now() - begin
  if (code !== 0) throw new Error(`${name} ended with ${code}`)
  return { ms, peak, gaps: (await (await fetch(`${base}/gaps`)).json()) as number[] }
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0 // it has ended, or this is no Linux: then memory is not told
  }
}

/** Both programs in turns against a model that calls the shell so often, at once or in 50 ms; a first round warms up and does not count. */
async function compare(turns: number, answerMs = 0): Promise<Record<keyof typeof programs, Run[]>> {
  const server = spawn(process.execPath, [join(root, 'bench/lib/turns-server.ts'), String(turns), String(answerMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const base = `http://127.0.0.1:${String((await once(server.stdout, 'data'))[0]).trim()}`
  const runs: Record<keyof typeof programs, Run[]> = { floor: [], ona: [] }
  for (let round = -1; round < rounds; round++) {
    for (const name of ['floor', 'ona'] as const) {
      const one = await run(name, base)
      if (round >= 0) runs[name].push(one)
    }
  }
  server.kill()
  return runs
}

const middle = (runs: readonly Run[], of: (run: Run) => number) => median(runs.map(of))
const gap = (from: number, to: number) => (run: Run) => median(run.gaps.slice(from, to))

const one = await compare(0)
const twenty = await compare(20)
const hundred = await compare(100)
const slow = await compare(20, 50)
rmSync(place, { recursive: true, force: true })

const all = gap(0, 100)
const lines: Line[] = [
  {
    what: 'one turn, wall, × floor',
    value: middle(one.ona, (r) => r.ms) / middle(one.floor, (r) => r.ms),
    atMost: 1.2,
  },
  {
    what: 'gap between turns, shell, × floor',
    value: middle(hundred.ona, all) / middle(hundred.floor, all),
    atMost: 1.25,
  },
  {
    what: 'the same, 20 turns, a model that takes 50 ms',
    value: middle(slow.ona, gap(1, 20)) / middle(slow.floor, gap(1, 20)),
    atMost: 1.25,
  },
  {
    what: 'gap in turns 91–100 × turns 1–10',
    value: middle(hundred.ona, gap(90, 100)) / middle(hundred.ona, gap(0, 10)),
    atMost: 1.2,
  },
]
const peak = (runs: readonly Run[]) => middle(runs, (r) => r.peak)
if (peak(one.ona) > 0) {
  lines.push(
    { what: 'peak memory of 100 turns × 20 turns', value: peak(hundred.ona) / peak(twenty.ona), atMost: 1.25 },
    { what: 'peak memory of one turn × floor', value: peak(one.ona) / peak(one.floor) },
  )
}
report(
  'Whole sessions against a bare loop that also stores its messages in SQLite, in turns; medians. Gap: from the end of an answer to the next request.',
  lines,
)
