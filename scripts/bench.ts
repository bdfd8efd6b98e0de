/**
 * Runs the benchmarks in bench/ in turn, or those named: `npm run bench -- hooks start`. At the end it prints all of their
 * tables with their methods; with --markdown FILE it writes them there as Markdown, too. --full takes the sizes that the
 * bars are about, which takes long and needs more than 15 GB. Ends with 1 when a benchmark fails; with --strict also when a bar is missed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { isMissed, markdownOf, type Report, textOf } from '../bench/lib/report.ts'

const { values, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    strict: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    markdown: { type: 'string' },
  },
})
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
if (unknown !== undefined) {
  console.error(`unknown benchmark "${unknown}"; choose from ${all.join(', ')}`)
  process.exit(2)
}

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
