/** The files that a shell word with wildcards stands for now, so that each can be judged. */
import { join } from 'node:path'
import { segmentRegex } from '../../paths/pattern.ts'
import { entriesIn, type FileView } from '../../paths/view.ts'
import { HOLE } from '../../wildcard.ts'
import { type ShellWord, shellWordOf } from '../parse/command.ts'

const most = 2000

/** Undefined: too many to look at, or a pattern that only bash expands alike (braces with ranges, extended globs). */
export function expandGlob(path: string, directory: string, files: FileView): readonly string[] | undefined {
  const patterns = expandBraces(path)
  if (!patterns) return undefined
  const found: string[] = []
  for (const pattern of patterns) {
    const parts = pattern.split('/').filter((part) => part !== '' && part !== '.')
    let at = [pattern.startsWith('/') ? '/' : directory]
    for (const part of parts) {
      at = wild.test(part)
        ? at.flatMap((folder) => matching(folder, part, files))
        : at.map((folder) => join(folder, part))
      if (at.length > most) return undefined
    }
    found.push(...at)
  }
  return found.length > most ? undefined : found
}

const wild = /[*?[]/

function matching(folder: string, part: string, files: FileView): string[] {
  const entries = entriesIn(folder, files)
  if (entries.length === 0) return [] // not there: the command gets the pattern as it is
  const name = new RegExp(`^${segmentRegex(part)}$`, 's')
  return entries.flatMap(({ name: entry }) =>
    (part.startsWith('.') || !entry.startsWith('.')) && name.test(entry) ? [join(folder, entry)] : [],
  )
}

/** `{a,b}` without nesting. */
export function expandBraces(path: string): readonly string[] | undefined {
  if (/[\\'"]|[!@+?*]\(|\[\[|\[:/.test(path)) return undefined
  const brace = /^(.*?)\{([^{}]*)\}(.*)/s.exec(path)
  if (!brace) return /[{}]/.test(path) ? undefined : [path]
  const [, before = '', inner = '', after = ''] = brace
  if (!inner.includes(',') || inner.includes('..')) return undefined
  const rest = expandBraces(after)
  return rest && inner.split(',').flatMap((each) => rest.map((end) => before + each + end))
}

/** The words that braces make of one, each of which may be an option. Undefined: only bash knows them. */
export function bracesApart(words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  if (!words.some(hasBraces)) return words
  const found: ShellWord[] = []
  for (const word of words) {
    const paths = !hasBraces(word) ? undefined : /["'\\$`]/.test(word.text) ? none : (expandBraces(word.path) ?? none)
    if (paths === none) return undefined
    if (paths) found.push(...paths.flatMap((path) => (path === '' ? [] : [openWord(path)])))
    else found.push(word)
  }
  return found
}

const none: readonly string[] = []
const hasBraces = ({ glob, path }: ShellWord): boolean => glob && path.includes('{')

function openWord(path: string): ShellWord {
  const value = path.replace(/\[[^\]]*\]|[*?\u0001\u0002]/g, HOLE)
  return shellWordOf(value, path, path, value === path, wild.test(path))
}
