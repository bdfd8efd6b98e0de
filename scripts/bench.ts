/**
 * Runs the benchmarks in bench/ in turn, or those named: `npm run bench -- hooks start`. At the end it prints all of their
 * tables with their methods; with --markdown FILE it writes them there as Markdown, too. --full takes the sizes that the
 * bars are about, which takes long and needs more than 15 GB. Ends with 1 when a benchmark fails; with --strict also when a bar is missed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { isMissed, markdownOf, type Report, textOf } from '../bench/lib/report.ts'
import { readArgs } from '../src/cli/args.ts'

const rows = { strict: 'flag', full: 'flag', markdown: 'value', help: 'flag' } as const
const usage = 'npm run bench -- [NAME…] [--full] [--strict] [--markdown FILE]'
const given = readArgs(process.argv.slice(2), rows)
if (!given.ok) leave(`${given.why}\n${usage}`)
const { flags: values, words: named } = given
const fullSizes: Record<string, readonly string[]> = {
  growth: ['10000', '100000', '1000000', '5000000'],
  import: ['1000'],
  'long-session': ['5000'],
  replay: ['1000000'],
  tools: ['200000'],
}
const folder = join(import.meta.dirname, '../bench')
const all = globSync('*.ts', { cwd: folder })
  .map((file) => basename(file, '.ts'))
  .sort()
const unknown = named.find((name) => !all.includes(name))
if (values.help) {
  console.log(`${usage}\n\nbenchmarks: ${all.join(', ')}`)
  process.exit(0)
}
if (unknown !== undefined) leave(`unknown benchmark "${unknown}"; choose from ${all.join(', ')}`)
if (values.markdown !== undefined && !existsSync(dirname(values.markdown)))
  leave(`--markdown: there is no folder ${dirname(values.markdown)}`) // before, not after, the hour that all of them take

const scratch = mkdtempSync(join(tmpdir(), 'ona-bench-reports-'))
const failed: string[] = []
const reports = new Map<string, Report>()
for (const name of named.length > 0 ? named : all) {
  console.log(`\n${name}`)
  const file = join(scratch, name)
  const env = { ...process.env, ONA_BENCH_REPORT: file }
  const run = spawnSync(process.execPath, [join(folder, `${name}.ts`), ...((values.full && fullSizes[name]) || [])], {
    ...{ stdio: 'inherit', env },
  })
  if (run.status !== 0 || !existsSync(file)) failed.push(name)
  else reports.set(name, JSON.parse(readFileSync(file, 'utf8')))
}
rmSync(scratch, { recursive: true, force: true })

console.log('\nall benchmarks')
for (const [name, report] of reports) console.log(`\n${name}: ${textOf(report).trimEnd()}`)
for (const name of failed) console.log(`\n${name}: failed`)
const lines = [...reports.values()].flatMap((report) => report.lines)
const missed = lines.filter(isMissed).length
console.log(`\n${lines.length} values, ${missed} bars missed, ${failed.length} benchmarks failed`)
if (values.markdown !== undefined)
  writeFileSync(values.markdown, [...reports].map(([name, report]) => markdownOf(name, report)).join('\n'))
process.exitCode = failed.length > 0 || (values.strict && missed > 0) ? 1 : 0

/** Wrong usage. */
function leave(why: string): never {
  console.error(why)
  process.exit(2)
}
