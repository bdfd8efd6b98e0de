/** Rules in `.claude/rules` and `.ona/rules`: instructions that hold always, or for the paths that their head names. */
import { readdirSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { readPlainFile } from '../../files/plain-file.ts'
import { readFrontmatter } from '../../tools/skills/frontmatter.ts'

export interface PathRule {
  readonly file: string
  /** Empty: it always holds. */
  readonly paths: readonly string[]
}

const deepest = 5

/** The rules below a folder, by name. One that cannot be read is given without paths, so that its fault is reported. */
export function rulesIn(folder: string, depth = 0): PathRule[] {
  return entriesOf(folder).flatMap((entry): PathRule[] => {
    const file = join(folder, entry.name)
    if (entry.isDirectory()) return depth < deepest ? rulesIn(file, depth + 1) : []
    return entry.name.endsWith('.md') ? [{ file, paths: pathsOf(file) }] : []
  })
}

/** `path` is relative to the project. */
export const appliesTo = ({ paths }: PathRule, path: string): boolean =>
  paths.some((pattern) => matchesGlob(path, pattern.replace(/^\.\//, '')))

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return [] // most projects have none
  }
}

function pathsOf(file: string): string[] {
  try {
    const read = readFrontmatter(readPlainFile(file))
    const paths = read.ok ? read.fields['paths'] : undefined
    return [paths ?? []]
      .flat()
      .flatMap((each) => outsideBraces(String(each)))
      .filter((each) => each !== '')
  } catch {
    return []
  }
}

/** `src/**, *.{ts,tsx}` is two patterns. */
function outsideBraces(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const letter of text) {
    if (letter === '{') depth++
    if (letter === '}') depth--
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts.map((part) => part.trim())
}
