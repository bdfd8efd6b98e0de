/**
 * What the sandbox costs: one `true` by the Bash tool, sandboxed and not, in turn; the ratio of each pair, and the median.
 *
 *   node bench/sandbox.ts            30 pairs
 *   node bench/sandbox.ts 200
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Fence } from '../src/sandbox/fence.ts'
import type { SandboxSettings } from '../src/sandbox/settings.ts'
import { runPlaced } from '../src/tools/bash/in-sandbox.ts'

const rounds = Number(process.argv[2] ?? 30)
const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-bench-')))
const env = { PATH: process.env['PATH'], HOME: join(root, 'home') }
const signal = new AbortController().signal
const place = { cwd: root, env, home: env.HOME }

const open = (settings: SandboxSettings) =>
  new Fence({ settings, projectDir: root, home: env.HOME, env, programs: [dirname(dirname(process.execPath))] })
const fences = { 'no network': open({}), 'domain proxy': open({ network: { allowedDomains: ['example.com'] } }) }

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
const plain = () => runPlaced('true', place, { signal })
const sandboxed = async (fence: Fence) => {
  const cell = await fence.cell({ permissions: {}, projectDir: root, cwd: root, env })
  return runPlaced('true', { ...place, place: { in: 'sandbox', cell } }, { signal })
}
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!

/** What a model's answer takes at the least: the next sandbox is made meanwhile. */
async function rest(fence: Fence): Promise<void> {
  const until = performance.now() + 5000
  while (!fence.isWarm && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
  await new Promise((resolve) => setTimeout(resolve, 150))
}

for (const cold of [true, false])
  for (const [name, fence] of Object.entries(fences)) {
    for (let warm = 0; warm < 3; warm++) await plain().then(() => sandboxed(fence))
    const pairs: { plain: number; inside: number }[] = []
    for (let round = 0; round < rounds; round++) {
      const without = await timed(plain)
      if (!cold) await rest(fence)
      pairs.push({ plain: without, inside: await timed(() => sandboxed(fence)) })
    }
    const ratio = median(pairs.map(({ plain, inside }) => inside / plain))
    const ms = (of: 'plain' | 'inside') => median(pairs.map((pair) => pair[of])).toFixed(1)
    process.stdout.write(
      `${name}${cold ? ', one command right after another' : ''}: ${ratio.toFixed(2)} × (${ms('inside')} ms, without a sandbox ${ms('plain')} ms)\n`,
    )
  }
for (const fence of Object.values(fences)) fence.close()
rmSync(root, { recursive: true, force: true })
