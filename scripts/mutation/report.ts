/** What a run found: a table of files, and each survivor as a diff. */
import type { Mutant } from './mutants.ts'

export interface Outcome {
  readonly mutant: Mutant
  /** The test that noticed. */
  readonly by?: string | undefined
}

export interface Left {
  /** Mutants of the sample that were not tried, and why. */
  readonly typeErrors: number
  readonly equivalent: number
}

export const scoreOf = (outcomes: readonly Outcome[]): number =>
  outcomes.length === 0 ? 100 : (100 * outcomes.filter(({ by }) => by !== undefined).length) / outcomes.length

export function jsonReport(outcomes: readonly Outcome[], left: Left): string {
  const survivors = outcomes.filter(({ by }) => by === undefined).map(({ mutant }) => mutant)
  const counts = { mutants: outcomes.length, caught: outcomes.length - survivors.length, score: scoreOf(outcomes) }
  return JSON.stringify({ ...counts, ...left, survivors, files: perFile(outcomes) }, null, 2)
}

export function textReport(outcomes: readonly Outcome[], { typeErrors, equivalent }: Left): string {
  const files = perFile(outcomes)
  const wide = Math.max(5, ...files.map(({ file }) => file.length))
  const row = (name: string, ...cells: (string | number)[]) =>
    [name.padEnd(wide), ...cells.map((cell) => String(cell).padStart(8))].join('  ')
  const survived = outcomes.filter(({ by }) => by === undefined)
  return [
    row('file', 'mutants', 'caught', 'survived', '%'),
    ...files.map(({ file, mutants, survived, score }) =>
      row(file, mutants, mutants - survived, survived, score.toFixed(0)),
    ),
    row('total', outcomes.length, outcomes.length - survived.length, survived.length, scoreOf(outcomes).toFixed(1)),
    `not counted: ${typeErrors} that do not compile, ${equivalent} listed in scripts/mutation/equivalents.json`,
    ...survived.map(({ mutant }) => `survived: ${diffOf(mutant)}`),
  ].join('\n')
}

export function diffOf({ file, line, kind, before, after }: Mutant): string {
  const [old, now] = [before, after].map((text) => text.split('\n').map((each) => each.trim())) as [string[], string[]]
  while (old.length > 1 && now.length > 1 && old.at(-1) === now.at(-1)) [old.pop(), now.pop()]
  const signed = (sign: string, lines: readonly string[]) => lines.map((each) => `  ${sign} ${each}`)
  return [`${file}:${line} ${kind}`, ...signed('-', old), ...signed('+', now)].join('\n')
}

function perFile(outcomes: readonly Outcome[]) {
  const groups = [...Map.groupBy(outcomes, ({ mutant }) => mutant.file)].sort(([a], [b]) => (a < b ? -1 : 1))
  return groups.map(([file, of]) => ({
    ...{ file, mutants: of.length, survived: of.filter(({ by }) => by === undefined).length, score: scoreOf(of) },
  }))
}
