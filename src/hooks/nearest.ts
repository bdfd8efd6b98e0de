/** The name that was probably meant. */

/** The nearest of `names` to a misspelt `word`, or undefined when none is near. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const name of names) {
    if (Math.abs(name.length - word.length) >= bestDistance) continue
    const distance = editDistance(fold(word), fold(name))
    if (distance < bestDistance) {
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

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
