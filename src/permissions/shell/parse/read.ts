/** Reads a command line as bash would, and tells every simple command in it, however deep, and what stays unknown. */
import { type Assignment, type CommandArgument, forEachChild, parse, type Redirection, type SyntaxNode } from 'unbash'
import { repeated } from '../../recent.ts'
import { type Reading, type ShellCommand, type ShellWord, shellCommand } from './command.ts'
import { look } from './scripts.ts'
import { assignmentIn, namedIn, setsUnknown, setting, tells } from './variables.ts'
import { shellWord } from './words.ts'
import { formsOf, nameOf } from './wrappers.ts'

const longest = 10_000
const deepest = 8
/** Characters that look like nothing or like something else on a screen, and bytes that no command holds. */
const deceptive = /[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/

/** An agent asks about the same lines again and again. */
const readings = repeated<Reading>(500)

export const readShell = (source: string): Reading =>
  source.length > longest ? readLine(source, 0) : readings.of(source, () => readLine(source, 0))

interface LineReading extends Reading {
  /** Whether it holds text that bash would run if it evaluated it a second time, and whether anything makes it do so. */
  readonly dormant: boolean
  readonly evaluates: boolean
  /** Whether it takes text that a command prints, or a file holds, and whether bash calculates with names in it. */
  readonly prints: boolean
  readonly calculates: boolean
}

function readLine(source: string, depth: number): LineReading {
  const reader = new Reader(source, depth, /[$`\\]/.test(source))
  reader.notKnown(whyUnread(source, depth))
  if (reader.unknown !== undefined) return reader
  reader.visit(parse(source), false, false, depth > 0)
  if (reader.dormant && reader.evaluates) reader.notKnown('it may evaluate quoted text as code')
  if (reader.prints && reader.calculates)
    reader.notKnown('it may calculate with what a command prints, which bash reads as code')
  return reader
}

function whyUnread(source: string, depth: number): string | undefined {
  if (source.length > longest) return `it is longer than ${longest} characters`
  if (deceptive.test(source)) return 'it holds invisible or control characters'
  return depth > deepest ? 'it nests commands too deeply' : undefined
}

type CommandNode = Extract<SyntaxNode, { type: 'Command' }>

/** New lines are made of old commands: each is read once as long as it stays the same, by whether it is fed. */
const commandsRead = { fed: repeated<LineReading>(1000), alone: repeated<LineReading>(2000) }
const longestKept = 400
/** Within substitutions what a character means depends on what is around them. */
const substitutes = /[`]|[$<>]\(|\$[{[]/

/** Collects what a tree holds. */
class Reader implements LineReading {
  readonly commands: ShellCommand[] = []
  unknown: string | undefined = undefined
  dormant = false
  evaluates = false
  prints = false
  calculates = false
  private readonly source: string
  private readonly depth: number
  /** Without these characters no text in it is code. */
  private readonly mayHoldCode: boolean

  constructor(source: string, depth: number, mayHoldCode: boolean) {
    this.source = source
    this.depth = depth
    this.mayHoldCode = mayHoldCode
  }

  notKnown(why: string | undefined): void {
    this.unknown ??= why
  }

  /**
   * `kept`: in a place where text is put aside for later; `fed`: where something is written to the input; `inside`: what it
   * means may depend on what it stands in.
   */
  visit(node: SyntaxNode, kept: boolean, fed: boolean, inside: boolean): void {
    switch (node.type) {
      case 'Word': {
        const { parts } = node
        if (parts) for (const part of parts) this.visit(part, kept, fed, inside)
        else this.noteText(node.value, kept)
        return
      }
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        this.noteText(node.value, kept)
        return
      case 'Command':
        if (inside) this.readCommand(node, fed)
        else this.add(this.commandReading(node, fed))
        return
      case 'Script':
        if (node.errors?.length) this.notKnown(`it cannot be parsed (${node.errors[0]!.message})`)
        for (const child of node.commands) this.visit(child, kept, fed, inside)
        return
      case 'Statement':
        this.visit(node.command, kept, fed, inside)
        return
      case 'AndOr':
      case 'CompoundList':
        for (const child of node.commands) this.visit(child, kept, fed, inside)
        return
      case 'Pipeline':
        for (const child of node.commands) this.visit(child, kept, fed || child !== node.commands[0], inside)
        return
      default:
        this.visitOther(node, kept, fed, inside)
    }
  }

  private noteText(text: string, kept: boolean): void {
    if (this.mayHoldCode && (runnable.test(text) || (kept && text.endsWith('$')))) this.dormant = true
  }

  private visitOther(node: SyntaxNode, kept: boolean, fed: boolean, inside: boolean): void {
    const substitutes = node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution'
    if (substitutes && !node.script) this.notKnown('a substitution in it cannot be parsed')
    if (node.type === 'ParameterExpansion' && node.operation?.type === 'Transform') {
      this.notKnown('it expands a variable as a prompt or as code (${…@…})')
    }
    if (quotesWithin(node))
      this.notKnown(
        'it has quotes or escapes within ${…}, $((…)) or a subscript, which are not read as bash reads them',
      )
    if (isEvaluated(node)) this.evaluates = true
    if (node.type === 'CommandExpansion' && !printsNumber.test(node.text)) this.prints = true
    if (isCalculated(node)) this.calculates = true
    if (node.type === 'HereDocBody' && node.parts === undefined) this.noteText(node.text, kept)
    const name = nameSetBy(node)
    if (name !== undefined) this.setByName(name)
    if (node.type === 'Redirected') this.commands.push(shellCommand(files(node.redirects)))
    const keeps = keepsText(node)
    const within = inside || substitutes || node.type === 'Coproc'
    forEachChild(node, (child) =>
      this.visit(
        child,
        keeps === 'all' || (keeps === 'words' && child.type === 'Word') || kept,
        fed || node.type === 'Redirected',
        within,
      ),
    )
  }

  private commandReading(node: CommandNode, fed: boolean): LineReading {
    const text = this.source.slice(node.pos, node.end)
    const read = () => {
      const reader = new Reader(this.source, this.depth, this.mayHoldCode)
      reader.readCommand(node, fed)
      return reader
    }
    // a slice of a long line would keep all of it in memory
    const keep = this.source.length <= longestKept && !substitutes.test(text) && !text.includes('<<')
    return keep ? commandsRead[fed ? 'fed' : 'alone'].of(text, read) : read()
  }

  private readCommand(node: CommandNode, fed: boolean): void {
    const words: ShellWord[] = node.name ? [shellWord(node.name)] : []
    const prefix = node.prefix.filter((each) => each.type === 'Assignment')
    for (const each of node.suffix) if (isArgument(each)) words.push(shellWord(each))
    const variables = prefix.map((each) => each.name)
    const { reads, writes, input } = files(node.redirects)
    const given = fed || reads.length + input.length > 0
    const command = shellCommand({ words, variables, assignments: written(prefix), reads, writes, input, fed: given })
    this.commands.push(command)
    for (const each of prefix) this.set(each.name, each.value.type === 'Word' ? shellWord(each.value) : undefined)
    for (const word of words) {
      const given = assignmentIn(word)
      if (given) this.set(given.name, given.value)
    }
    const forms = formsOf(command)
    for (const form of forms) {
      if (takesInput.has(nameOf(form))) this.prints = true
      if (calculates(form)) this.calculates = true
      for (const each of namedIn(nameOf(form), form)) this.setByName(each)
      if (setsUnknown(nameOf(form), form)) this.notKnown('it sets a variable whose name is only known when it runs')
    }
    const seen = look(command)
    if (seen.evaluates) this.evaluates = true
    this.notKnown(seen.unknown)
    for (const script of seen.scripts) this.readInner(script)
    const kept = forms.some((form) => keepsWords.has(nameOf(form)))
    for (const child of node.prefix) this.visit(child, false, fed, true)
    if (node.name) this.visit(node.name, kept, fed, true)
    for (const child of node.suffix) this.visit(child, kept && child.type === 'Word', fed, true)
  }

  private readInner(script: string): void {
    this.add(readLine(script, this.depth + 1))
  }

  private add({ commands, unknown, dormant, evaluates, prints, calculates }: LineReading): void {
    for (const command of commands) this.commands.push(command)
    this.notKnown(unknown)
    this.dormant ||= dormant
    this.evaluates ||= evaluates
    this.prints ||= prints
    this.calculates ||= calculates
  }

  /** A variable is set: by an assignment, or otherwise, and then by no rule's leave. */
  private set(name: string, value: ShellWord | undefined): void {
    const { script, unknown } = setting(name, value)
    this.notKnown(unknown)
    if (script !== undefined) this.readInner(script)
  }

  private setByName(name: string): void {
    this.set(name, undefined)
    if (tells(name)) this.commands.push(shellCommand({ variables: [name] }))
  }
}

const isArgument = (node: CommandArgument | Redirection): node is CommandArgument =>
  node.type === 'Word' || node.type === 'Assignment'

/** Commands whose words are put aside. */
const keepsWords: ReadonlySet<string> = new Set(['set', 'printf', 'echo', 'tr'])

/** Assignments as text, or undefined when only the run can tell what they set. */
function written(prefix: readonly Assignment[]): string | undefined {
  const known = ({ index, value }: Assignment) => !index && value.type === 'Word' && shellWord(value).literal
  return prefix.every(known) ? prefix.map((each) => each.text).join(' ') : undefined
}

/** Text which bash would run if it took it for code; also as printf spells it. */
const runnable = /\$[([{]|`|\\(0?44|0?140|[xu]0*24|[xu]0*60)/i

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
  return node.type.startsWith('Arithmetic') && 'text' in node && hides.test(String(node.text).replace(/^\$?\(\(/, ''))
}

const hides = /['"`\\]|\$[({]/
/** `${x:-$(date)}`, `${x%$(y)}`: one substitution, at the end, with nothing in it that could be read in two ways. */
const plainNested = (text: string): boolean =>
  /^\$\{\w+(:?[-+=?]|[#%]{1,2})[\w./: -]*\$(\([\w./ -]*\)|\{\w+\})\}$/.test(text)

/** `[x]=1` within `a=(…)`, but not `[2]=1`. */
const openIndex = /^\[(?!-?\d+\]).*\]\+?=/s
const simpleIndex = /^(@|\*|-?\d*)$/

/** Whether bash calculates here: names in it are replaced by their values, and those are read as code again. */
function isEvaluated(node: SyntaxNode): boolean {
  if (node.type.startsWith('Arithmetic') || node.type.startsWith('Test')) return true
  if (node.type === 'Assignment') {
    const elements = node.value.type === 'ArrayValue' ? node.value.elements : []
    return !simpleIndex.test(node.index?.text ?? '') || elements.some((each) => each.text.startsWith('['))
  }
  if (node.type !== 'ParameterExpansion') return false
  return node.prefix === '!' || node.operation?.type === 'Slice' || !simpleIndex.test(node.index?.text ?? '')
}

/** `$(wc -l < a)`, `$(a | wc -l)`: one number, whatever is in the files. */
const printsNumber =
  /^(?:\$\(|`)\s*(?:[^;&|\n()`]+\|\s*)*(?:wc -[lwcm](?:\s*<\s*[\w./~-]+)?|nproc|id -u|date \+%s)\s*[)`]$/

const isNumber = /^(\d*|\$[#?$!])$/

/** Whether bash calculates with a name here: a value such as `a[$(x)]` runs what is in it. */
function isCalculated(node: SyntaxNode): boolean {
  if (node.type === 'ArithmeticWord') return !isNumber.test(node.value)
  if (node.type === 'TestBinary') return /^-(eq|ne|l[te]|g[te])$/.test(node.operator)
  if (node.type === 'TestUnary') return /^-[vR]$/.test(node.operator)
  if (node.type === 'Assignment') {
    const elements = node.value.type === 'ArrayValue' ? node.value.elements : []
    return !simpleIndex.test(node.index?.text ?? '') || elements.some((each) => openIndex.test(each.text))
  }
  if (node.type !== 'ParameterExpansion') return false
  if (node.prefix === '!' || !simpleIndex.test(node.index?.text ?? '')) return true
  const { operation } = node
  if (operation?.type !== 'Slice') return false
  return [operation.offset, operation.length].some((word) => !/^\s*-?\d*$/.test(word?.text ?? ''))
}

/** Builtins that calculate: `test -v "$x"`, `let x`, `declare -i x`, `read "a[$x]"`. */
function calculates(form: readonly ShellWord[]): boolean {
  const name = nameOf(form)
  if (name === 'let') return true
  if (!mayCalculate.test(name)) return false
  const isTested = /^(test|\[)$/.test(name)
  return form.some(({ value, literal }, at) => {
    if (isTested) return !literal && /^-[vR]$/.test(form[at - 1]?.value ?? '')
    return /^-\w*i/.test(value) || (!literal && value.includes('['))
  })
}
const mayCalculate = /^(test|\[|declare|typeset|local|export|readonly|read|printf|unset|mapfile|readarray|wait)$/

/** Builtins that put their input into variables. */
const takesInput: ReadonlySet<string> = new Set(['read', 'mapfile', 'readarray'])

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
function keepsText(node: SyntaxNode): 'all' | 'words' | 'as before' {
  if (node.type === 'Assignment' || node.type === 'ParameterExpansion' || node.type === 'HereString') return 'all'
  if (node.type === 'For' || node.type === 'Select') return 'words'
  return 'as before'
}

const noFiles = { reads: [], writes: [], input: [] } as const

function files(redirects: readonly Redirection[]): Pick<ShellCommand, 'reads' | 'writes' | 'input'> {
  if (redirects.length === 0) return noFiles
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
