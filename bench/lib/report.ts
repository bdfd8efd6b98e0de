/** What a benchmark prints: how it measures, then a line for each value with its bar. */
import { writeFileSync } from 'node:fs'

export interface Line {
  readonly what: string
  readonly value: number
  /** A ratio where it is left out. */
  readonly unit?: string
  readonly atMost?: number
  readonly atLeast?: number
  /** What the value was computed from. */
  readonly detail?: string
}

export interface Report {
  readonly method: string
  readonly lines: readonly Line[]
}

/** Prints a report and leaves it for scripts/bench.ts. A missed bar is printed and is not a failure. */
export function report(method: string, lines: readonly Line[]): void {
  process.stdout.write(textOf({ method, lines }))
  const file = process.env['ONA_BENCH_REPORT']
  if (file) writeFileSync(file, JSON.stringify({ method, lines } satisfies Report))
}

export const isMissed = ({ value, atMost = Infinity, atLeast = -Infinity }: Line): boolean =>
  value > atMost || value < atLeast

export const textOf = ({ method, lines }: Report): string =>
  `${method}\n${lines.map((line) => `  ${cellsOf(line)[0]!.padEnd(58)} ${cellsOf(line).slice(1).join('  ')}`.trimEnd()).join('\n')}\n`

export const markdownOf = (name: string, { method, lines }: Report): string =>
  [
    `### ${name}`,
    `\n${method}\n`,
    '| | value | bar | | |',
    '| --- | --- | --- | --- | --- |',
    ...lines.map((line) => `| ${cellsOf(line).join(' | ')} |`),
    '',
  ].join('\n')

function cellsOf(line: Line): string[] {
  const { what, value, unit, atMost, atLeast, detail = '' } = line
  const bar = atMost === undefined ? atLeast : atMost
  const sign = atMost === undefined ? '≥' : '≤'
  const told = unit === undefined ? `${value.toFixed(2)} ×` : `${numberOf(value)} ${unit}`
  if (bar === undefined) return [what, told, '', '', detail]
  return [what, told, `${sign} ${numberOf(bar)}`, isMissed(line) ? 'MISSED' : 'held', detail]
}

const numberOf = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 })
