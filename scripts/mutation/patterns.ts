/** Regular expressions that match a little more or less than the one given: an anchor, a flag or an alternative left out. */

export function looserPatterns(pattern: string, flags: string): string[] {
  const candidates = [
    [pattern.replace(/^\^/, ''), flags],
    [pattern.replace(/(?<!\\)\$$/, ''), flags],
    [pattern, flags.replace(/[gim]/, '')],
    ...alternatives(pattern).map((shorter) => [shorter, flags]),
  ]
  const texts = candidates.filter(([text, flag]) => isPattern(text!, flag!)).map(([text, flag]) => `/${text}/${flag}`)
  return [...new Set(texts)].filter((text) => text !== `/${pattern}/${flags}`)
}

/** Each alternative left out, where it is plain text. */
const alternatives = (pattern: string): string[] =>
  [...pattern.matchAll(/(?<=^|\||\((?:\?[:=!]|\?<[=!])?)(?:\\?[\w\s.:/*-])+(?=\||\)|$)/g)].flatMap(
    ({ 0: found, index }) => {
      const end = index + found.length
      if (pattern[end] === '|') return [pattern.slice(0, index) + pattern.slice(end + 1)]
      return pattern[index - 1] === '|' ? [pattern.slice(0, index - 1) + pattern.slice(end)] : []
    },
  )

function isPattern(text: string, flags: string): boolean {
  try {
    new RegExp(text, flags)
    return text !== ''
  } catch {
    return false // the cut broke its syntax
  }
}
