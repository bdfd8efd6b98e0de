/**
 * Runs other people's packages against ona, feature by feature, and compares the counts with docs/compatibility.md. The
 * packages are installed from npm into a cache folder (ONA_INTEROP_CACHE, by default ~/.cache/ona-interop), never into this
 * repository. A package that the registry lacks is a skip that the report names.
 *   npm run test:interop                   all suites
 *   npm run test:interop agent-sdk         only these
 *   npm run test:interop -- --control      with the real Claude Code as the control of the hook suites
 *   npm run test:interop -- --write        puts the counts into docs/compatibility.md
 *   npm run test:interop -- --budget=180   starts no suite after so many seconds, and names those left out
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { run } from 'node:test'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'test/interop')
const page = join(root, 'docs/compatibility.md')
const cache = process.env['ONA_INTEROP_CACHE'] ?? join(homedir(), '.cache/ona-interop')

/** What a suite cannot do without; the rows of other suites name their package themselves. */
const needs: Readonly<Record<string, readonly string[]>> = {
  'agent-sdk': ['@anthropic-ai/claude-agent-sdk'],
  'acp-clients': ['acpx', '@agentclientprotocol/claude-agent-acp'],
  'mcp-conformance': ['@modelcontextprotocol/conformance'],
}
/** tdd-guard parses with it, and finds it among optional packages alone; those of the SDK are a whole program. */
const native = '@ast-grep/napi'

const suites = globSync('*.interop.ts', { cwd: folder })
  .map((file) => basename(file, '.interop.ts'))
  .sort()
const words = process.argv.slice(2)
const flags = words.filter((word) => word.startsWith('--'))
const asked = words.filter((word) => !word.startsWith('--'))
const unknown =
  asked.find((name) => !suites.includes(name)) ?? flags.find((flag) => !/^--(control|write|budget=\d+)$/.test(flag))
if (unknown) {
  console.error(
    `unknown suite or flag "${unknown}"; there are ${suites.join(', ')}, --control, --write, --budget=SECONDS`,
  )
  process.exit(2)
}

const missing = install()
for (const name of missing) console.log(`skip: the registry has no ${name}`)
const claude = flags.includes('--control') ? findClaude() : undefined
if (flags.includes('--control') && !claude) console.log('skip: Claude Code cannot be installed, so there is no control')
process.env['ONA_INTEROP_CACHE'] = cache
process.env['ONA_INTEROP_CLAUDE'] = claude ?? ''

interface Count {
  passed: number
  failed: number
  skipped: number
}
const counts = new Map<string, Count>()
const countOf = (row: string): Count => {
  const known = counts.get(row) ?? { passed: 0, failed: 0, skipped: 0 }
  counts.set(row, known)
  return known
}

const budgetMs = Number(flags.find((flag) => flag.startsWith('--budget='))?.slice(9) ?? 86_400) * 1000
const startedAt = Date.now()
const left = asked.length > 0 ? asked : suites
await Promise.all([runSome(), runSome()])
report()

/** Takes suites until none is left; two of these run side by side. */
async function runSome(): Promise<void> {
  for (let suite = left.shift(); suite; suite = left.shift()) {
    const lacks = (needs[suite] ?? []).find((name) => missing.includes(name))
    const why = lacks ? `needs ${lacks}` : Date.now() - startedAt > budgetMs ? 'the time is used up' : undefined
    if (why) {
      console.log(`skip: ${suite}: ${why}`)
      countOf(suite).skipped++
    } else await runSuite(suite)
  }
}

async function runSuite(suite: string): Promise<void> {
  const from = Date.now()
  const stream = run({ files: [join(folder, `${suite}.interop.ts`)], concurrency: false, timeout: 900_000 })
  for await (const { type, data } of stream) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting > 0 || data.name.endsWith('.ts')) continue
    const isControl = data.name.startsWith('claude: ')
    if (isControl && data.skip !== undefined) continue
    const count = countOf(isControl ? `${suite}, Claude Code` : suite)
    if (data.skip !== undefined) {
      console.log(`skip: ${suite}: ${data.name}: ${String(data.skip)}`)
      count.skipped++
    } else if (type === 'test:pass') count.passed++
    else {
      count.failed++
      const { error } = data.details
      console.log(`FAIL ${suite}: ${data.name}\n${(error.cause as Error | undefined)?.message ?? error.message}`)
    }
  }
  console.log(`${suite}: ${Math.round((Date.now() - from) / 1000)} s`)
}

function report(): void {
  let isWrong = false
  const text = readFileSync(page, 'utf8')
  let written = text
  for (const [row, { passed, failed, skipped }] of counts) {
    const total = passed + failed + skipped
    console.log(`${row}: ${passed} of ${total} passed, ${failed} failed, ${skipped} skipped`)
    if (failed > 0) isWrong = true
    const [line, before] = new RegExp(`^\\| \`${row}\` \\|.*\\| (\\d+ of \\d+) \\|$`, 'm').exec(text) ?? []
    const now = `${passed} of ${total}`
    if (line !== undefined && before !== now && skipped === 0) {
      if (flags.includes('--write')) written = written.replace(line, line.replace(before!, now))
      else {
        console.log(`docs/compatibility.md says "${before}" for ${row}; npm run test:interop -- --write corrects it`)
        isWrong = true
      }
    }
  }
  if (written !== text) writeFileSync(page, written)
  process.exit(isWrong ? 1 : 0)
}

/** All at once; where that fails one by one, to find out which the registry lacks. */
function install(): string[] {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'packages.json'), 'utf8'))
  mkdirSync(cache, { recursive: true })
  if (!existsSync(join(cache, 'package.json'))) writeFileSync(join(cache, 'package.json'), '{"private":true}')
  const wanted = Object.entries<string>(dependencies).filter(([name, version]) => versionOf(name) !== version)
  const specs = wanted.map(([name, version]) => `${name}@${version}`)
  if (specs.length > 0 && !npm(specs)) for (const spec of specs) npm([spec])
  const version = versionOf(native)
  const binding = `${native}-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`
  if (version && versionOf(binding) !== version) npm([`${binding}@${version}`])
  return wanted.map(([name]) => name).filter((name) => versionOf(name) === undefined)
}

function npm(specs: readonly string[], more: readonly string[] = ['--omit=optional', '--ignore-scripts']): boolean {
  const fixed = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--save-exact']
  const options = { cwd: cache, stdio: ['ignore', 'inherit', 'inherit'] as const, timeout: 300_000 }
  return spawnSync('npm', [...fixed, ...more, ...specs], { ...options, stdio: [...options.stdio] }).status === 0
}

function versionOf(name: string, at = cache): string | undefined {
  const file = join(at, 'node_modules', name, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}

/** The one that ONA_CLAUDE names, else one of our own in the cache. */
function findClaude(): string | undefined {
  const named = process.env['ONA_CLAUDE']
  if (named) return named
  const own = join(cache, 'node_modules/.bin/claude')
  if (!existsSync(own)) npm(['@anthropic-ai/claude-code'], ['--include=optional'])
  return existsSync(own) ? own : undefined
}
