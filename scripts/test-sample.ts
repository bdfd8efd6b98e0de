/**
 * Which tests a run of everything leaves to other days: some of those that cost most, others each day. Every file runs. What
 * acceptance rows name runs always, and what the working copy changed whole, with the tests of the same topic. `ONA_TEST_FULL=1`
 * runs everything.
 */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** As `node scripts/test.ts --costs` measured them. */
export interface Costs {
  /** CPU milliseconds of files that take more than a second. */
  readonly files: Readonly<Record<string, number>>
  /** How long files take, in milliseconds, that wait for most of the time. */
  readonly waits: Readonly<Record<string, number>>
  /** CPU milliseconds of tests that take more than `dearMs`, by file. */
  readonly tests: Readonly<Record<string, Readonly<Record<string, number>>>>
}

export const costsFile = join(import.meta.dirname, 'test-costs.json')
export const costs: Costs = JSON.parse(readFileSync(costsFile, 'utf8'))

/** A test that costs more runs on one in so many days that it costs `dayMs` a day, or on one in `mostDays`. */
export const dearMs = 250
/** A file that costs little and takes longer is one of those that start first. */
export const waitMs = 4000
const dayMs = 80
const mostDays = 8

/** By file, the names of the tests that do not run. */
export type Sample = Readonly<Record<string, readonly string[]>>

/** `seed` is the number of the day, or another one that was asked for; `changed`: what runs whole, and topics that do. */
export function sampleOf(
  files: readonly string[],
  seed: number,
  changed: readonly string[] = [],
  { tests }: Pick<Costs, 'tests'> = costs,
): Sample {
  const rows = testsOfRows()
  const isChanged = changeIn(changed)
  // counted over all files: a day has its share of every folder
  let turn = seed
  const left = Object.entries(tests).map(([file, dear]): [string, string[]] => {
    const patterns = rows.filter((row) => row.files.includes(file)).map(({ pattern }) => pattern)
    const isNamed = (name: string) => patterns.some((pattern) => pattern && new RegExp(pattern).test(name))
    // where a row names the file as a whole, some test of it has to run
    const others = Object.entries(dear).slice(patterns.includes(undefined) ? 1 : 0)
    const later = others.filter(([, ms]) => turn++ % Math.min(mostDays, Math.ceil(ms / dayMs)) > 0)
    return [file, later.map(([name]) => name).filter((name) => !isNamed(name))]
  })
  return Object.fromEntries(
    left.filter(([file, names]) => names.length > 0 && files.includes(file) && !isChanged(file)),
  )
}

/** What `unit FILE… [--test-name-pattern='REGEX']` in rows names. */
function testsOfRows(): { files: string[]; pattern: string | undefined }[] {
  const rows = globSync(join(import.meta.dirname, 'acceptance/rows/*.sh')).map((path) => readFileSync(path, 'utf8'))
  const calls = rows.join('\n').matchAll(/^unit ([^'\n]*?)(?:--test-name-pattern='([^']*)')?$/gm)
  return [...calls].map(([, files, pattern]) => ({ files: files!.trim().split(' '), pattern }))
}

/** Whether a test file was changed, or is named after a folder of `src` in which something was: `test/headless/mcp-known.test.ts`. */
function changeIn(changed: readonly string[]): (file: string) => boolean {
  const topics = new Set(changed.flatMap((path) => /^src\/([^/]+)\//.exec(path)?.[1] ?? []))
  return (file) => changed.includes(file) || file.split(/[^a-z]+/).some((word) => topics.has(word))
}

/** What the working copy has that the branch it follows has not; without one, what is not committed. */
export function changedFiles(): string[] {
  const git = (...args: string[]) =>
    spawnSync('git', args, { encoding: 'utf8' }).stdout?.split('\n').filter(Boolean) ?? []
  const [base = 'HEAD'] = git('merge-base', 'HEAD', '@{upstream}')
  return [...git('diff', '--name-only', '--relative', base), ...git('ls-files', '--others', '--exclude-standard')]
}

/** Days since 1970. */
export const today = (): number => Math.floor(Date.now() / 86_400_000)
