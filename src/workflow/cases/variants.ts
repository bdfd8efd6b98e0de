/** The change with its text altered as a whole: taken out, put out of action, or reworded without another meaning. */

/** A language, by the name of a program's file or the interpreter in its first line. */
interface Language {
  readonly name: RegExp
  readonly shebang: RegExp
  /** How a line comment begins. */
  readonly comment: string
  /** A first line that ends the program; none where a program cannot begin with a statement. */
  readonly end?: string
}

const none = /(?!)/
const languages: readonly Language[] = [
  { name: /\.[cm]?[jt]sx?$/, shebang: /\b(?:node|deno|bun)\b/, comment: '//', end: 'process.exit(0);' },
  { name: /\.py$/, shebang: /\bpython/, comment: '#', end: 'raise SystemExit(0)' },
  { name: /\.(?:sh|bash|zsh)$/, shebang: /\b(?:ba|z|da|k)?sh\b/, comment: '#', end: 'exit 0' },
  { name: /\.(?:rb|pl)$/, shebang: /\b(?:ruby|perl)/, comment: '#', end: 'exit 0;' },
  { name: /\.(?:ex|exs|awk|tcl|r)$/i, shebang: /\bawk/, comment: '#' },
  { name: /\.lua$/, shebang: /\blua/, comment: '--', end: 'os.exit(0)' },
  { name: /\.hs$/, shebang: none, comment: '--' },
  { name: /\.(?:go|rs|java|kt|swift|c|cc|cpp|h|cs|scala)$/, shebang: none, comment: '//' },
]

function languageOf(file: string, text: string): Language | undefined {
  const first = /^#!.*/.exec(text)?.[0] ?? ''
  return languages.find(({ name, shebang }) => name.test(file) || shebang.test(first))
}

type Texts = ReadonlyMap<string, string>

/** Every line a comment: all of the text is there, and none of it runs. Files of which we do not know how are left as they are. */
export const commentedOut = (files: Texts): Map<string, string> =>
  altered(files, ({ comment }, lines) =>
    lines.map((line, at) => (at === 0 && line.startsWith('#!') ? line : `${comment} ${line}`)),
  )

/**
 * A first line that ends the program: all of its text is there, no comment is added, and none of it runs. Whoever takes the
 * comments out before reading sees the program as it was.
 */
export const endedFirst = (files: Texts): Map<string, string> =>
  altered(files, ({ end }, lines) => {
    if (end === undefined) return undefined
    return lines[0]?.startsWith('#!') ? [lines[0], end, ...lines.slice(1)] : [end, ...lines]
  })

/** A comment more at the end: other bytes, the same program. */
export const reworded = (files: Texts): Map<string, string> =>
  altered(files, ({ comment }, lines) => [...lines, `${comment} the same program`, ''])

function altered(
  files: Texts,
  change: (language: Language, lines: readonly string[]) => string[] | undefined,
): Map<string, string> {
  return new Map(
    [...files].flatMap(([file, text]): [string, string][] => {
      const language = languageOf(file, text)
      const lines = language && text !== '' ? change(language, text.split('\n')) : undefined
      return lines ? [[file, lines.join('\n')]] : []
    }),
  )
}
