/** Finds, in a command line, reads that would walk the whole repository or more. Judges; never runs anything. */
import { resolve } from 'node:path'
import { late } from '../lazy-builtins.ts'
import { isBelow } from '../session/paths.ts'

/** The first unbounded read in a command, as the words it consists of. */
export function unboundedRead(command: string, startFolder: string, repoRoot: string): string | undefined {
  // what lies beyond is unknown, and unknown is not harmless
  if (command.length > longestCommand) return `${command.slice(0, 60)}… (${command.length} characters)`
  let cwd = startFolder
  for (const words of segments(command)) {
    const [name, ...rest] = withoutPrefix(words)
    if (name === undefined) continue
    const program = baseName(name)
    if (program === 'cd' || program === 'pushd' || program === 'set-location') {
      const to = rest.find((word) => !word.startsWith('-')) ?? (program === 'cd' ? '~' : '.')
      cwd = resolve(cwd, expandHome(to))
      continue
    }
    const option = shells.has(program) ? rest.findIndex((word) => /^-[A-Za-z]*c[A-Za-z]*$/.test(word)) : -1
    const script = option < 0 ? undefined : rest[option + 1]
    if (script !== undefined) {
      const inner = unboundedRead(script, cwd, repoRoot)
      if (inner) return inner
    }
    const operands = Object.hasOwn(readers, program) ? readers[program]!(rest) : undefined
    if (operands?.some((operand) => isUnbounded(operand, cwd, repoRoot))) return [program, ...rest].join(' ')
  }
  return undefined
}

const shells = new Set(['sh', 'bash', 'zsh', 'dash'])

/** Longer ones are not looked through: a guard must be quick. */
const longestCommand = 65_536

/** The words of every command in a line, quotes undone; undefined where it is too long to be looked through. */
export const wordsIn = (command: string): string[] | undefined =>
  command.length > longestCommand ? undefined : commands(command).flat()

/** What a recursive reader walks; undefined when this use of it is not recursive. */
type Reader = (words: string[]) => string[] | undefined

const short = (words: string[], letters: RegExp) =>
  words.some((word) => /^-[A-Za-z]+$/.test(word) && letters.test(word))
const orHere = (operands: string[]) => (operands.length > 0 ? operands : ['.'])
const plain = (words: string[]) => words.filter((word) => !word.startsWith('-'))

const grep: Reader = (words) => {
  const recursive =
    short(words, /[rR]/) || words.some((word) => word === '--recursive' || word === '--dereference-recursive')
  return recursive ? orHere(searchOperands(words)) : undefined
}
/** These read ignore files, so that without an operand they stay within what the repository calls its own. */
const ignoring: Reader = (words) => searchOperands(words)
const everything: Reader = (words) => orHere(plain(words))

const readers: Record<string, Reader> = {
  grep,
  egrep: grep,
  fgrep: grep,
  rg: ignoring,
  ag: ignoring,
  ack: ignoring,
  find(words) {
    const end = words.findIndex((word) => /^[-(!]/.test(word) && !/^-[HLP]$/.test(word))
    return orHere(plain(end < 0 ? words : words.slice(0, end)))
  },
  ls: (words) =>
    short(words, /R/) || words.some((word) => /^--?recursive$|^-recurse$/i.test(word)) ? everything(words) : undefined,
  tree: everything,
  du: everything,
  dir: (words) =>
    words.some((word) => /^\/s$/i.test(word)) ? orHere(words.filter((word) => !/^\/[a-z]/i.test(word))) : undefined,
  'get-childitem': (words) => (words.some((word) => /^-r(?:ecurse)?$/i.test(word)) ? everything(words) : undefined),
}
readers['gci'] = readers['get-childitem']!

const takesValue =
  /^-[a-zA-Z]*[ABCmefgtTdMj]$|^--(?:after-context|before-context|context|max-count|glob|type|type-not|max-depth|threads|regexp|file)$/

/** The paths of a search: what stands after the pattern, unless the pattern came as an option. */
function searchOperands(words: string[]): string[] {
  const operands: string[] = []
  let patternGiven = false
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (word === '--') {
      operands.push(...words.slice(i + 1))
      break
    }
    if (!word.startsWith('-') || word === '-') operands.push(word)
    else {
      if (/^-[a-zA-Z]*[ef]$|^--(?:regexp|file)\b|^--files$/.test(word)) patternGiven = true
      if (takesValue.test(word)) i++
    }
  }
  return (patternGiven ? operands : operands.slice(1)).filter((word) => word !== '-')
}

function isUnbounded(operand: string, cwd: string, repoRoot: string): boolean {
  if (/^[A-Za-z]:[\\/]*\**$/.test(operand)) return true
  const path = resolve(cwd, expandHome(operand).replace(/\/?\*+$/, '') || '/')
  return isBelow(path, repoRoot) || path === homedir()
}

const homedir = (): string => late('node:os').homedir()

const expandHome = (word: string): string =>
  word.replace(/^(?:~|\$HOME|\$\{HOME\}|\$env:USERPROFILE|%USERPROFILE%)(?=$|[\\/])/i, () => homedir())

const baseName = (name: string): string =>
  name
    .replace(/^.*[\\/]/, '')
    .replace(/\.exe$/i, '')
    .toLowerCase()

const prefixes = new Set(['sudo', 'env', 'time', 'nice', 'nohup', 'command', 'exec', 'builtin', 'xargs'])

function withoutPrefix(words: string[]): string[] {
  let at = 0
  for (let after = ''; at < words.length; at++) {
    const word = words[at]!
    if (/^[A-Za-z_]\w*=/.test(word)) continue
    if (prefixes.has(baseName(word))) after = word
    else if (!(after !== '' && /^-/.test(word))) break
  }
  return words.slice(at)
}

const segments = (command: string): string[][] => commands(command).map(withoutRedirects)

/** Simple commands as lists of words, quotes undone. Substitutions and groups start a command of their own. */
function commands(command: string): string[][] {
  const found: string[][] = []
  let words: string[] = []
  let word: string | undefined
  const endWord = () => {
    if (word !== undefined) words.push(word)
    word = undefined
  }
  const endCommand = () => {
    endWord()
    if (words.length > 0) found.push(words)
    words = []
  }
  for (let i = 0; i < command.length; i++) {
    const char = command[i]!
    if (char === "'" || char === '"') {
      let end = i + 1
      while (end < command.length && command[end] !== char) end += char === '"' && command[end] === '\\' ? 2 : 1
      word = (word ?? '') + command.slice(i + 1, end)
      i = end
    } else if (char === '\\' && /[\s"'\\;&|()$`]/.test(command.charAt(i + 1))) {
      if (command[i + 1] !== '\n') word = (word ?? '') + command[i + 1]
      i++
    } else if (';&|\n()`'.includes(char)) endCommand()
    else if (char === ' ' || char === '\t' || char === '\r') endWord()
    else if (char === '#' && word === undefined) while (i + 1 < command.length && command[i + 1] !== '\n') i++
    else if ((char === '>' || char === '<') && word === undefined) words.push('--redirect')
    else word = (word ?? '') + char
  }
  endCommand()
  return found
}

/** `> file` is no operand. */
function withoutRedirects(words: string[]): string[] {
  return words.filter(
    (word, i) =>
      word !== '--redirect' &&
      words[i - 1] !== '--redirect' &&
      !/^\d*[<>]/.test(word) &&
      !/^\d?>{1,2}&?\d?$/.test(words[i - 1] ?? ''),
  )
}
