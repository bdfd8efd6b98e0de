/** Where the CPU time of a test run went: a table, the costliest first. */
import { existsSync, readFileSync } from 'node:fs'
import type { FileResult } from './results-reporter.ts'

export type RowTime = readonly [id: string, cpuMs: number]

/** What scripts/sdlc-acceptance.sh --times wrote. */
export function readRowTimes(path: string): RowTime[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').trim().split('\n').filter(Boolean)
  return lines.map((line) => line.split(' ')).map(([id, ms]) => [id!, Number(ms)])
}

/** `allMs` is the CPU time of the whole run, which has more in it than files and rows: the servers that they share. */
export function timesTable(files: readonly FileResult[], rows: readonly RowTime[], allMs: number | undefined): string {
  if (allMs === undefined) return 'no CPU times: only Linux reports those of child processes\n'
  const timed = files.map(({ file, ms, cpuMs = 0 }): Line => [cpuMs, ms, file])
  const lines = [...timed, ...rows.map(([id, cpuMs]): Line => [cpuMs, undefined, `row ${id}`])]
  const sum = (all: readonly Line[]) => seconds(all.reduce((total, [cpuMs]) => total + cpuMs, 0))
  return [
    '\nCPU s   wall s',
    ...lines
      .toSorted(([a], [b]) => b - a)
      .map(([cpu, ms, name]) => `${seconds(cpu)}  ${ms === undefined ? '       ' : seconds(ms)}  ${name}`),
    `${seconds(allMs)}           in all: ${sum(timed).trim()} in test files, ${sum(lines.slice(timed.length)).trim()} in rows`,
    '',
  ].join('\n')
}

type Line = readonly [cpuMs: number, ms: number | undefined, name: string]

const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(6)
