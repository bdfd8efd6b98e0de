/** Measures programs against each other: one after another in turns, so that a busy machine is unfair to none. */
import { spawnSync } from 'node:child_process'

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
