/**
 * Runs other people's packages against ona, feature by feature. The packages are installed from npm into a cache folder
 * (ONA_INTEROP_CACHE, by default ~/.cache/ona-interop), never into this repository.
 *   npm run test:interop                 all of them
 *   npm run test:interop agent-sdk       only these
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'

const folder = join(import.meta.dirname, '../test/interop')
const cache = process.env['ONA_INTEROP_CACHE'] ?? join(homedir(), '.cache/ona-interop')
const wanted = readFileSync(join(folder, 'packages.json'), 'utf8')

const names = globSync('*.interop.ts', { cwd: folder }).map((file) => basename(file, '.interop.ts'))
const asked = process.argv.slice(2)
const unknown = asked.find((name) => !names.includes(name))
if (unknown) {
  console.error(`unknown suite "${unknown}"; there are ${names.join(', ')}`)
  process.exit(2)
}

if (installed() !== wanted) {
  mkdirSync(cache, { recursive: true })
  copyFileSync(join(folder, 'packages.json'), join(cache, 'package.json'))
  const words = ['install', '--omit=optional', '--no-audit', '--no-fund', '--ignore-scripts']
  const npm = spawnSync('npm', words, { cwd: cache, stdio: ['ignore', 'inherit', 'inherit'], timeout: 300_000 })
  if (npm.status !== 0) {
    console.error(`the packages could not be installed into ${cache}; is the registry reachable?`)
    process.exit(1)
  }
  copyFileSync(join(folder, 'packages.json'), join(cache, 'installed.json'))
}

const files = (asked.length > 0 ? asked : names).map((name) => join(folder, `${name}.interop.ts`))
const report = ['--test-reporter=./scripts/reporter.ts', '--test-reporter-destination=stdout']
const run = spawnSync(
  process.execPath,
  ['--test', '--test-concurrency=1', '--test-timeout=900000', ...report, ...files],
  {
    stdio: 'inherit',
    env: { ...process.env, ONA_INTEROP_CACHE: cache },
  },
)
process.exit(run.status ?? 1)

function installed(): string | undefined {
  try {
    return readFileSync(join(cache, 'installed.json'), 'utf8')
  } catch {
    return undefined // the first run
  }
}
