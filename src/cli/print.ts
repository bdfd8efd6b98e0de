/** How a command ends: what it says, where, and with which exit code. */

import { writeSync } from 'node:fs'
import { Problem } from '../files/problem.ts'
import { onOneLine } from '../hooks/text/json-lines.ts'
import { visible } from '../hooks/text/visible.ts'

/** Done. Requested output goes to stdout. */
export const said = (text: string): 0 => write(whole(shown(text)))

/** Done, as one line of JSON. */
export const saidJson = (value: unknown): 0 => write(whole(onOneLine(JSON.stringify(value))))

const whole = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/** A piece of what is too long to be held at once. */
export function write(text: string): 0 {
  let left: Buffer = Buffer.from(text)
  while (left.length > 0) {
    try {
      // To the descriptor itself: `process.stdout` loads Node's streams first, which is 3 ms of a start.
      left = left.subarray(writeSync(1, left))
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException
      if (code === 'EPIPE') return 0 // as with `| head`: whoever reads us has enough
      if (code !== 'EAGAIN') throw new Problem(`the output cannot be written: ${message}`) // such as a full disk
      pause() // a pipe that takes no more now: what comes next must not overtake this
    }
  }
  return 0
}

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)

/** Something beside the answer that must not pass in silence. */
export function warned(why: string): void {
  noted(`ona: ${why}`)
}

/** A line on stderr. */
export function noted(text: string): void {
  process.stderr.write(`${shown(text)}\n`)
}

/** It could not be done. */
export function failed(why: string): 1 {
  warned(why)
  return 1
}

/** Wrong usage of `command`, as it is typed: `ona hooks fire`. */
export function wrong(command: string, why: string): 2 {
  noted(`${command}: ${why}${/[?.]$/.test(why) ? '' : ';'} ${command} --help shows how`)
  return 2
}

/** Colours on a terminal only, and not where NO_COLOR is set. */
export const inColour = (): boolean => process.stdout.isTTY === true && !process.env['NO_COLOR']

/** Names and words of others stand in what we say: of all that a terminal would obey, our own colours alone are left. */
export const shown = (text: string): string =>
  /^[\t\n\x20-\x7e]*$/.test(text)
    ? text
    : text.replace(/(\u001b\[(?:[0-2]|3[12356])m)|[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu, (sign, colour) =>
        colour !== undefined && inColour() ? colour : visible(sign),
      )

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36 }

export const paint = (format: keyof typeof codes, text: string): string =>
  inColour() ? `\u001b[${codes[format]}m${text}\u001b[0m` : text

/** Rows under a head, in columns as wide as they need. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((cells) => cells[at]!.length)))
  const line = (cells: readonly string[]) =>
    cells.map((cell, at) => (at === cells.length - 1 ? cell : cell.padEnd(widths[at]!))).join('  ')
  return `${[paint('dim', line(head)), ...rows.map(line)].join('\n')}\n`
}
