/**
 * Which tests a run of everything leaves to other days. A file that takes long runs every other day, and one in so many of its
 * tests: other ones each time. What acceptance rows name runs always, and what the working copy changed whole, with the tests of
 * the same topic. `ONA_TEST_FULL=1` runs everything.
 */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** CPU milliseconds of the files that take more than a second, as ONA_TEST_FULL=1 measured them: `scripts/test.ts --costs`. */
export const costsFile = join(import.meta.dirname, 'test-costs.json')
export const costs: Readonly<Record<string, number>> = JSON.parse(readFileSync(costsFile, 'utf8'))

/** What runs of a file: its tests number `first`, `first + step` and so on, and those whose names match. */
export interface Share {
  readonly step: number
  readonly first: number
  readonly always: readonly string[]
  /** A row names the file as a whole: some test of it has to run. */
  readonly isNamed: boolean
}

export interface Sample {
  /** Of the long files of this day. */
  readonly shares: Readonly<Record<string, Share>>
  /** Files of the other day. */
  readonly left: readonly string[]
}

/** Of a file that is long about this much is left, in CPU milliseconds. */
const shareMs = 1500
const maxStep = 6
/** Tests of units share a process with others, which a sampled file cannot: they are long later. */
const longMs = (file: string): number => (file.startsWith('test/') ? shareMs : 2 * shareMs)

/** `seed` is the number of the day, or another one that was asked for; `changed`: what runs whole, and topics that do. */
export function sampleOf(files: readonly string[], seed: number, changed: readonly string[] = []): Sample {
  const rows = testsOfRows()
  const isChanged = changeIn(changed)
  const long = files
    .filter((file) => (costs[file] ?? 0) > longMs(file) && !isChanged(file))
    .map((file) => {
      const patterns = rows.filter((row) => row.files.includes(file)).map(({ pattern }) => pattern)
      // not the same turn for all files: a day has its share of every folder and every step
      const turn = seed + [...file].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0)
      const step = Math.min(maxStep, Math.ceil(costs[file]! / shareMs))
      const share: Share = {
        step,
        first: Math.floor(turn / 2) % step,
        always: patterns.filter((pattern) => pattern !== undefined),
        isNamed: patterns.includes(undefined),
      }
      return { file, share, isToday: turn % 2 === 0, isForRows: patterns.length > 0 }
    })
  return {
    shares: Object.fromEntries(
      long.filter(({ isToday, isForRows }) => isToday || isForRows).map(({ file, share }) => [file, share]),
    ),
    left: long.filter(({ isToday, isForRows }) => !isToday && !isForRows).map(({ file }) => file),
  }
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
