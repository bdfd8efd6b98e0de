/** What a program printed, as a terminal would have left it: tabs at their stops, overwritten lines as they ended. */
import { clean, withoutSequences } from './clean.ts'
import { width } from './width.ts'

const tabStop = 8

/** `full`: what was overwritten is shown too, each state on a line. */
export function cleanOutput(text: string, full = false): string {
  if (!/[\t\r]/.test(text)) return clean(text)
  const lines = withoutSequences(text).split(full ? /\r*\n|\r/ : /\r*\n/)
  return clean(lines.map((line) => atStops(asLeft(line))).join('\n'))
}

/** A carriage return begins the line again: of a progress bar the last state stays. */
const asLeft = (line: string): string => line.replace(/\r+$/, '').replace(/^[\s\S]*\r/, '')

function atStops(line: string): string {
  const [first = '', ...rest] = line.split('\t')
  return rest.reduce((text, part) => text + ' '.repeat(tabStop - (width(text) % tabStop)) + part, first)
}
