/**
 * Whether tests passed in the run that writes RESULTS, as words `FILE… [--test-name-pattern=REGEX]`:
 *   node scripts/passed.ts RESULTS [--testing PID] FILE… [--test-name-pattern=REGEX]   says it and exits 1 where not
 *   node scripts/passed.ts RESULTS [--testing PID] --serve     reads lines of such words, separated by tabs; answers each with a
 *                                                              line that names the problem, empty where there is none
 * With the process id of that run it waits until the run is done with these files.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Result } from './results-reporter.ts'

const options = {
  'test-name-pattern': { type: 'string', default: '' },
  testing: { type: 'string' },
  serve: { type: 'boolean', default: false },
} as const
const words = process.argv.slice(2)
const { values, positionals } = parseArgs({ args: words, allowPositionals: true, options })
const results = positionals[0]!

let size = 0
const lines: Result[] = []
refresh()
if (values.serve) {
  for await (const line of createInterface({ input: process.stdin }))
    process.stdout.write(`${(await problemOf(line.split('\t'))) ?? ''}\n`)
} else {
  const problem = await problemOf(words.filter((word) => word !== results))
  if (problem !== undefined) {
    console.log(problem)
    process.exitCode = 1
  }
}

async function problemOf(asked: readonly string[]): Promise<string | undefined> {
  const { values: own, positionals: files } = parseArgs({ args: [...asked], allowPositionals: true, options })
  const pattern = new RegExp(own['test-name-pattern'])
  while (values.testing !== undefined && !isDone(files) && isRunning(Number(values.testing))) {
    await wait(200)
    refresh()
  }
  refresh()
  for (const file of files) {
    const ran = lines.filter((line) => 'file' in line && line.file === file)
    const problem = problemWith(ran, pattern)
    if (problem !== undefined) return `${file}: ${problem}`
  }
  return undefined
}

/** Reads what has been added to the results, up to the last whole line. */
function refresh(): void {
  const file = openSync(results, 'r')
  const added = Buffer.alloc(Math.max(0, fstatSync(file).size - size))
  const text = added.subarray(0, readSync(file, added, 0, added.length, size))
  closeSync(file)
  const end = text.lastIndexOf('\n') + 1
  size += end
  for (const line of text.subarray(0, end).toString().split('\n').slice(0, -1)) lines.push(JSON.parse(line))
}

function isDone(files: readonly string[]): boolean {
  return (
    lines.some((line) => 'ended' in line) ||
    files.every((file) => lines.some((line) => 'ms' in line && line.file === file))
  )
}

function problemWith(ran: readonly Result[], pattern: RegExp): string | undefined {
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
