/** JSON lines: text that comes in pieces is cut at newlines alone, and what is sent has no other character that ends a line. */

export interface Cut {
  readonly lines: readonly string[]
  /** How much there is of the line that has not ended. */
  readonly openLength: number
}

/** The open line is looked at once, when it ends: in small pieces it costs no more than in one. */
export function lineCutter(): (text: string) => Cut {
  let open = ''
  return (text) => {
    open += text
    if (!text.includes('\n')) return { lines: [], openLength: open.length }
    const lines = open.split('\n')
    open = lines.pop()!
    return { lines, openLength: open.length }
  }
}

/** Node's readline and others end a line at these as well; escaped they are the same JSON. */
export const onOneLine = (json: string): string =>
  json.replaceAll(/[\u0085\u2028\u2029]/g, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
