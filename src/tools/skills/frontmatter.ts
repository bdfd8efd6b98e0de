/** The head of a Markdown file between two lines of `---`: `key: value`, lists in either form, nothing deeper. */

export type Frontmatter =
  | { readonly ok: true; readonly fields: Record<string, unknown>; readonly body: string }
  | { readonly ok: false; readonly why: string }

const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)/

/** The head as it is written, for those who look deeper. */
export const headOf = (text: string): string => block.exec(text)?.[1] ?? ''

export function readFrontmatter(text: string): Frontmatter {
  const head = block.exec(text)
  if (!head) return { ok: true, fields: {}, body: text.replace(/^\uFEFF/, '') }
  const fields: Record<string, unknown> = Object.create(null)
  let open: string | undefined
  for (const [index, line] of head[1]!.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue
    const item = /^\s*-\s+(.*)$/.exec(line)
    if (item && open !== undefined) {
      const list = Array.isArray(fields[open]) ? (fields[open] as unknown[]) : []
      fields[open] = [...list, scalar(item[1]!)]
      continue
    }
    const pair = /^([\w-]+)\s*:\s*(.*)$/.exec(line)
    if (pair) {
      open = pair[1]!
      fields[open] = value(pair[2]!.trim())
    } else if (open !== undefined && /^\s+\S/.test(line)) {
      // A folded value goes on in the next line.
      fields[open] = [fields[open], line.trim()]
        .filter((part) => part !== '' && !/^[|>][+-]?$/.test(String(part)))
        .join(' ')
    } else return { ok: false, why: `line ${index + 2} is not "key: value"` }
  }
  return { ok: true, fields, body: text.slice(head[0].length) }
}

function value(text: string): unknown {
  const list = /^\[(.*)\]$/.exec(text)
  return list
    ? list[1]!
        .split(',')
        .map((each) => scalar(each.trim()))
        .filter((each) => each !== '')
    : scalar(text)
}

function scalar(text: string): unknown {
  const quoted = /^"(.*)"$|^'(.*)'$/.exec(text)
  if (quoted) return quoted[1] ?? quoted[2]
  if (text === 'true' || text === 'false') return text === 'true'
  return text.replace(/\s+#.*$/, '')
}
