/** Measures programs against each other: one after another in turns, so that a busy machine is unfair to none. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

export interface Program {
  readonly name: string
  readonly argv: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /** Done before each run, outside the measure. */
  prepare?(): void
}

/**
 * The wall time of each over that of the first in the same round, the median of all rounds; a first round warms caches and
 * does not count.
 */
export function compare(programs: readonly Program[], rounds: number): number[] {
  const samples: number[][] = programs.map(() => [])
  for (let round = -1; round < rounds; round++) {
    for (const [index, { name, argv, env, prepare }] of programs.entries()) {
      prepare?.()
      const begin = performance.now()
      const run = spawnSync(argv[0]!, argv.slice(1), { env: { ...process.env, ...env }, stdio: 'ignore' })
      const took = performance.now() - begin
      if (run.status !== 0) throw new Error(`${name} ended with ${run.status ?? run.signal}`)
      if (round >= 0) samples[index]!.push(took)
    }
  }
  return samples.map((times) => median(times.map((time, round) => time / samples[0]![round]!)))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export interface Line {
  readonly what: string
  readonly ratio: number
  /** At most this; none: only told. */
  readonly bar?: number
}

/** Prints a table and gives the exit code: 0, also where a bar is missed; the table says so. */
export function report(lines: readonly Line[]): number {
  for (const line of lines) process.stdout.write(`${told(line)}\n`)
  const file = process.env['ONA_BENCH_LINES']
  if (file) writeFileSync(file, JSON.stringify(lines))
  return 0
}

export const isMissed = ({ ratio, bar }: Line): boolean => bar !== undefined && ratio > bar

export const told = (line: Line): string => {
  const held = line.bar === undefined ? '' : `  bar ${line.bar}  ${isMissed(line) ? 'MISSED' : 'held'}`
  return `${line.what.padEnd(52)} ${line.ratio.toFixed(2)}${held}`
}
