/** Reads a command line as bash would, and tells every simple command in it, however deep, and what stays unknown. */
import { type CommandArgument, forEachChild, parse, type Redirection, type SyntaxNode, type Word } from 'unbash'
import type { Allowable } from './bash.ts'
import type { FileUse } from './shell-files.ts'
import type { Spellings } from './spellings.ts'
import { HOLE } from './wildcard.ts'
import { look } from './wrappers.ts'

/** A word of a command. */
export interface ShellWord {
  /** After quotes are taken off; HOLE for what is only known at run time. */
  readonly value: string
  /** As written where quotes matter, else the value. */
  readonly text: string
  /** Nothing in it depends on the run. */
  readonly literal: boolean
  /** Has wildcards for the shell to expand. */
  readonly glob: boolean
  /** The value with wildcards and the known variables HOME and PWD left in, as a path. */
  readonly path: string
}

/** One simple command: what runs, what is set for it and which files the shell opens for it. */
export interface ShellCommand {
  /** Empty for a line that only sets variables or opens files. */
  readonly words: readonly ShellWord[]
  readonly variables: readonly string[]
  readonly reads: readonly ShellWord[]
  readonly writes: readonly ShellWord[]
  /** What was worked out about it, once and when it was needed. */
  readonly known: Known
}

interface Known {
  spellings?: Spellings
  files?: readonly FileUse[]
  allowable?: readonly Allowable[]
}

export interface Reading {
  readonly commands: readonly ShellCommand[]
  /** Why some of it cannot be known, where that is so. */
  readonly unknown: string | undefined
}

/** The marks for variables whose value we know, in `ShellWord.path`. */
export const HOME = '\u0001'
export const PWD = '\u0002'

const longest = 10_000
const deepest = 8
/** Characters that look like nothing or like something else on a screen, and bytes that no command holds. */
const deceptive = /[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/

/** The lines read last: an agent asks about the same ones again and again. */
const readings = new Map<string, Reading>()
const mostReadings = 1000

export function readShell(source: string): Reading {
  const known = readings.get(source)
  const reading = known ?? readLine(source, 0)
  if (known)
    readings.delete(source) // to the end: what is not asked for again goes first
  else if (readings.size >= mostReadings) readings.delete(readings.keys().next().value!)
  if (source.length <= longest) readings.set(source, reading)
  return reading
}

function readLine(source: string, depth: number): Reading {
  if (source.length > longest) return { commands: [], unknown: `it is longer than ${longest} characters` }
  if (deceptive.test(source)) return { commands: [], unknown: 'it holds invisible or control characters' }
  if (depth > deepest) return { commands: [], unknown: 'it nests commands too deeply' }
  const found: ShellCommand[] = []
  let unknown: string | undefined
  const notKnown = (why: string) => {
    unknown ??= why
  }
  /** Text that bash evaluates a second time, and whether anything here makes it do so. */
  let dormant = false
  let evaluates = false

  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Script' && node.errors?.length) {
      notKnown(`it cannot be parsed (${node.errors[0]!.message})`)
    }
    if ('type' in node && (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') && !node.script) {
      notKnown('a substitution in it cannot be parsed')
    }
    if (node.type === 'ParameterExpansion' && node.operation?.type === 'Transform') {
      notKnown('it expands a variable as a prompt or as code (${…@…})')
    }
    if (/^(Arithmetic|Test)/.test(node.type)) evaluates = true
    if ((node.type === 'SingleQuoted' || node.type === 'AnsiCQuoted') && /\$\(|`/.test(node.value)) dormant = true
    if (node.type === 'Word' && node.parts === undefined && /\$\(|`/.test(node.value)) dormant = true
    if (node.type === 'Redirected') found.push({ words: [], variables: [], ...files(node.redirects), known: {} })
    if (node.type === 'Command') {
      const words = [...(node.name ? [node.name] : []), ...node.args].map(shellWord)
      const variables = node.prefix.filter((each) => each.type === 'Assignment').map((each) => each.name)
      found.push({ words, variables, ...files(node.redirects), known: {} })
      const seen = look(words)
      if (seen.evaluates) evaluates = true
      if (seen.unknown) notKnown(seen.unknown)
      for (const script of seen.scripts) {
        const inner = readLine(script, depth + 1)
        found.push(...inner.commands)
        if (inner.unknown) notKnown(inner.unknown)
      }
    }
    forEachChild(node, visit)
  }
  visit(parse(source))
  const sets = ({ variables, words }: ShellCommand) =>
    variables.some((name) => moving.test(`${name}=`)) || words.some((word) => moving.test(word.value))
  if (found.some(sets)) notKnown('it sets HOME or PWD, on which its paths depend')
  if (dormant && evaluates) notKnown('it may evaluate quoted text as code')
  return { commands: found, unknown }
}

const moving = /^(HOME|PWD|OLDPWD|CDPATH)\+?=/

function files(redirects: readonly Redirection[]): Pick<ShellCommand, 'reads' | 'writes'> {
  const reads: ShellWord[] = []
  const writes: ShellWord[] = []
  for (const each of redirects) {
    if (each.type !== 'Redirect' || !each.target) continue
    const target = shellWord(each.target)
    const duplicates = (each.operator === '>&' || each.operator === '<&') && /^(\d+-?|-)$/.test(target.value)
    if (duplicates) continue
    if (each.operator.startsWith('<')) reads.push(target)
    if (each.operator !== '<' && each.operator !== '<&') writes.push(target)
  }
  return { reads, writes }
}

const needsNoQuotes = /^[\w./:=@%+,~^-]+$/

function shellWord(word: CommandArgument): ShellWord {
  if (word.type === 'Assignment') {
    // `export X=$y`: an argument in the form of an assignment
    const inner = word.value.type === 'Word' ? shellWord(word.value) : undefined
    const value = inner ? `${word.name}${word.append ? '+' : ''}=${inner.value}` : `${word.name}=${HOLE}`
    const literal = inner?.literal === true && word.index === undefined
    return { value, text: word.text, literal, glob: false, path: inner?.path ?? HOLE }
  }
  const state = { literal: true, glob: false }
  const value = decode(word, state, false)
  const path = decode(word, { literal: true, glob: false }, true)
  const text = state.literal && needsNoQuotes.test(value) ? value : word.text
  return { value, text, path, ...state }
}

type Decoded = { literal: boolean; glob: boolean }

function decode(word: Word, state: Decoded, asPath: boolean): string {
  const tilde = asPath && /^~(?=\/|$)/.test(word.text)
  const value = word.parts ? word.parts.map((part) => decodePart(part, state, asPath)).join('') : word.value
  return tilde ? HOME + value.slice(1) : value
}

function decodePart(part: SyntaxNode, state: Decoded, asPath: boolean): string {
  if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') return part.value
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') {
    return part.parts.map((each) => decodePart(each, state, asPath)).join('')
  }
  state.literal = false
  if (part.type === 'Glob') {
    state.glob = true
    return asPath ? part.text : HOLE
  }
  if (asPath && (part.type === 'SimpleExpansion' || part.type === 'ParameterExpansion')) {
    if (/^\$\{?HOME\}?$/.test(part.text)) return HOME
    if (/^\$\{?PWD\}?$/.test(part.text)) return PWD
  }
  return HOLE
}
