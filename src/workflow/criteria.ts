/** The success criteria of a plan: the lines that tests are written from, numbered, in the plan's own order. */

export interface Criterion {
  /** `C1`, `C2`, …: the place in the list, stable while the plan stands. */
  readonly id: string
  readonly text: string
}

const heading =
  /^(#{1,6})\s+(?:\d+[.)]\s*)?(success|acceptance)\s+criteria\b|^(#{1,6})\s+(?:\d+[.)]\s*)?(definition of done|criteria)\b/i
/** The same section without a `#`: bold, or a line that ends in a colon. */
const plainHeading = /^(?:\*\*|__)?\s*(?:success|acceptance)\s+criteria\s*:?\s*(?:\*\*|__)?\s*:?\s*$/i
const item = /^\s{0,3}(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s*)?(.+)/s
const tableRow = /^\s*\|(.+)\|\s*$/

/** Items of the section, in the usual spellings: bullets, numbers, check boxes, or a table's first column of words. */
export function criteriaOf(plan: string): Criterion[] {
  const found: string[] = []
  let depth = 0 // of the section's heading; 0: not in it
  let fence = false
  for (const line of plan.split(/\r?\n/)) {
    if (/^\s*(```|~~~)/.test(line)) fence = !fence
    if (fence) continue
    const start = heading.exec(line)
    if (start) {
      depth = (start[1] ?? start[3])!.length
      continue
    }
    if (plainHeading.test(line)) {
      depth = 7
      continue
    }
    if (depth === 0) continue
    const other = /^(#{1,6})\s/.exec(line)
    if (other && other[1]!.length <= depth) {
      depth = 0
      continue
    }
    const text = item.exec(line)?.[1] ?? cell(line)
    if (text) found.push(clean(text))
    else if (found.length > 0 && /^\s{2,}\S/.test(line)) found[found.length - 1] += ` ${line.trim()}`
  }
  return found.filter((text) => text !== '').map((text, index) => ({ id: `C${index + 1}`, text }))
}

/** A table's row: its longest cell is the criterion; heads and rules are not rows. */
function cell(line: string): string | undefined {
  const row = tableRow.exec(line)?.[1]
  if (row === undefined || /^[\s|:-]*$/.test(row)) return undefined
  const cells = row.split('|').map((each) => each.trim())
  const longest = cells.reduce((a, b) => (b.length > a.length ? b : a), '')
  return cells.some((each) => /^(#|id|no\.?|criterion|criteria|success criteri(on|a))$/i.test(each))
    ? undefined
    : longest
}

/** `C1:`, `SC-2.`, bold marks and the like are decoration. */
const clean = (text: string): string =>
  text
    .replace(/^(\*\*|__)?(?:S?C|AC|SC)[-\s]?\d+(\*\*|__)?\s*[:.)–—-]\s*(\*\*|__)?/i, '')
    .replace(/\*\*/g, '')
    .trim()

export const planTemplate = `## Success criteria
- \`ona --version\` prints the version and exits 0
- a file that does not exist gives exit code 1 and its name on stderr`
