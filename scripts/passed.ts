/**
 * `node scripts/passed.ts RESULTS FILE… [--test-name-pattern=REGEX] [--testing PID]`: whether these tests passed in the run that
 * writes RESULTS. With the process id of that run it waits until the run is done with these files.
 */
import { readFileSync, statSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Result } from './results-reporter.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'test-name-pattern': { type: 'string', default: '' }, testing: { type: 'string' } },
})
const [results, ...files] = positionals
const pattern = new RegExp(values['test-name-pattern'])
const read = () =>
  readFileSync(results!, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line): Result => JSON.parse(line))
const isDone = (lines: readonly Result[]) =>
  lines.some((line) => 'ended' in line) ||
  files.every((file) => lines.some((line) => 'ms' in line && line.file === file))

let size = statSync(results!).size
let lines = read()
while (values.testing !== undefined && !isDone(lines) && isRunning(Number(values.testing))) {
  await wait(200)
  if (statSync(results!).size === size) continue
  size = statSync(results!).size
  lines = read()
}
lines = read()
for (const file of files) {
  const problem = problemWith(lines.filter((line) => 'file' in line && line.file === file))
  if (problem === undefined) continue
  console.log(`${file}: ${problem}`)
  process.exit(1)
}

function problemWith(ran: readonly Result[]): string | undefined {
  const tests = ran.filter((line) => 'name' in line).filter(({ name }) => pattern.test(name))
  const failed = tests.filter(({ passed }) => !passed).map(({ name }) => name)
  if (failed.length > 0) return `failed: ${failed.join(', ')}`
  if (ran.some((line) => 'crashed' in line)) return 'its process failed'
  return tests.length > 0 ? undefined : 'no test of it ran that matches'
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
