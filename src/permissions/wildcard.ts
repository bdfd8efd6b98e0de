/** Patterns whose one special character is `*`, any run of characters; matched without backtracking. */

/** Stands in a text for something that is only known when the command runs. */
export const HOLE = '\u0000'

/** A text, for a regular expression that matches it as it stands. */
export const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

export function matches(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++
      resume = t
    } else if (p < pattern.length && pattern[p] === text[t]) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++resume
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

/** Whether the pattern could match once every hole in the text is filled with something. */
export function couldMatch(pattern: string, text: string): boolean {
  if (!text.includes(HOLE)) return matches(pattern, text)
  if (!beginsAlike(pattern, text) || !endsAlike(pattern, text)) return false
  // reachable[p]: the pattern from p on can still match the text from here on.
  let reachable = new Uint8Array(pattern.length + 1)
  reachable[pattern.length] = 1
  for (let p = pattern.length - 1; p >= 0 && pattern[p] === '*'; p--) reachable[p] = 1
  for (let t = text.length - 1; t >= 0; t--) {
    const next = new Uint8Array(pattern.length + 1)
    const hole = text[t] === HOLE
    for (let p = pattern.length; p >= 0; p--) {
      if (hole) next[p] = reachable[p] || (p < pattern.length && next[p + 1]) ? 1 : 0
      else if (p === pattern.length) next[p] = 0
      else if (pattern[p] === '*') next[p] = reachable[p] || next[p + 1] ? 1 : 0
      else next[p] = pattern[p] === text[t] ? reachable[p + 1]! : 0
    }
    reachable = next
  }
  return reachable[0] === 1
}

/** What stands before the first `*` of the pattern and the first hole of the text is the same, as far as both go. */
function beginsAlike(pattern: string, text: string): boolean {
  for (let at = 0; at < text.length && text[at] !== HOLE; at++) {
    if (pattern[at] === '*') return true
    if (pattern[at] !== text[at]) return false
  }
  return true
}

function endsAlike(pattern: string, text: string): boolean {
  for (let back = 1; back <= text.length && text[text.length - back] !== HOLE; back++) {
    const char = pattern[pattern.length - back]
    if (char === '*') return true
    if (char !== text[text.length - back]) return false
  }
  return true
}
