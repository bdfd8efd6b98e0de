/** JSON from outside. Nesting is bounded: what is too deep to be written again must not get in. */

export type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string }

export function readJson(text: string): Read {
  if (isTooDeep(text)) return { ok: false, why: `it is nested more than ${deepest} levels` }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (cause) {
    return { ok: false, why: (cause as Error).message } // a SyntaxError, which says where
  }
}

const deepest = 500

/** Counts brackets outside of strings, so that nothing is built of a text that is refused. */
export function isTooDeep(text: string): boolean {
  if (text.length <= deepest) return false
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (isQuoted) {
      if (char === backslash) at++
      else if (char === quote) isQuoted = false
    } else if (char === quote) isQuoted = true
    else if (char === brace || char === bracket) {
      if (++depth > deepest) return true
    } else if (char === closeBrace || char === closeBracket) depth--
  }
  return false
}

const [quote, backslash, brace, closeBrace, bracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d]
