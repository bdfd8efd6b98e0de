/** Mutants: the change with one small fault in it each. A case that is worth something fails on some of them. */

export interface Mutant {
  /** `lib/a.mjs:12 === → !==` */
  readonly name: string
  readonly file: string
  readonly text: string
}

const operators: readonly (readonly [find: RegExp, put: string | ((found: string) => string)])[] = [
  [/===/g, '!=='],
  [/!==/g, '==='],
  [/(?<![=!<>])==(?!=)/g, '!='],
  [/!=(?!=)/g, '=='],
  [/(?<![-=<>])>=?(?![=>])/g, (found) => (found === '>' ? '<=' : '<')],
  [/(?<![<=])<=?(?![=<])/g, (found) => (found === '<' ? '>=' : '>')],
  [/&&/g, '||'],
  [/\|\|/g, '&&'],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/(?<=[\w)\]] )\+(?= [\w('"`[])/g, '-'],
  [/(?<![\w.])\d+(?![\w.])/g, (found) => String(Number(found) + 1)],
  [/(?<=(['"`]))[^'"`\n${}]+(?=\1)/g, '~'],
  // the words in front of the first value: `Hello, ${name}`, f"Hello, {name}", "Hello, $name"
  [/(?<=`)[^`\n$]*[^\s`$][^`\n$]*(?=\$\{)/g, '~'],
  [/(?<=\bf["'])[^"'\n{]*[^\s"'{][^"'\n{]*(?=\{)/g, '~'],
  [/(?<=")[^"'`\n${}]*[^\s"'`${}][^"'`\n${}]*(?=\$[\w{(])/g, '~'],
]

/** Files whose text is a program's; documents and data are not mutated. */
const programs = /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|c|cc|cpp|h|cs|php|pl|lua|sh|bash|ex|exs|scala)$|^[^.]+$/

/** In the order of the text. */
export const mutantsOf = (files: ReadonlyMap<string, string>): Mutant[] =>
  [...files].filter(([file]) => programs.test(file)).flatMap(([file, text]) => mutantsIn(file, text))

/** At most `most`, from all over the list: the same for the same list. */
export function spread(mutants: readonly Mutant[], most: number): Mutant[] {
  const length = Math.min(most, mutants.length)
  return Array.from({ length }, (_, index) => mutants[Math.floor((index * mutants.length) / length)]!)
}

function mutantsIn(file: string, text: string): Mutant[] {
  const found: { at: number; mutant: Mutant }[] = []
  for (const [pattern, put] of operators) {
    for (const match of text.matchAll(pattern)) {
      const [old] = match
      const changed = typeof put === 'string' ? put : put(old)
      const line = text.slice(0, match.index).split('\n').length
      if (isComment(text.split('\n')[line - 1]!)) continue
      const mutant = {
        name: `${file}:${line} ${clip(old)} → ${clip(changed)}`,
        file,
        text: text.slice(0, match.index) + changed + text.slice(match.index + old.length),
      }
      found.push({ at: match.index, mutant })
    }
  }
  return found.sort((a, b) => a.at - b.at).map(({ mutant }) => mutant)
}

const isComment = (line: string): boolean => /^\s*(?:#|\/\/|\/?\*|import\b|from\b|use\b|package\b)/.test(line)
const clip = (text: string): string => (text.length > 24 ? `${text.slice(0, 23)}…` : text)
