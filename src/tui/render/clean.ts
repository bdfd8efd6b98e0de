/** Text from outside (the model, a tool, a file) made safe to show: it can move no cursor and hide no character. */

const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])/g
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g
/** Marks that turn the direction of what follows: a command could read as another one. */
const turning = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

export function clean(text: string): string {
  if (/^[\x20-\x7e\n]*$/.test(text)) return text
  return text
    .replace(sequences, '')
    .replace(/\r\n?/g, '\n')
    .replace(/\t/g, '    ')
    .replace(controls, '')
    .replace(turning, (mark) => `<U+${mark.charCodeAt(0).toString(16).toUpperCase()}>`)
}

export const withoutSequences = (text: string): string => text.replace(sequences, '')

/** Pasted text: escape sequences and control characters are removed, tabs and line ends stay. */
export const withoutEscapes = (text: string): string => withoutSequences(text).replace(controls, '')

/** All that may reach the terminal in a line: characters, styles (SGR) and links (OSC 8). What moves the cursor may not. */
export const onlyStyles = (line: string): string => (unsafe.test(line) ? line.replace(unsafeAll, '') : line)

const unsafe =
  /[\x00-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[[0-9;:]*m|\]8;;[\x20-\x7e]*\x1b\\|\\)(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?/
const unsafeAll = new RegExp(unsafe, 'g')

/** The same as `clean`, on one line. */
export const cleanLine = (text: string): string =>
  clean(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim()
