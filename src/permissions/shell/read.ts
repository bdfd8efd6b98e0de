/** Reads a command line as bash would, and tells every simple command in it, however deep, and what stays unknown. */
import {
  type Assignment,
  type CommandArgument,
  forEachChild,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { HOLE } from '../wildcard.ts'
import { HOME, PWD, type Reading, type ShellCommand, type ShellWord } from './command.ts'
import { look } from './scripts.ts'
import { assignmentIn, namedIn, setting, tells } from './variables.ts'
import { nameOf } from './wrappers.ts'

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

interface LineReading extends Reading {
  /** Whether it holds text that bash would run if it evaluated it a second time, and whether anything makes it do so. */
  readonly dormant: boolean
  readonly evaluates: boolean
}

function readLine(source: string, depth: number): LineReading {
  const nothing = (unknown: string) => ({ commands: [], unknown, dormant: false, evaluates: false })
  if (source.length > longest) return nothing(`it is longer than ${longest} characters`)
  if (deceptive.test(source)) return nothing('it holds invisible or control characters')
  if (depth > deepest) return nothing('it nests commands too deeply')
  const found: ShellCommand[] = []
  let unknown: string | undefined
  let dormant = false
  let evaluates = false
  const notKnown = (why: string | undefined) => {
    unknown ??= why
  }
  const readInner = (script: string) => {
    const inner = readLine(script, depth + 1)
    found.push(...inner.commands)
    notKnown(inner.unknown)
    dormant ||= inner.dormant
    evaluates ||= inner.evaluates
  }
  /** A variable is set: by an assignment, or otherwise, and then by no rule's leave. */
  const set = (name: string, value: ShellWord | undefined) => {
    const { script, unknown } = setting(name, value)
    notKnown(unknown)
    if (script !== undefined) readInner(script)
  }
  const setByName = (name: string) => {
    set(name, undefined)
    if (tells(name)) found.push({ ...nothingRuns, variables: [name], known: {} })
  }

  /** `kept`: in a place where text is put aside for later; `fed`: where something is written to the input. */
  const visit = (node: SyntaxNode, kept: boolean, fed: boolean): void => {
    if (node.type === 'Script' && node.errors?.length) {
      notKnown(`it cannot be parsed (${node.errors[0]!.message})`)
    }
    if ('type' in node && (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') && !node.script) {
      notKnown('a substitution in it cannot be parsed')
    }
    if (node.type === 'ParameterExpansion' && node.operation?.type === 'Transform') {
      notKnown('it expands a variable as a prompt or as code (${…@…})')
    }
    if (quotesWithin(node))
      notKnown('it has quotes or escapes within ${…}, $((…)) or a subscript, which are not read as bash reads them')
    if (isEvaluated(node)) evaluates = true
    const text = plainText(node)
    if (text !== undefined && (runnable.test(text) || (kept && text.endsWith('$')))) dormant = true
    const name = nameSetBy(node)
    if (name !== undefined) setByName(name)
    if (node.type === 'Redirected') found.push({ ...nothingRuns, ...files(node.redirects), known: {} })
    if (node.type === 'Command') {
      const words = [...(node.name ? [node.name] : []), ...node.args].map(shellWord)
      const prefix = node.prefix.filter((each) => each.type === 'Assignment')
      const variables = prefix.map((each) => each.name)
      const opened = files(node.redirects)
      const given = fed || opened.reads.length + opened.input.length > 0
      const command = { words, variables, assignments: written(prefix), ...opened, fed: given, known: {} }
      found.push(command)
      for (const each of prefix) set(each.name, each.value.type === 'Word' ? shellWord(each.value) : undefined)
      for (const word of words) {
        const given = assignmentIn(word)
        if (given) set(given.name, given.value)
      }
      for (const each of namedIn(nameOf(words), words)) setByName(each)
      const seen = look(command)
      if (seen.evaluates) evaluates = true
      notKnown(seen.unknown)
      for (const script of seen.scripts) readInner(script)
    }
    const keeps = keepsText(node)
    forEachChild(node, (child) =>
      visit(
        child,
        keeps === 'all' || (keeps === 'words' && child.type === 'Word') || (kept && keeps !== 'none'),
        fed || node.type === 'Redirected' || (node.type === 'Pipeline' && child !== node.commands[0]),
      ),
    )
  }
  visit(parse(source), false, false)
  if (dormant && evaluates) notKnown('it may evaluate quoted text as code')
  return { commands: found, unknown, dormant, evaluates }
}

/** Assignments as text, or undefined when only the run can tell what they set. */
function written(prefix: readonly Assignment[]): string | undefined {
  const known = ({ index, value }: Assignment) => !index && value.type === 'Word' && shellWord(value).literal
  return prefix.every(known) ? prefix.map((each) => each.text).join(' ') : undefined
}

const nothingRuns = { words: [], variables: [], reads: [], writes: [], input: [] } as const

/** Text which bash would run if it took it for code; also as printf spells it. */
const runnable = /\$[([{]|`|\\(0?44|0?140|[xu]0*24|[xu]0*60)/i

/** The text that a node says as it stands. */
function plainText(node: SyntaxNode): string | undefined {
  if (node.type === 'Literal' || node.type === 'SingleQuoted' || node.type === 'AnsiCQuoted') return node.value
  if (node.type === 'Word') return node.parts === undefined ? node.value : undefined
  return node.type === 'HereDocBody' && node.parts === undefined ? node.text : undefined
}

/**
 * Within `${…}`, `$((…))` and subscripts bash changes what quotes and backslashes mean with what stands around them, so where
 * such a part ends is certain only without them.
 */
function quotesWithin(node: SyntaxNode): boolean {
  if (node.type === 'ParameterExpansion')
    return /['"`\\]|\$[({]|[<>]\(/.test(node.text.slice(2)) && !plainNested(node.text)
  if (node.type === 'Assignment') {
    const elements = node.value.type === 'ArrayValue' ? node.value.elements : []
    return [node.index?.text ?? '', ...elements.map((each) => (each.text.startsWith('[') ? each.text : ''))].some(
      (text) => hides.test(text),
    )
  }
  return /^Arithmetic/.test(node.type) && 'text' in node && hides.test(String(node.text).replace(/^\$?\(\(/, ''))
}

const hides = /['"`\\]|\$[({]/
/** `${x:-$(date)}`, `${x%$(y)}`: one substitution, at the end, with nothing in it that could be read in two ways. */
const plainNested = (text: string): boolean =>
  /^\$\{\w+(:?[-+=?]|[#%]{1,2})[\w./: -]*\$(\([\w./ -]*\)|\{\w+\})\}$/.test(text)

const simpleIndex = /^(@|\*|-?\d*)$/

/** Whether bash calculates here: names in it are replaced by their values, and those are read as code again. */
function isEvaluated(node: SyntaxNode): boolean {
  if (/^(Arithmetic|Test)/.test(node.type)) return true
  if (node.type === 'Assignment') {
    const elements = node.value.type === 'ArrayValue' ? node.value.elements : []
    return !simpleIndex.test(node.index?.text ?? '') || elements.some((each) => each.text.startsWith('['))
  }
  if (node.type !== 'ParameterExpansion') return false
  return node.prefix === '!' || node.operation?.type === 'Slice' || !simpleIndex.test(node.index?.text ?? '')
}

/** The variable that something other than an assignment sets: a loop, `${X:=y}`, `{X}>file`, `((X=1))`, `coproc X`. */
function nameSetBy(node: SyntaxNode): string | undefined {
  if (node.type === 'For' || node.type === 'Select' || node.type === 'Coproc') return node.name?.value
  if (node.type === 'ParameterExpansion')
    return /^:?=$/.test(node.operation?.operator ?? '') ? node.parameter : undefined
  if (node.type === 'ArithmeticBinary') {
    const assigns = /^[^=!<>]*=$|^(<<|>>)=$/.test(node.operator) && node.left.type === 'ArithmeticWord'
    return assigns && node.left.type === 'ArithmeticWord' ? node.left.value : undefined
  }
  if (node.type !== 'Redirect' && node.type !== 'HereDoc' && node.type !== 'HereString') return undefined
  return node.descriptor?.type === 'FileDescriptorVariable' ? node.descriptor.name : undefined
}

/** Which of a node's children are put aside: a piece of them may be half of what a later piece completes. */
function keepsText(node: SyntaxNode): 'all' | 'words' | 'none' | 'as before' {
  if (node.type === 'Assignment' || node.type === 'ParameterExpansion' || node.type === 'HereString') return 'all'
  if (node.type === 'For' || node.type === 'Select') return 'words'
  if (node.type === 'Command') return /^(set|printf|echo|tr)$/.test(node.name?.value ?? '') ? 'words' : 'none'
  return 'as before'
}

function files(redirects: readonly Redirection[]): Pick<ShellCommand, 'reads' | 'writes' | 'input'> {
  const reads: ShellWord[] = []
  const writes: ShellWord[] = []
  const input: string[] = []
  for (const each of redirects) {
    if (each.type === 'HereDoc') input.push(each.body.text)
    if (each.type === 'HereString' && each.target) input.push(each.target.value)
    if (each.type !== 'Redirect' || !each.target) continue
    const target = shellWord(each.target)
    const duplicates = (each.operator === '>&' || each.operator === '<&') && /^(\d+-?|-)$/.test(target.value)
    if (duplicates) continue
    if (each.operator.startsWith('<')) reads.push(target)
    if (each.operator !== '<' && each.operator !== '<&') writes.push(target)
  }
  return { reads, writes, input }
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
  const tilde = asPath ? /^~[^/]*(?=\/|$)/.exec(word.text)?.[0] : undefined
  const value = word.parts ? word.parts.map((part) => decodePart(part, state, asPath)).join('') : word.value
  return tilde && value.startsWith(tilde) ? (tildes[tilde] ?? HOLE) + value.slice(tilde.length) : value
}

/** What a tilde at the start stands for; another name is someone else's home. */
const tildes: Readonly<Record<string, string>> = { '~': HOME, '~+': PWD }

function decodePart(part: SyntaxNode, state: Decoded, asPath: boolean): string {
  if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') return part.value
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') {
    return part.parts.map((each) => decodePart(each, state, asPath)).join('')
  }
  state.literal = false
  if (part.type === 'Glob' || (part.type === 'BraceExpansion' && /^[\w./,*?{}@:+-]+$/.test(part.text))) {
    state.glob = true
    return asPath ? part.text : HOLE
  }
  if (asPath && part.type === 'ProcessSubstitution') return '/dev/fd/63' // what is in it is judged as commands
  if (asPath && (part.type === 'SimpleExpansion' || part.type === 'ParameterExpansion')) {
    if (/^\$\{?HOME\}?$/.test(part.text)) return HOME
    if (/^\$\{?PWD\}?$/.test(part.text)) return PWD
  }
  return HOLE
}
