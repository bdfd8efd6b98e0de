/**
 * Which tests a run of everything leaves to other days. Of a file that takes long, one test in so many runs: others each day,
 * and always those that acceptance rows name. `ONA_TEST_FULL=1` runs them all.
 */
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
export type Shares = Readonly<Record<string, Share>>

/** Files below this run whole, in CPU milliseconds; of the others about as much is left. */
const shareMs = 1500
const maxStep = 6

/** `seed` is the number of the day, or another one that was asked for. */
export function shares(files: readonly string[], seed: number): Shares {
  const named = testsOfRows()
  const long = files.filter((file) => (costs[file] ?? 0) > shareMs)
  return Object.fromEntries(
    long.map((file): [string, Share] => {
      const step = Math.min(maxStep, Math.ceil(costs[file]! / shareMs))
      const patterns = named.filter((row) => row.files.includes(file)).map(({ pattern }) => pattern)
      // not the same turn for all files: a day has its share of every step
      const turn = seed + [...file].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0)
      return [
        file,
        {
          step,
          first: turn % step,
          always: patterns.filter((pattern) => pattern !== undefined),
          isNamed: patterns.includes(undefined),
        },
      ]
    }),
  )
}

/** What `unit FILE… [--test-name-pattern='REGEX']` in rows names. */
function testsOfRows(): { files: string[]; pattern: string | undefined }[] {
  const rows = globSync(join(import.meta.dirname, 'acceptance/rows/*.sh')).map((path) => readFileSync(path, 'utf8'))
  const calls = rows.join('\n').matchAll(/^unit ([^'\n]*?)(?:--test-name-pattern='([^']*)')?$/gm)
  return [...calls].map(([, files, pattern]) => ({ files: files!.trim().split(' '), pattern }))
}

/** Days since 1970. */
export const today = (): number => Math.floor(Date.now() / 86_400_000)
