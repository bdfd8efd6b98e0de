/** Mutants that no test can tell from the original: `equivalents.json` lists them, each with the reason. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutants.ts'

export interface Equivalent {
  readonly file: string
  /** The line as it is, and as the mutant has it, without the space around them. */
  readonly before: string
  readonly after: string
  readonly reason: string
}

export function equivalentsIn(root: string): readonly Equivalent[] {
  const path = join(root, 'scripts/mutation/equivalents.json')
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []
}

export const isEquivalent = ({ file, before, after }: Mutant, list: readonly Equivalent[]): boolean =>
  list.some((each) => each.file === file && each.before === before && each.after === after)
