/** What earlier runs found, in node_modules/.cache: how long each test takes, and which mutants were caught. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Mutant } from './mutants.ts'

export interface Results {
  /** Milliseconds of a test file that passed. */
  readonly times: Record<string, number>
  /** The test that caught a mutant. */
  readonly caught: Record<string, string>
}

const pathIn = (root: string): string => join(root, 'node_modules/.cache/ona-mutation.json')

export function readResults(root: string): Results {
  try {
    return JSON.parse(readFileSync(pathIn(root), 'utf8'))
  } catch {
    return { times: {}, caught: {} } // the first run
  }
}

export function writeResults(root: string, results: Results): void {
  mkdirSync(dirname(pathIn(root)), { recursive: true })
  writeFileSync(pathIn(root), JSON.stringify(results))
}

export const nameOf = ({ file, before, after }: Mutant): string => [file, before, after].join('\n')
