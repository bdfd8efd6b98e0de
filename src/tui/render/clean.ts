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

/** The same on one line. */
export const cleanLine = (text: string): string =>
  clean(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim()
