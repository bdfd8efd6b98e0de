/**
 * Changes the code in small ways and sees whether a test notices:
 *   npm run test:mutation -- src/permissions            a sample of 40 mutants
 *   npm run test:mutation -- src/hooks --sample 200 --seed 7 --at-least 95
 *   npm run test:mutation -- src/store/audit.ts --all --json
 * Each mutant runs in a copy of the checkout against the tests that import the file, the nearest first (at most --near 12),
 * and, if those pass, against the program's own tests of that folder, on a build of the mutant. Survivors are printed with
 * their line; the exit code is 1 when fewer than --at-least percent are caught.
 */
import { execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsOf, mutated } from './mutation/mutants.ts'
import { importersIn, testsOf } from './mutation/related-tests.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ sample: { type: 'string', default: '40' }, seed: { type: 'string', default: '1' }, all: { type: 'boolean' } },
    ...{ near: { type: 'string', default: '12' }, jobs: { type: 'string', default: '2' }, json: { type: 'boolean' } },
    ...{ 'at-least': { type: 'string', default: '0' }, units: { type: 'boolean' } },
  },
})
const root = process.cwd()
const minutes = 60_000

/** Tests that run the program itself: they need a build of the mutant. */
const programTests: Record<string, readonly string[]> = {
  'src/permissions': ['test/permissions.test.ts', 'test/redteam'],
  'src/hooks': ['test/hooks'],
  'src/store': ['test/store.test.ts', 'test/audit'],
  'src/workflow': ['test/workflow.test.ts'],
  'src/dispatcher': ['test/dispatcher'],
}

const sources = positionals.flatMap((path) =>
  statSync(path).isDirectory()
    ? globSync(`${path}/**/*.{ts,tsx}`).filter((file) => !/\.test\.ts$|\.d\.ts$|fixtures/.test(file))
    : [path],
)
if (sources.length === 0) {
  console.error('name a folder or file of src, such as: npm run test:mutation -- src/permissions')
  process.exit(2)
}
const importers = importersIn(root)
const chosen = sample(sources.flatMap((file) => mutantsOf(file, readFileSync(file, 'utf8'))))
const copies: string[] = []
process.on('exit', () => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
})
process.on('SIGINT', () => process.exit(130))

const survivors: Mutant[] = []
let done = 0
const queue = [...chosen]
await Promise.all(Array.from({ length: Math.min(Number(values.jobs), chosen.length) }, work))
report()

async function work(): Promise<void> {
  const copy = copyOfCheckout()
  for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
    const caught = await isCaught(mutant, copy)
    if (!caught) survivors.push(mutant)
    process.stderr.write(`${++done}/${chosen.length} ${caught ? 'caught  ' : 'SURVIVED'} ${described(mutant)}\n`)
  }
}

async function isCaught(mutant: Mutant, copy: string): Promise<boolean> {
  const path = join(copy, mutant.file)
  const original = readFileSync(path, 'utf8')
  writeFileSync(path, mutated(original, mutant))
  try {
    const near = testsOf(mutant.file, importers).slice(0, Number(values.near))
    for (const group of [near.slice(0, 3), near.slice(3)])
      if (group.length > 0 && !(await passes(['--test', '--test-concurrency=2', ...group], copy))) return true
    if (values.units) return false
    const folder = mutant.file.split('/').slice(0, 2).join('/')
    const tests = (programTests[folder] ?? []).flatMap((at) =>
      at.endsWith('.ts') ? [at] : globSync(`${at}/**/*.test.ts`),
    )
    if (tests.length === 0) return false
    if (!(await passes(['scripts/build.ts'], copy))) return true
    return !(await passes(['--test', '--test-concurrency=2', ...tests], copy))
  } finally {
    writeFileSync(path, original)
  }
}

/** Ends at the first failed test; one that hangs has failed. */
function passes(args: readonly string[], cwd: string): Promise<boolean> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const run = spawn(process.execPath, [...args], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  const stop = () => {
    try {
      process.kill(-run.pid!, 'SIGKILL')
    } catch {} // it has ended
  }
  const limit = setTimeout(stop, 10 * minutes)
  run.stdout.on('data', (chunk: Buffer) => /^\s*(✖|not ok)/m.test(chunk.toString()) && stop())
  return new Promise((settle) =>
    run.on('close', (code) => {
      clearTimeout(limit)
      settle(code === 0)
    }),
  )
}

function copyOfCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'ona-mutation-'))
  copies.push(copy)
  for (const file of execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true })
  }
  symlinkSync(resolve(root, 'node_modules'), join(copy, 'node_modules'))
  cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true, force: true })
  return copy
}

/** The same sample for the same seed. */
function sample(mutants: readonly Mutant[]): Mutant[] {
  if (values.all) return [...mutants]
  let state = Number(values.seed) >>> 0
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return mutants
    .map((mutant) => ({ mutant, at: random() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, Number(values.sample))
    .map(({ mutant }) => mutant)
}

function described({ file, line, kind, start, end, replacement }: Mutant): string {
  const text = readFileSync(join(root, file), 'utf8').slice(start, end).replace(/\s+/g, ' ')
  return `${file}:${line} ${kind}: ${text.slice(0, 60)} → ${replacement.replace(/\s+/g, ' ').slice(0, 60)}`
}

function report(): void {
  const caught = chosen.length - survivors.length
  const score = chosen.length === 0 ? 100 : (100 * caught) / chosen.length
  if (values.json) console.log(JSON.stringify({ mutants: chosen.length, caught, score, survivors }, null, 2))
  else {
    console.log(`${caught} of ${chosen.length} mutants caught (${score.toFixed(1)} %)`)
    for (const survivor of survivors) console.log(`  ${described(survivor)}`)
  }
  process.exitCode = score < Number(values['at-least']) ? 1 : 0
}
