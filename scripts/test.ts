/** Runs every test file, or those named: `node scripts/test.ts src/hooks test/roles/brains.test.ts`. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, statSync } from 'node:fs'

const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
const flags = process.argv.slice(2).filter((word) => word.startsWith('-'))
const under = (path: string) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`) : [path])
const files = (named.length > 0 ? named : ['src', 'test', 'examples']).filter(existsSync).flatMap(under).sort()

if (files.length === 0) {
  console.error(`no test file (*.test.ts) in ${named.join(', ')}`)
  process.exit(2)
}
const report = ['--test-reporter=./scripts/reporter.ts', '--test-reporter-destination=stdout']
const run = spawnSync(
  process.execPath,
  ['--test', '--test-concurrency=2', '--import=./scripts/compile-cache.mjs', ...report, ...flags, ...files],
  {
    stdio: 'inherit',
  },
)
process.exit(run.status ?? 1)
