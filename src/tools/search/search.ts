/** What is looked for in files, and what was found: the same for ripgrep and for our own walk. */

export interface Search {
  readonly pattern: string
  /** A folder, or one file. */
  readonly root: string
  readonly rootIsFile: boolean
  readonly globs: readonly string[]
  readonly type: string | undefined
  readonly mode: 'content' | 'files_with_matches' | 'count'
  readonly before: number
  readonly after: number
  readonly insensitive: boolean
  readonly multiline: boolean
}

export type Found =
  | {
      readonly ok: true
      readonly files: readonly FoundFile[] /** There was more than we could hold. */
      readonly cut: boolean
    }
  | { readonly ok: false; readonly why: string }

export interface FoundFile {
  /** Whole. */
  readonly path: string
  /** Matching lines, or matches when searching across lines; in 'files_with_matches' not counted. */
  readonly count: number
  /** In 'content'. */
  readonly lines: readonly FoundLine[]
}

export interface FoundLine {
  readonly number: number
  readonly text: string
  /** False for the lines around a match. */
  readonly match: boolean
}

/** What is kept of one line, of all lines together, and of all paths where lines are not asked for: some 300,000 files. */
export const searchLimits = { lineLength: 500, bytes: 4_194_304, pathBytes: 16_777_216 } as const

export const heldBytes = ({ mode }: Search): number =>
  mode === 'content' ? searchLimits.bytes : searchLimits.pathBytes

export const clip = (text: string): string =>
  text.length > searchLimits.lineLength ? `${text.slice(0, searchLimits.lineLength)}… [cut]` : text

/** `*.ts, *.js` or `*.ts *.js`: several globs in one word; commas inside braces belong to the glob. */
export function splitGlobs(globs: string | undefined): string[] {
  const found: string[] = []
  let word = ''
  let depth = 0
  for (const character of globs ?? '') {
    if (character === '{') depth++
    if (character === '}') depth--
    if (depth <= 0 && /[\s,]/.test(character)) {
      if (word !== '') found.push(word)
      word = ''
    } else word += character
  }
  return word === '' ? found : [...found, word]
}
