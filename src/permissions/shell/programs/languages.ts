/** The small languages of sed and awk: whether a program in one of them runs commands or opens files. */
import { HOLE } from '../../wildcard.ts'
import type { ShellWord } from '../parse/command.ts'
import { nameOf } from '../parse/wrappers.ts'

/** Whether only a rule without wildcards may allow it: its program runs commands or writes files, or cannot be seen. */
export function languageRuns(words: readonly ShellWord[]): boolean {
  const name = nameOf(words)
  if (name === 'sed') return sedLetters(words.map(({ value }) => value)).some((letter) => 'ewW?'.includes(letter))
  return awks.test(name) && awkRuns(words)
}

/** The `e` of GNU sed, which runs what it has put together, as a flag of `s` and as a command with its address. */
export const sedRuns = (words: readonly ShellWord[]): boolean =>
  sedLetters(words.map(({ value }) => (value.includes(HOLE) ? value.replaceAll(HOLE, 'x') : value))).includes('e')

const awks = /^[gmn]?awk$/

/** The commands of sed's scripts, each by its letter, and the flags of `s` that do more; `?`: it cannot be seen. */
function sedLetters(words: readonly string[]): readonly string[] {
  const scripts: string[] = []
  const operands: string[] = []
  const found: string[] = []
  const args = words.slice(1)
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!
    if (!arg.startsWith('-')) operands.push(arg)
    else if (/^--e/.test(arg)) scripts.push(arg.includes('=') ? arg.slice(arg.indexOf('=') + 1) : (args[++at] ?? ''))
    else if (/^--f/.test(arg)) found.push('?')
    else if (/^--l[a-z-]*$/.test(arg)) at++
    else if (arg === '-') operands.push(arg)
    else if (!arg.startsWith('--')) {
      const rest = arg.replace(/^-[nrEsuz]*/, '')
      if (rest.startsWith('e')) scripts.push(rest.length > 1 ? rest.slice(1) : (args[++at] ?? ''))
      else if (rest.startsWith('f')) found.push('?')
      else if (rest === 'l') at++
    }
  }
  if (scripts.length === 0 && !found.includes('?')) scripts.push(operands[0] ?? '')
  return [...found, ...lettersOf(scripts.join('\n'))]
}

const address =
  /^(?:\d+(?:~\d+)?|\$|[+~]\d+|\/(?:[^/\\]|\\[\s\S])*\/[IM]*|\\([^\\\n])(?:(?!\1)[^\\]|\\[\s\S])*\1[IM]*)\s*/
/** `1,20p`: what most scripts are. */
const printsLines = /^\d*(,\d+|,\$)?p$/
const toLineEnd = /(?:[^\\\n]|\\[\s\S])*/

/** Left to right, as sed reads it. A label ends where the strictest reading ends it. */
function lettersOf(script: string): readonly string[] {
  const found: string[] = []
  if (printsLines.test(script)) return found
  if (script.includes(HOLE)) return ['?']
  let rest = script
  const skip = (part: RegExp) => {
    rest = rest.slice(part.exec(rest)?.[0].length ?? 0)
  }
  while (rest !== '') {
    skip(/^[\s;}]+/)
    skip(address)
    if (rest.startsWith(',')) {
      skip(/^,\s*/)
      skip(address)
    }
    skip(/^[\s!]+/)
    const letter = rest[0]
    if (letter === undefined) break
    rest = rest.slice(1)
    if (letter === '#') skip(/[^\n]*/)
    else if (/[aic]/.test(letter)) skip(toLineEnd)
    else if (/[rRwWe]/.test(letter)) {
      found.push(letter)
      skip(/[^\n]*/)
    } else if (letter === 's' || letter === 'y') {
      const parts = /^([^\\\n])(?:(?!\1)[^\\]|\\[\s\S])*\1(?:(?!\1)[^\\]|\\[\s\S])*\1/.exec(rest)
      if (!parts) return [...found, '?']
      rest = rest.slice(parts[0].length)
      const flags = letter === 's' ? (/[gpiImMew\d]*/.exec(rest)?.[0] ?? '') : ''
      const writes = flags.indexOf('w')
      found.push(...(writes < 0 ? flags : flags.slice(0, writes + 1)))
      if (writes < 0) rest = rest.slice(flags.length)
      else skip(/[^\n]*/)
    } else if (/[:btT]/.test(letter)) skip(/\s*[^\s;}]*/)
    else if (/[qQlLv]/.test(letter)) skip(/\s*[\d.]*/)
    else if (!/[{}=dDgGhHnNpPxFz]/.test(letter)) return [...found, '?']
  }
  return found
}

function awkRuns(words: readonly ShellWord[]): boolean {
  const args = words.slice(1)
  if (args.some(({ value }) => /^-([filEWDpo]|-(file|include|load|exec|source|debug|dump|profile|pretty))/.test(value)))
    return true
  if (args.some(({ value, literal }) => !literal && /[{}]|^\u0000/.test(value))) return true
  return args.some(({ value }) => awkStarts.test(bareAwk(value)))
}

/** In awk without its strings: a command, a file that is read or written, code from elsewhere. */
export const awkStarts = /\bsystem\b|\bgetline\b|\||@|\bprintf?\b[^;}\n]*>|\bARG[VC]\b/

/** An awk program without strings, regular expressions, comments and `||`: a `/` after these marks starts an expression. */
export function bareAwk(program: string): string {
  return program.replace(
    /"(?:[^"\\]|\\[\s\S])*"|#[^\n]*|(^|[(,;{}!~\n]|&&|\|\|)(\s*)\/(?:[^/\\\n]|\\.)*\/|\|\|/g,
    (text, mark?: string) => (text.startsWith('"') ? '""' : (mark ?? '').replace('||', '')),
  )
}
