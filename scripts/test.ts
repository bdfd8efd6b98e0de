/**
 * Runs every test file, or those named:
 *   node scripts/test.ts src/hooks test/roles/brains.test.ts --test-name-pattern='^a guard'
 *   node scripts/test.ts --results FILE     writes a line of JSON per test and per file; with it the longest files start first
 *   node scripts/test.ts --acceptance FILE  --results, and the rows of scripts/sdlc-acceptance.sh beside the tests
 *   node scripts/test.ts --check            npm run check beside the tests
 *   node scripts/test.ts --times            prints the CPU seconds of each file and row, the costliest first
 *   node scripts/test.ts --jobs 4           test files at a time; by default three per core, since most of them wait for a process or a timer
 *   node scripts/test.ts --seed 7           another day's sample of the tests that cost most, and a sample of files that are named
 *   node scripts/test.ts --costs            all of them, each file in a process of its own: notes in scripts/test-costs.json
 *                                           which files and tests cost most
 * Files of units share a process (scripts/test-batch.ts); with --test-name-pattern each has its own.
 * Without file names, tests that cost much (scripts/test-sample.ts) are sampled. Campaigns are short, and runs of the program share
 * a process (test/support/run-program.ts). ONA_TEST_FULL=1 runs everything whole, each run in a process of its own.
 * Failures are printed as they happen and listed at the end. A run in which no test starts or ends for ten minutes is ended;
 * ONA_TEST_STALL_MS sets another limit.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  createWriteStream,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { cpuMs } from './cpu-time.ts'
import { endDescendants } from './descendants.ts'
import { leftOut } from './in-sample.ts'
import { report } from './reporter.ts'
import { type FileResult, type Result, results } from './results-reporter.ts'
import { inMemory, removedList } from './temp-folder.ts'
import { deal, isShared, writeBatch } from './test-batch.ts'
import { startCheck } from './test-check.ts'
import { startRows } from './test-rows.ts'
import { type Costs, changedFiles, costs, costsFile, dearMs, sampleOf, today, waitMs } from './test-sample.ts'
import { readRowTimes, timesTable } from './test-times.ts'

const stallMs = Number(process.env['ONA_TEST_STALL_MS'] ?? 10 * 60_000)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    results: { type: 'string' },
    acceptance: { type: 'string' },
    check: { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
    jobs: { type: 'string', default: String(3 * availableParallelism()) },
    seed: { type: 'string' },
    costs: { type: 'boolean', default: false },
    'test-name-pattern': { type: 'string', multiple: true },
  },
})
const under = (path: string) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`).sort() : [path])
const files = (positionals.length > 0 ? positionals : ['test', 'src', 'examples']).filter(existsSync).flatMap(under)
if (files.length === 0) {
  console.error(`no test file (*.test.ts) in ${positionals.join(', ')}`)
  process.exit(2)
}

const missing = positionals.length === 0 ? notInstalled() : ''
if (missing) console.log(`${missing}\n`)
const resultsFile = values.acceptance ?? values.results
const last = new Map(resultsFile === undefined || !existsSync(resultsFile) ? [] : filesIn(resultsFile))
if (resultsFile !== undefined) {
  mkdirSync(dirname(resultsFile), { recursive: true })
  writeFileSync(resultsFile, '')
}
const scratch = mkdtempSync(join(inMemory() ?? tmpdir(), 'ona-test-run-'))
chmodSync(scratch, 0o711) // a database in it runs as another user
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    endDescendants()
    stop.abort()
  })

const patterns = values['test-name-pattern']
const isSampled =
  process.env['ONA_TEST_FULL'] !== '1' &&
  !patterns &&
  !values.costs &&
  (positionals.length === 0 || values.seed !== undefined)
const seed = Number(values.seed ?? today())
const left = isSampled ? sampleOf(files, seed, changedFiles()) : {}
const leftFile = join(scratch, 'left.json')
writeFileSync(leftFile, JSON.stringify(left))
const inSample = new URL('./in-sample.ts', import.meta.url)
if (values.costs) inSample.searchParams.set('costs', scratch)
else inSample.searchParams.set('left', leftFile)
const batches = new Map<string, readonly string[]>()
// a pattern is matched against the suite that a batch makes of a file, too
for (const batch of patterns || values.costs ? [] : deal({ files: files.filter((file) => !(file in left)), cost })) {
  batches.set(writeBatch(batch, scratch), batch)
}
const check = values.check ? startCheck() : true
if (resultsFile !== undefined && last.size === 0) fillCompileCache()
const tests = run({
  files: longestFirst(),
  concurrency: Number(values.jobs),
  signal: stop.signal,
  execArgv: [
    `--import=${join(import.meta.dirname, 'compile-cache.mjs')}`,
    `--import=${new URL(`./cpu-time.ts?to=${scratch}`, import.meta.url)}`,
    `--import=${new URL(`./temp-folder.ts?in=${scratch}`, import.meta.url)}`,
    ...(isSampled || values.costs ? [`--import=${inSample}`] : []),
  ],
  ...(patterns && { testNamePatterns: patterns.map((pattern) => new RegExp(pattern)) }),
})
let passed = true
tests.on('test:summary', ({ success }) => {
  passed &&= success
})
let leftTests = 0
tests.on('test:pass', ({ skip }) => {
  if (skip === leftOut) leftTests++
})
const rowTimes = join(scratch, 'rows')
const rows = values.acceptance && startRows({ tested: values.acceptance, times: rowTimes })
const failures: string[] = []
const ran: FileResult[] = []
// what a failed test left running can keep its file from ending
const stall = setTimeout(() => {
  const ended = new Set(ran.map(({ file }) => file))
  const open = files.filter((file) => !ended.has(file))
  failures.push(`no test started or ended for ${stallMs / 60_000} minutes; not ended: ${open.join(', ')}`)
  endDescendants(process.pid, 'SIGKILL')
  stop.abort()
}, stallMs)
for (const event of ['test:start', 'test:pass', 'test:fail'] as const) tests.on(event, () => stall.refresh())
await Promise.all([
  pipeline(
    tests.compose((events: AsyncIterable<TestEvent>) => report(events, batches, (line) => failures.push(line))),
    process.stdout,
    { end: false },
  ),
  (async () => {
    const written = resultsFile === undefined ? undefined : createWriteStream(resultsFile)
    const ended: AsyncIterable<Result> = tests.compose((events: AsyncIterable<TestEvent>) =>
      results(events, batches, cpuMsOf),
    )
    for await (const result of ended) {
      if ('ms' in result) ran.push(result)
      written?.write(`${JSON.stringify(result)}\n`)
    }
    written?.end()
  })(),
])
clearTimeout(stall)
if (rows) {
  const { code, output, failed } = await rows
  process.stdout.write(output)
  failures.push(...failed)
  passed &&= code === 0
}
if (!(await check)) failures.push('npm run check')
if (values.times) process.stdout.write(timesTable(ran, readRowTimes(rowTimes), cpuMs()))
if (values.costs) writeFileSync(costsFile, `${JSON.stringify(measured(), null, 2)}\n`)
for (const folder of [...removed(), scratch]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
if (isSampled)
  console.log(
    `\nsampled: ${leftTests} tests that cost much were left to other days, and campaigns were short; ` +
      `--seed ${seed} repeats this sample. To run everything: ONA_TEST_FULL=1 npm test`,
  )
if (missing) console.log(`\n${missing}`)
if (failures.length > 0) console.log(`\nfailed:\n${failures.map((line) => `  ${line}\n`).join('')}`)
process.exitCode = stop.signal.aborted ? 130 : passed && failures.length === 0 ? 0 : 1

/** What to install, or nothing. */
function notInstalled(): string {
  const { stdout } = spawnSync(process.execPath, [join(import.meta.dirname, 'test-programs.mjs')], { encoding: 'utf8' })
  const packages = stdout.trim().split('\n').filter(Boolean)
  return packages.length === 0
    ? ''
    : `Not installed: ${packages.join(', ')}. Tests that need one of them are skipped or fail (Debian: apt install ${packages.join(' ')}).`
}

/** Before the first run: else each process strips the types of its test file, for which it has to load a compiler. */
function fillCompileCache(): void {
  const words = [join(import.meta.dirname, 'fill-compile-cache.mjs')]
  spawnSync(process.execPath, words, { input: files.join('\n'), stdio: ['pipe', 'ignore', 'inherit'] })
}

/** Batches and the files that are in none. */
function longestFirst(): string[] {
  const batched = new Set([...batches.values()].flat())
  const took = (path: string) =>
    (batches.get(path) ?? [path]).reduce(
      (sum, file) => sum + (last.get(file)?.ms ?? costs.waits[file] ?? cost(file)),
      0,
    )
  return [...batches.keys(), ...files.filter((file) => !batched.has(file))].sort((a, b) => took(b) - took(a))
}

/** CPU time. */
function cost(file: string): number {
  return last.get(file)?.cpuMs ?? costs.files[file] ?? 0
}

/** Of this run. */
function measured(): Costs {
  const long = ran.filter(({ cpuMs = 0 }) => cpuMs > 1000).map(({ file, cpuMs }): [string, number] => [file, cpuMs!])
  const waiting = ran
    .filter(({ cpuMs = 0, ms }) => cpuMs <= 1000 && ms > waitMs)
    .map(({ file, ms }): [string, number] => [file, Math.round(ms)])
  const lines = readFileSync(join(scratch, 'costs.jsonl'), 'utf8').trim().split('\n')
  const dear = lines
    .map((line): { file: string; name: string; ms: number } => JSON.parse(line))
    // a file of which tests are left out has a process of its own, which costs more than a test in a shared one
    .filter(({ file, ms }) => ms > dearMs && !isShared(file))
  const byFile = Object.entries(Object.groupBy(dear, ({ file }) => file)).map(
    ([file, tests]): [string, Record<string, number>] => [
      file,
      Object.fromEntries(tests!.map(({ name, ms }) => [name, ms])),
    ],
  )
  const sorted = <Value>(entries: [string, Value][]) =>
    Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) as Record<string, Value>
  return { files: sorted(long), waits: sorted(waiting), tests: sorted(byFile) }
}

/** Folders of tests that have ended. */
function removed(): string[] {
  const list = join(scratch, removedList)
  return existsSync(list) ? readFileSync(list, 'utf8').split('\n').filter(Boolean) : []
}

/** What each file took in the run that wrote these results. */
function filesIn(path: string): [string, FileResult][] {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  return lines.map((line): Result => JSON.parse(line)).flatMap((line) => ('ms' in line ? [[line.file, line]] : []))
}

/** What cpu-time.ts wrote at the end of this file's process. */
function cpuMsOf(file: string): number | undefined {
  const at = join(scratch, encodeURIComponent(file))
  return existsSync(at) ? Number(readFileSync(at, 'utf8')) : undefined
}
