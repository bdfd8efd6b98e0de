/** JSON as people keep it in settings: comments and trailing commas are allowed. */

export type ParsedJson = { ok: true; value: unknown } | { ok: false; why: string }

/** Must not throw: the text comes from outside. Plain JSON, the usual case, is read by JSON.parse alone. */
export function parseJsonc(text: string): ParsedJson {
  const whole = text.startsWith('\ufeff') ? text.slice(1) : text
  try {
    return { ok: true, value: JSON.parse(whole) }
  } catch {
    // perhaps only because of comments: looked at below
  }
  const plain = withoutComments(whole)
  try {
    return { ok: true, value: JSON.parse(plain) }
  } catch (error) {
    return { ok: false, why: locate((error as Error).message, plain) }
  }
}

/** Comments and trailing commas become spaces, so that positions stay what they were. */
export function withoutComments(text: string): string {
  const blank = (part: string) => part.replaceAll(/[^\n]/g, ' ')
  const bare = text.replaceAll(token, (part) => (part.startsWith('"') ? part : blank(part)))
  return bare.replaceAll(trailingComma, (part) => (part.startsWith('"') ? part : ` ${part.slice(1)}`))
}

const quoted = '"(?:[^"\\\\]|\\\\[^])*"?'
const token = new RegExp(`${quoted}|//[^\\n]*|/\\*[^]*?(?:\\*/|$)`, 'g')
const trailingComma = new RegExp(`${quoted}|,(?=\\s*[}\\]])`, 'g')

/** Where and what, in lines as people count them. The text itself is not repeated: it may hold a secret. */
function locate(message: string, text: string): string {
  const [, what = 'unexpected text', position] =
    message.match(/^(.*?)(?: in JSON| after JSON|, )?(?: at position (\d+)|")/) ?? []
  const at = position === undefined ? badToken(text) : Number(position)
  const before = text.slice(0, at).split('\n')
  return `${what} at line ${before.length}, column ${before.at(-1)!.length + 1}`
}

/** V8 gives no position for an unexpected token: it is where the shortest text ends that has it. */
function badToken(text: string): number {
  const has = (part: string): boolean => {
    try {
      JSON.parse(part)
      return false
    } catch (error) {
      return (error as Error).message.startsWith('Unexpected token')
    }
  }
  let low = 0
  let high = text.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (has(text.slice(0, middle))) high = middle
    else low = middle + 1
  }
  return Math.max(0, low - 1)
}
