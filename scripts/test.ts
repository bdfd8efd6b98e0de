/**
 * Runs every test file, or those named:
 *   node scripts/test.ts src/hooks test/roles/brains.test.ts --test-name-pattern='^a guard'
 *   node scripts/test.ts --results FILE     writes a line of JSON per test and per file; with it the longest files start first
 *   node scripts/test.ts --acceptance FILE  --results, and the rows of scripts/sdlc-acceptance.sh beside the tests
 *   node scripts/test.ts --jobs 4           test files at a time; by default three per core, since most of them wait
 * Long campaigns are sampled; ONA_TEST_FULL=1 runs them whole.
 */
import { spawn } from 'node:child_process'
import { createWriteStream, existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { parseArgs } from 'node:util'
import report from './reporter.ts'
import reportResults, { type Result } from './results-reporter.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    results: { type: 'string' },
    acceptance: { type: 'string' },
    jobs: { type: 'string', default: String(3 * availableParallelism()) },
    'test-name-pattern': { type: 'string', multiple: true },
  },
})
const under = (path: string) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`).sort() : [path])
const files = (positionals.length > 0 ? positionals : ['test', 'src', 'examples']).filter(existsSync).flatMap(under)
if (files.length === 0) {
  console.error(`no test file (*.test.ts) in ${positionals.join(', ')}`)
  process.exit(2)
}

const results = values.acceptance ?? values.results
const last = new Map(results === undefined || !existsSync(results) ? [] : durationsIn(results))
if (results !== undefined) {
  mkdirSync(dirname(results), { recursive: true })
  writeFileSync(results, '')
}
const patterns = values['test-name-pattern']
const tests = run({
  files: files.toSorted((a, b) => (last.get(b) ?? 0) - (last.get(a) ?? 0)),
  concurrency: Number(values.jobs),
  execArgv: [`--import=${join(import.meta.dirname, 'compile-cache.mjs')}`],
  ...(patterns && { testNamePatterns: patterns.map((pattern) => new RegExp(pattern)) }),
})
let passed = true
tests.on('test:summary', ({ success }) => {
  passed &&= success
})
const rows = values.acceptance === undefined ? undefined : acceptance(values.acceptance)
await Promise.all([
  pipeline(tests.compose(report), process.stdout, { end: false }),
  results === undefined ? undefined : pipeline(tests.compose(reportResults), createWriteStream(results)),
])
if (rows) {
  const { code, output } = await rows
  process.stdout.write(output)
  passed &&= code === 0
}
process.exitCode = passed ? 0 : 1

/** What each file took in the run that wrote these results. */
function durationsIn(path: string): [string, number][] {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  return lines.map((line): Result => JSON.parse(line)).flatMap((line) => ('ms' in line ? [[line.file, line.ms]] : []))
}

/** The rows need half of the machine; what they print comes after the report of the tests. */
function acceptance(tested: string): Promise<{ code: number | null; output: string }> {
  const script = join(import.meta.dirname, 'sdlc-acceptance.sh')
  const half = String(Math.max(1, availableParallelism()))
  const child = spawn(script, ['--jobs', half, '--tested', tested, '--testing', String(process.pid)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => {
      output += piece
    })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}
