/** The name that was probably meant. */

/** The nearest of `names` to a misspelt `word`, or undefined when none is near: `most` says how many slips a name forgives. */
export function nearest(
  word: string,
  names: readonly string[],
  most: (name: string) => number = () => Math.max(2, Math.floor(word.length / 3)),
): string | undefined {
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const name of names) {
    const bound = Math.min(bestDistance, most(name) + 1)
    const [written, meant] = [fold(word), fold(name)]
    if (Math.abs(written.length - meant.length) >= bound) continue // of a very long word nothing is compared
    const distance = editDistance(written, meant)
    if (distance < bound) {
      best = name
      bestDistance = distance
    }
  }
  return best
}

/** `is "PreToolUs"; did you mean "PreToolUse"?`, or the list of what there is. */
export function notKnown(word: string, names: readonly string[]): string {
  const meant = nearest(word, names)
  return `is ${JSON.stringify(word)}; ${meant ? `did you mean "${meant}"?` : `it must be one of ${names.join(', ')}`}`
}

const fold = (word: string) => word.toLowerCase().replaceAll(/[_\s-]/g, '')

/** Letters put in, left out, changed, or swapped with the next. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1, swapped ? before[j - 2]! + 1 : change))
    }
    before = row
    row = next
  }
  return row[b.length]!
}
