/** Runs the benchmarks in bench/, or those named: `npm run bench -- hooks start`. Ends with 1 when a bar is not held. */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'

const folder = join(import.meta.dirname, '../bench')
const all = globSync('*.ts', { cwd: folder })
  .map((file) => basename(file, '.ts'))
  .sort()
const named = process.argv.slice(2)
const unknown = named.find((name) => !all.includes(name))
if (unknown !== undefined) {
  console.error(`there is no benchmark "${unknown}"; there are ${all.join(', ')}`)
  process.exit(2)
}

let failed = false
for (const name of named.length > 0 ? named : all) {
  console.log(`\n${name}`)
  const run = spawnSync(process.execPath, [join(folder, `${name}.ts`)], { stdio: 'inherit' })
  failed ||= run.status !== 0
}
process.exitCode = failed ? 1 : 0
