/**
 * Runs every test file, or those named: `node scripts/test.ts src/hooks test/roles/brains.test.ts`. `--results FILE` keeps
 * what passed and failed, for `scripts/sdlc-acceptance.sh --tested FILE`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const words = process.argv.slice(2)
const at = words.indexOf('--results')
const results = at < 0 ? undefined : words.splice(at, 2)[1]
const named = words.filter((word) => !word.startsWith('-'))
const flags = words.filter((word) => word.startsWith('-'))
const under = (path: string) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`) : [path])
const files = (named.length > 0 ? named : ['src', 'test', 'examples']).filter(existsSync).flatMap(under).sort()

if (files.length === 0) {
  console.error(`no test file (*.test.ts) in ${named.join(', ')}`)
  process.exit(2)
}
if (results !== undefined) mkdirSync(dirname(results), { recursive: true })
const reporter = (name: string, to: string) => [
  `--test-reporter=./scripts/${name}.ts`,
  `--test-reporter-destination=${to}`,
]
const report = [
  ...reporter('reporter', 'stdout'),
  ...(results === undefined ? [] : reporter('results-reporter', results)),
]
const run = spawnSync(
  process.execPath,
  ['--test', '--test-concurrency=3', '--import=./scripts/compile-cache.mjs', ...report, ...flags, ...files],
  {
    stdio: 'inherit',
  },
)
process.exit(run.status ?? 1)
