/** Changes the code in small ways and sees whether a test notices. `--help` prints how; the checkout itself is never changed. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { copyCheckout, removeCopies } from './mutation/copy.ts'
import { equivalentsIn, isEquivalent } from './mutation/equivalents.ts'
import { mutantsOf, sample } from './mutation/mutants.ts'
import { importersIn } from './mutation/related-tests.ts'
import { diffOf, jsonReport, type Outcome, scoreOf, textReport } from './mutation/report.ts'
import { nameOf, readResults, writeResults } from './mutation/results.ts'
import { closeTrials, openTrial } from './mutation/trial.ts'
import { withoutTypeErrors } from './mutation/type-check.ts'

const help = `usage: npm run test:mutation -- PATH… [flags]

Makes small faults (a flipped condition, a shorter text, a call or a field left out), one at a time, in a copy of the
checkout, and runs the tests that reach the file, the quickest first, until one fails. Prints a table, and each mutant
that no test noticed as a diff. Mutants that do not compile, and those of scripts/mutation/equivalents.json, are not
counted.

  --sample N    mutants to try, chosen by --seed (40)
  --seed N      the same seed chooses the same mutants (1)
  --all         every mutant
  --kinds A,B   faults of these kinds alone, as each line of progress names them: operand, element, pattern, …
  --bar N       exit code 1 when fewer than N percent are caught (0)
  --near N      the N nearest tests that import the file; those in the same folder of src always run (30)
  --units       without the tests that run the program
  --limit N     seconds after which a test file has failed (300); at most five times what it took before
  --jobs N      mutants at a time (2)
  --resume      skip mutants that an earlier run caught; they count as caught
  --list        print the mutants and run nothing
  --json        the result as JSON

Examples:
  npm run test:mutation -- src/permissions --bar 95
  npm run test:mutation -- src/hooks/verdict.ts --all --units
`
const root = process.cwd()
const flags = readFlags()
const sources = flags.paths.flatMap(sourcesIn)
if (sources.length === 0) wrong('name a folder or a file of src')

const note = (text: string) => process.stderr.write(`${text}\n`)
const found = sources
  .flatMap((file) => mutantsOf(file, readFileSync(file, 'utf8')))
  .filter(({ kind }) => flags.kinds === undefined || flags.kinds.includes(kind))
const drawn = flags.all ? found : sample(found, flags.sample, flags.seed)
if (flags.list) {
  const text = drawn.map((mutant) => `${diffOf(mutant)}\n`).join('')
  process.stdout.write(text, () => process.exit(0)) // a pipe takes it in pieces
  await new Promise(() => {})
}
process.on('exit', () => {
  closeTrials()
  removeCopies()
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    report()
    process.exit(130)
  })

const known = equivalentsIn(root)
const counted = drawn.filter((mutant) => !isEquivalent(mutant, known))
const first = copyCheckout(root)
const chosen = withoutTypeErrors(counted, first)
const left = { typeErrors: counted.length - chosen.length, equivalent: drawn.length - counted.length }
const results = readResults(root)
const outcomes: Outcome[] = []
const importers = importersIn(root)
const queue = [...chosen]
await Promise.all(Array.from({ length: Math.min(flags.jobs, chosen.length) }, (_, at) => work(at)))
report()
process.exitCode = scoreOf(outcomes) < flags.bar ? 1 : 0

async function work(at: number): Promise<void> {
  const copy = at === 0 ? first : copyCheckout(root)
  const { times } = results
  const trial = openTrial(copy, { ...flags, root, importers, times, limitMs: flags.limit * 1000, onNote: note })
  for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
    const earlier = flags.resume ? results.caught[nameOf(mutant)] : undefined
    const by = earlier ?? (await trial(mutant))
    outcomes.push({ mutant, by })
    if (by === undefined) delete results.caught[nameOf(mutant)]
    else results.caught[nameOf(mutant)] = by
    writeResults(root, results)
    note(`${outcomes.length}/${chosen.length} ${by ? `caught by ${by}` : 'SURVIVED'}: ${diffOf(mutant)}`)
  }
}

function readFlags() {
  const number = (text: string, name: string): number =>
    /^\d+(\.\d+)?$/.test(text) ? Number(text) : wrong(`--${name} must be a number, not "${text}"`)
  const numbers = { sample: '40', seed: '1', bar: '0', near: '30', limit: '300', jobs: '2' }
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        ...{ help: { type: 'boolean', short: 'h' }, all: { type: 'boolean' }, units: { type: 'boolean' } },
        ...{ json: { type: 'boolean' }, resume: { type: 'boolean' }, list: { type: 'boolean' } },
        ...{ sample: { type: 'string' }, seed: { type: 'string' }, bar: { type: 'string' } },
        ...{ near: { type: 'string' }, limit: { type: 'string' }, jobs: { type: 'string' }, kinds: { type: 'string' } },
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
    const { all = false, units = false, json = false, resume = false, list = false } = values
    return {
      ...{ all, units, json, resume, list, paths: positionals, kinds: values.kinds?.split(',') },
      ...(Object.fromEntries(read) as Record<keyof typeof numbers, number>),
    }
  } catch (cause) {
    return wrong((cause as Error).message)
  }
}

function sourcesIn(path: string): string[] {
  if (!existsSync(path)) return wrong(`${path} does not exist`)
  if (!statSync(path).isDirectory()) return [path]
  return globSync(`${path}/**/*.{ts,tsx}`)
    .filter((file) => !/\.test\.ts$|\.d\.ts$|fixtures/.test(file))
    .sort()
}

function wrong(why: string): never {
  console.error(`test:mutation: ${why}; npm run test:mutation -- --help shows how`)
  process.exit(2)
}

function report(): void {
  console.log(flags.json ? jsonReport(outcomes, left) : textReport(outcomes, left))
}
