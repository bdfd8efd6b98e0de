/** What in a file comes closest to a text that is not in it, so that the next try hits. */

/** In words for the model. */
export function nearMiss(text: string, wanted: string): string {
  const numbered = wanted.replace(/^ *\d+\t/gm, '')
  if (numbered !== wanted && text.includes(numbered)) return "It holds Read's line numbers: leave them out."

  const lines = text.split(/\r?\n/)
  const sought = wanted.replace(/\r?\n$/, '').split(/\r?\n/)
  for (const { what, same } of likenesses) {
    const at = findLines(lines, sought, same)
    if (at < 0) continue
    const found = lines.slice(at, at + sought.length).join('\n')
    return `Lines ${at + 1}-${at + sought.length} differ from it only in ${what}; they are:\n${cut(found)}`
  }
  const first = sought.find((line) => line.trim() !== '')?.trim()
  const at = first === undefined ? -1 : lines.findIndex((line) => line.includes(first))
  if (at >= 0) {
    const there = lines.slice(at, at + Math.min(sought.length + 1, 12)).join('\n')
    return `Its first line is at line ${at + 1}, but what follows differs:\n${cut(there)}`
  }
  return 'Nothing in the file is close to it; read the file again.'
}

const likenesses: readonly { what: string; same: (line: string) => string }[] = [
  { what: 'white space at line ends', same: (line) => line.trimEnd() },
  { what: 'white space', same: (line) => line.replace(/\s+/g, ' ').trim() },
  { what: 'quotation marks or dashes', same: plainMarks },
  { what: 'upper and lower case', same: (line) => line.toLowerCase() },
  { what: 'backslashes', same: (line) => line.replaceAll('\\', '') },
]

function plainMarks(line: string): string {
  return line
    .replace(/[‘’‚‛]/g, "'")
    .replace(/[“”„‟]/g, '"')
    .replace(/[‐-―−]/g, '-')
    .replace(/\u00a0/g, ' ')
}

/** The first place whose lines are the same; the sought first and last line may begin and end inside a line. */
function findLines(lines: readonly string[], sought: readonly string[], same: (line: string) => string): number {
  const haystack = lines.map(same)
  const needles = sought.map(same)
  if (needles.every((line) => line === '')) return -1
  const end = needles.length - 1
  const fits = (line: string, needle: string, index: number) => {
    if (index > 0 && index < end) return line === needle
    if (end === 0) return line.includes(needle)
    return index === 0 ? line.endsWith(needle) : line.startsWith(needle)
  }
  for (let at = 0; at + end < haystack.length; at++) {
    if (needles.every((needle, index) => fits(haystack[at + index]!, needle, index))) return at
  }
  return -1
}

const cut = (text: string) => (text.length > 2000 ? `${text.slice(0, 2000)}…` : text)
