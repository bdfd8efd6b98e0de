/** The one line of what a program wrote to stderr that says why it failed. */

/** How Python and Node print an error that nothing caught, below or above where it was thrown. */
const uncaught = /^[\w.]*(?:Error|Exception)\b.*: /
/** The pattern is quadratic in the length of a line, and a hook may print the megabytes that it was given. */
const mostOfLine = 300

/** As the end of a sentence, where there is one. */
export function whyIn(stderr: string): string {
  const line = errorLine(stderr)
  return line === '' ? '' : `: ${line}`
}

export function errorLine(stderr: string): string {
  const lines = stderr.trim().split('\n')
  return (lines.findLast((line) => uncaught.test(line.slice(0, mostOfLine))) ?? lines[0]!).slice(0, mostOfLine)
}
