/**
 * Runs the benchmarks in bench/ in turn, or those named: `npm run bench -- hooks start`. At the end all their lines in one
 * table. Ends with 1 when a benchmark could not be run to its end; with --strict also when a bar is missed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isMissed, type Line, told } from '../bench/lib/processes.ts'

const folder = join(import.meta.dirname, '../bench')
const all = globSync('*.ts', { cwd: folder })
  .map((file) => basename(file, '.ts'))
  .sort()
const words = process.argv.slice(2)
const named = words.filter((word) => word !== '--strict')
const unknown = named.find((name) => !all.includes(name))
if (unknown !== undefined) {
  console.error(`there is no benchmark "${unknown}"; there are ${all.join(', ')}`)
  process.exit(2)
}

const scratch = mkdtempSync(join(tmpdir(), 'ona-bench-lines-'))
const crashed: string[] = []
const lines: { readonly name: string; readonly line: Line }[] = []
for (const name of named.length > 0 ? named : all) {
  console.log(`\n${name}`)
  const file = join(scratch, name)
  const env = { ...process.env, ONA_BENCH_LINES: file }
  const run = spawnSync(process.execPath, [join(folder, `${name}.ts`)], { stdio: 'inherit', env })
  if (run.status !== 0 || !existsSync(file)) crashed.push(name)
  else for (const line of JSON.parse(readFileSync(file, 'utf8')) as Line[]) lines.push({ name, line })
}
rmSync(scratch, { recursive: true, force: true })

console.log('\nall of them')
for (const { name, line } of lines) console.log(`${name.padEnd(12)} ${told(line)}`)
for (const name of crashed) console.log(`${name.padEnd(12)} did not run to its end`)
const missed = lines.filter(({ line }) => isMissed(line)).length
console.log(`\n${lines.length} lines, ${missed} bars missed, ${crashed.length} crashed`)
process.exitCode = crashed.length > 0 || (words.includes('--strict') && missed > 0) ? 1 : 0
