/** Changes the code in small ways and sees whether a test notices. `--help` prints how; the checkout itself is never changed. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsOf } from './mutation/mutants.ts'
import { importersIn } from './mutation/related-tests.ts'
import { closeTrials, openTrial } from './mutation/trial.ts'

const help = `usage: npm run test:mutation -- PATH… [flags]

Makes small faults (a flipped condition, an empty text, a call left out), one at a time, in a copy of the checkout, and
runs the tests that import the file, the nearest first, until one fails; then the program's own tests of that folder on a
build of the mutant. Prints a table, and each mutant that no test noticed with its line.

  --sample N    mutants to try, chosen by --seed (40)
  --seed N      the same seed chooses the same mutants (1)
  --all         every mutant
  --bar N       exit code 1 when fewer than N percent are caught (0)
  --near N      tests that import the file, at most (12)
  --units       without the program's own tests
  --limit N     seconds after which a test file has failed (300)
  --jobs N      mutants at a time (2)
  --json        the result as JSON

Examples:
  npm run test:mutation -- src/permissions --bar 95
  npm run test:mutation -- src/hooks/verdict.ts --all --units
`
const root = process.cwd()
const flags = readFlags()
const sources = flags.paths.flatMap(sourcesIn)
if (sources.length === 0) wrong('name a folder or a file of src')

const chosen = sample(sources.flatMap((file) => mutantsOf(file, readFileSync(file, 'utf8'))))
const survivors: Mutant[] = []
const done: Mutant[] = []
process.on('exit', closeTrials)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    report()
    process.exit(130)
  })

const note = (text: string) => process.stderr.write(`${text}\n`)
const importers = importersIn(root)
const queue = [...chosen]
await Promise.all(Array.from({ length: Math.min(flags.jobs, chosen.length) }, work))
report()
process.exitCode = score(done, survivors) < flags.bar ? 1 : 0

async function work(): Promise<void> {
  const trial = openTrial({ ...flags, root, importers, limitMs: flags.limit * 1000, onNote: note })
  for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
    const by = await trial(mutant)
    done.push(mutant)
    if (by === undefined) survivors.push(mutant)
    note(`${done.length}/${chosen.length} ${by ? `caught by ${by}` : 'SURVIVED'}: ${described(mutant)}`)
  }
}

function readFlags() {
  const number = (text: string, name: string): number =>
    /^\d+(\.\d+)?$/.test(text) ? Number(text) : wrong(`--${name} must be a number, not "${text}"`)
  const numbers = { sample: '40', seed: '1', bar: '0', near: '12', limit: '300', jobs: '2' }
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        ...{ help: { type: 'boolean', short: 'h' }, all: { type: 'boolean' }, units: { type: 'boolean' } },
        ...{ json: { type: 'boolean' }, sample: { type: 'string' }, seed: { type: 'string' }, bar: { type: 'string' } },
        ...{ near: { type: 'string' }, limit: { type: 'string' }, jobs: { type: 'string' } },
      },
    })
    if (values.help) {
      console.log(help)
      process.exit(0)
    }
    const read = Object.entries(numbers).map(([name, text]) => [
      name,
      number(values[name as keyof typeof numbers] ?? text, name),
    ])
    const { all = false, units = false, json = false } = values
    return {
      all,
      units,
      json,
      paths: positionals,
      ...(Object.fromEntries(read) as Record<keyof typeof numbers, number>),
    }
  } catch (cause) {
    return wrong((cause as Error).message)
  }
}

function sourcesIn(path: string): string[] {
  if (!existsSync(path)) return wrong(`${path} does not exist`)
  if (!statSync(path).isDirectory()) return [path]
  return globSync(`${path}/**/*.{ts,tsx}`).filter((file) => !/\.test\.ts$|\.d\.ts$|fixtures/.test(file))
}

function wrong(why: string): never {
  console.error(`test:mutation: ${why}; npm run test:mutation -- --help shows how`)
  process.exit(2)
}

/** The same sample for the same seed. */
function sample(mutants: readonly Mutant[]): Mutant[] {
  if (flags.all) return [...mutants]
  let state = flags.seed >>> 0
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return mutants
    .map((mutant) => ({ mutant, at: random() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, flags.sample)
    .map(({ mutant }) => mutant)
}

function described({ file, line, kind, start, end, replacement }: Mutant): string {
  const text = readFileSync(join(root, file), 'utf8').slice(start, end).replace(/\s+/g, ' ')
  return `${file}:${line} ${kind}: ${text.slice(0, 60)} → ${replacement.replace(/\s+/g, ' ').slice(0, 60)}`
}

function score(all: readonly Mutant[], missed: readonly Mutant[]): number {
  return all.length === 0 ? 100 : (100 * (all.length - missed.length)) / all.length
}

function report(): void {
  const files = [...new Set(done.map(({ file }) => file))].sort().map((file) => {
    const of = (mutants: readonly Mutant[]) => mutants.filter((mutant) => mutant.file === file)
    return { file, mutants: of(done).length, survived: of(survivors).length, score: score(of(done), of(survivors)) }
  })
  const total = { mutants: done.length, caught: done.length - survivors.length, score: score(done, survivors) }
  if (flags.json) {
    console.log(JSON.stringify({ ...total, survivors, files }, null, 2))
    return
  }
  const wide = Math.max(5, ...files.map(({ file }) => file.length))
  const row = (name: string, ...cells: (string | number)[]) =>
    console.log([name.padEnd(wide), ...cells.map((cell) => String(cell).padStart(8))].join('  '))
  row('file', 'mutants', 'caught', 'survived', '%')
  for (const { file, mutants, survived, score: percent } of files)
    row(file, mutants, mutants - survived, survived, percent.toFixed(0))
  row('total', total.mutants, total.caught, survivors.length, total.score.toFixed(1))
  for (const survivor of survivors) console.log(`survived: ${described(survivor)}`)
}
