/**
 * What the sandbox costs: one `true` by the Bash tool, sandboxed and not, in turn; the ratio of each pair, and the median.
 * CPU time is that of a control group of our own, and so whole: a process that bubblewrap does not wait for counts, too.
 *
 *   node bench/sandbox.ts            30 pairs
 *   node bench/sandbox.ts 200
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Cell, Fence } from '../src/sandbox/fence.ts'
import type { SandboxSettings } from '../src/sandbox/settings.ts'
import { runPlaced } from '../src/tools/bash/in-sandbox.ts'
import { median } from './lib/processes.ts'
import { type Line, report } from './lib/report.ts'

const rounds = Number(process.argv[2] ?? 30)
const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-bench-')))
const [project, home] = [join(root, 'project'), join(root, 'home')]
for (const folder of [project, home]) mkdirSync(folder)
const env = { PATH: process.env['PATH'], HOME: home }
const signal = new AbortController().signal
const place = { cwd: project, env, home }

const open = (settings: SandboxSettings) =>
  new Fence({ settings, projectDir: project, home, env, programs: [dirname(dirname(process.execPath))] })
const fences = { 'no network': open({}), 'domain proxy': open({ network: { allowedDomains: ['example.com'] } }) }

/** CPU milliseconds of this process and all that it started; undefined where no control group can be made. */
function cpuMeter(): (() => number) | undefined {
  const groups = [
    { folder: '/sys/fs/cgroup/cpuacct', read: (text: string) => Number(text) / 1e6, file: 'cpuacct.usage' },
    { folder: '/sys/fs/cgroup', read: (text: string) => Number(/\d+/.exec(text)?.[0]) / 1e3, file: 'cpu.stat' },
  ]
  for (const { folder, read, file } of groups) {
    const own = join(folder, `ona-bench-${process.pid}`)
    try {
      readFileSync(join(folder, 'cgroup.procs'))
      mkdirSync(own)
      writeFileSync(join(own, 'cgroup.procs'), String(process.pid))
      return () => read(readFileSync(join(own, file), 'utf8'))
    } catch {
      // not this version of control groups, or not ours to make
    }
  }
  return undefined
}
const cpu = cpuMeter()

interface Cost {
  readonly ms: number
  readonly cpuMs: number
}
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function measured(work: () => Promise<unknown>): Promise<Cost> {
  const before = cpu?.() ?? 0
  const startedAt = performance.now()
  await work()
  const ms = performance.now() - startedAt
  await pause(15) // the kernel still takes the namespaces down
  return { ms, cpuMs: (cpu?.() ?? 0) - before }
}

const plain = () => runPlaced('true', place, { signal })
const sandboxed = async (fence: Fence, cold: boolean) => {
  const cell = await fence.cell({ permissions: {}, projectDir: project, cwd: project, env })
  const alone: Cell = { ...cell, spare: () => undefined, prepareSpare() {} }
  return runPlaced('true', { ...place, place: { in: 'sandbox', cell: cold ? alone : cell } }, { signal })
}
const lines: Line[] = []
function add(what: string, pairs: readonly { plain: Cost; inside: Cost }[], of: keyof Cost, atMost?: number): void {
  const each = (which: 'plain' | 'inside') => median(pairs.map((pair) => pair[which][of])).toFixed(1)
  lines.push({
    what: `${what}, ${of === 'ms' ? 'time' : 'CPU'}`,
    value: median(pairs.map(({ plain, inside }) => inside[of] / plain[of])),
    ...(atMost !== undefined && { atMost }),
    detail: `${each('inside')} and ${each('plain')} ms`,
  })
}

/** What a model's answer takes at the least: the next sandbox is made meanwhile. */
async function rest(fence: Fence): Promise<void> {
  const until = performance.now() + 5000
  while (!fence.isWarm && performance.now() < until) await pause(5)
  await pause(150)
}

for (const cold of [true, false])
  for (const [name, fence] of Object.entries(fences)) {
    for (let warm = 0; warm < 3; warm++) await plain().then(() => sandboxed(fence, cold))
    const pairs: { plain: Cost; inside: Cost }[] = []
    for (let round = 0; round < rounds; round++) {
      const without = await measured(plain)
      if (!cold) await rest(fence)
      pairs.push({ plain: without, inside: await measured(() => sandboxed(fence, cold)) })
    }
    // CPU time of sandboxes made ahead is spent before and after, and says nothing here
    add(`${name}, made ${cold ? 'on the spot' : 'ahead'}`, pairs, 'ms', cold ? undefined : 2)
    if (cold && cpu) add(`${name}, made on the spot`, pairs, 'cpuMs')
  }

/** Commands without a pause in between: the worst that a session does, because nothing is made while a model answers. */
const inARow = 20
const runs: { plain: Cost; inside: Cost }[] = []
const times = async (work: () => Promise<unknown>) => {
  for (let each = 0; each < inARow; each++) await work()
}
for (let round = 0; round < Math.ceil(rounds / 5); round++) {
  const without = await measured(() => times(plain))
  await rest(fences['no network'])
  runs.push({ plain: without, inside: await measured(() => times(() => sandboxed(fences['no network'], false))) })
}
add(`no network, ${inARow} in a row`, runs, 'ms')
if (cpu) add(`no network, ${inARow} in a row`, runs, 'cpuMs')
for (const fence of Object.values(fences)) fence.close()
rmSync(root, { recursive: true, force: true })
report(
  'One `true` by the Bash tool in a sandbox × without one, in pairs; medians. Made ahead: during a pause of 150 ms, as in a session while the model answers.',
  lines,
)
