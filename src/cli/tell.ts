/** How a command ends: what it says, where, and with which exit code. */

/** Done. What is asked for goes to stdout. */
export function said(text: string): 0 {
  process.stdout.write(text === '' || text.endsWith('\n') ? text : `${text}\n`)
  return 0
}

/** Done, as one line of JSON. */
export const saidJson = (value: unknown): 0 => said(JSON.stringify(value))

/** Something beside the answer that must not pass in silence. */
export function warned(why: string): void {
  process.stderr.write(`ona: ${why}\n`)
}

/** It could not be done. */
export function failed(why: string): 1 {
  warned(why)
  return 1
}

/** Wrong usage of `command`, as it is typed: `ona hooks fire`. */
export function wrong(command: string, why: string): 2 {
  process.stderr.write(`${command}: ${why}${/[?.]$/.test(why) ? '' : ';'} ${command} --help shows how\n`)
  return 2
}

/** Colours on a terminal only, and not where NO_COLOR is set. */
export const inColour = (): boolean => process.stdout.isTTY === true && !process.env['NO_COLOR']

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36 }

export const paint = (format: keyof typeof codes, text: string): string =>
  inColour() ? `\u001b[${codes[format]}m${text}\u001b[0m` : text
