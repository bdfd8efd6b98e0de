/** The change with its text altered as a whole: taken out, put out of action, or reworded without another meaning. */

/** How a line comment begins, by the name of a program's file or the interpreter in its first line. */
const comments: readonly (readonly [name: RegExp, shebang: RegExp, mark: string])[] = [
  [/\.(?:[cm]?[jt]sx?|go|rs|java|kt|swift|c|cc|cpp|h|cs|scala)$/, /\b(?:node|deno|bun)\b/, '//'],
  [/\.(?:py|rb|pl|sh|bash|zsh|ex|exs|awk|tcl|r)$/i, /\b(?:python|ruby|perl|(?:ba|z|da|k)?sh|awk)/, '#'],
  [/\.(?:lua|hs)$/, /\blua/, '--'],
]

const markOf = (file: string, text: string): string | undefined => {
  const shebang = /^#!.*/.exec(text)?.[0] ?? ''
  return comments.find(([name, program]) => name.test(file) || program.test(shebang))?.[2]
}

type Texts = ReadonlyMap<string, string>

/** Every line a comment: all of the text is there, and none of it runs. Files of which we do not know how are left as they are. */
export const commentedOut = (files: Texts): Map<string, string> =>
  altered(files, (mark, lines) =>
    lines.map((line, at) => (at === 0 && line.startsWith('#!') ? line : `${mark} ${line}`)),
  )

/** A comment more at the end: other bytes, the same program. */
export const reworded = (files: Texts): Map<string, string> =>
  altered(files, (mark, lines) => [...lines, `${mark} the same program`, ''])

function altered(files: Texts, change: (mark: string, lines: readonly string[]) => string[]): Map<string, string> {
  return new Map(
    [...files].flatMap(([file, text]): [string, string][] => {
      const mark = markOf(file, text)
      return mark === undefined || text === '' ? [] : [[file, change(mark, text.split('\n')).join('\n')]]
    }),
  )
}
