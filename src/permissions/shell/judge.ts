/** Rules on Bash: held against every command in a line, in every spelling it may have. */
import { basename, dirname, join } from 'node:path'
import { ruleMatches } from '../match.ts'
import { modeSays } from '../modes.ts'
import { allowingRule, type FileAccess, fileRuleMatches } from '../paths/access.ts'
import { type PathPattern, reachesInto, rememberingReal, resolvePaths } from '../paths/pattern.ts'
import { treeHolds } from '../paths/tree.ts'
import type { Finding, PermissionQuestion } from '../question.ts'
import type { Behavior, Rule } from '../rule.ts'
import type { Rules } from '../rules.ts'
import { couldMatch, HOLE, matches } from '../wildcard.ts'
import { type Allowable, type FileUse, HOME, PWD, type Reading, type ShellCommand, type ShellWord } from './command.ts'
import { filesOf, globMayReach } from './files.ts'
import { readShell } from './read.ts'
import { gitCommand, spellingsOf } from './spellings.ts'
import { tells } from './variables.ts'
import { clearForms, nameOf, needsExactRule } from './wrappers.ts'

export function judgeBash(question: PermissionQuestion, rules: Rules): Finding {
  const command = typeof question.input.command === 'string' ? question.input.command : ''
  const reading = readShell(command)
  const line = new Line(reading, { follow: rememberingReal(), ...question }, rules)
  const certain = line.forbidden('deny') ?? line.forbidden('ask')
  if (certain) return certain
  const doubt = line.doubtful()
  const otherwise = line.permitted()
  if (!doubt || otherwise.word === 'deny') return otherwise
  return { ...doubt, ...(otherwise.word === 'open' && { unlessDenied: true }) }
}

/** Whether one rule applies to a command line: for a deny or ask rule any part of it is enough, for an allow rule all. */
export function bashRuleMatches(rule: Rule, behavior: Behavior, question: PermissionQuestion): boolean {
  const none: Rules = { allow: [], deny: [], ask: [], warnings: [] }
  const finding = judgeBash({ ...question, mode: 'default' }, { ...none, [behavior]: [rule] })
  return behavior === 'allow' ? finding.word === 'allow' : finding.rule === rule
}

class Line {
  readonly reading: Reading
  readonly question: PermissionQuestion
  readonly rules: Rules
  /** Where the commands may run: `cd` moves the later ones. undefined: somewhere unknown. */
  readonly directories: readonly string[] | undefined
  /** Paths are followed once a line. */
  private readonly followed = new Map<string, Readonly<Record<'read' | 'edit', readonly FileAccess[]>>>()

  constructor(reading: Reading, question: PermissionQuestion, rules: Rules) {
    this.reading = reading
    this.question = question
    this.rules = rules
    this.directories = directoriesOf(reading, question)
  }

  /** A rule of the list that certainly applies to some part. */
  forbidden(behavior: 'deny' | 'ask'): Finding | undefined {
    for (const rule of this.rules[behavior]) {
      if (ruleMatches(rule, behavior, this.question, undefined)) {
        return { word: behavior, rule, why: `the ${behavior} rule "${rule.text}" matches` }
      }
      for (const command of this.reading.commands) {
        const part = commandRuleMatches(rule, command) ? textOf(command) : this.fileIn(rule, behavior, command)
        if (part === undefined) continue
        return { word: behavior, rule, why: `the ${behavior} rule "${rule.text}" matches \`${clip(part)}\`` }
      }
    }
    return undefined
  }

  /** Something that a deny or ask rule may be meant for, and that cannot be known here. */
  doubtful(): Finding | undefined {
    const { commands, unknown } = this.reading
    for (const rule of [...this.rules.deny, ...this.rules.ask]) {
      const { specifier } = rule
      if (specifier.kind === 'command') {
        if (unknown) return { word: 'ask', rule, why: `${unknown}, so the rule "${rule.text}" cannot be checked` }
        const part = commands.find((each) => commandMayMatch(specifier.patterns, each))
        if (part) return { word: 'ask', rule, why: `\`${clip(textOf(part))}\` may be what "${rule.text}" is about` }
      }
      if (specifier.kind === 'path') {
        if (unknown) return { word: 'ask', rule, why: `${unknown}, so the rule "${rule.text}" cannot be checked` }
        const part = commands.find((each) => this.fileMayMatch(rule, specifier.pattern, each))
        if (part) return { word: 'ask', rule, why: `\`${clip(textOf(part))}\` may touch what "${rule.text}" is about` }
      }
    }
    const network = commands.find((each) =>
      [...each.reads, ...each.writes].some((to) => /^\/dev\/(tcp|udp)/.test(to.value)),
    )
    return network && { word: 'ask', why: `\`${clip(textOf(network))}\` opens a network connection by a redirection` }
  }

  /** Every part covered by an allow rule, and every file it writes by one or by the mode. */
  permitted(): Finding {
    const { commands, unknown } = this.reading
    const whole = this.rules.allow.find((rule) => rule.tool === 'Bash' && rule.specifier.kind === 'any')
    if (whole) return { word: 'allow', rule: whole, why: `the allow rule "${whole.text}"` }
    if (unknown) return { word: 'open', why: unknown, uncovered: [] }
    if (commands.length === 0) return { word: 'open', why: 'there is no command in it', uncovered: [] }
    const strayGit = commands.some((each) => nameOf(each.words) === 'git') && commands.some(movesAway)
    if (strayGit) return { word: 'open', why: 'it changes directory before it runs git', uncovered: [] }
    const uncovered: string[] = []
    let rule: Rule | undefined
    for (const command of commands) {
      const found = this.rules.allow.find((each) => allowRuleCovers(each, command))
      rule ??= found
      if (!found && !harmless(command)) uncovered.push(wholeText(command))
      for (const target of command.writes) {
        const word = this.writeIs(target)
        if (word === 'deny') return { word: 'deny', why: `${target.text} may not be written in this mode` }
        if (word === 'ask') return { word: 'open', why: `it writes ${target.text}`, uncovered: [] }
      }
    }
    if (uncovered.length > 0) return { word: 'open', why: `no rule allows \`${clip(uncovered[0]!)}\``, uncovered }
    return { word: 'allow', ...(rule && { rule }), why: `the allow rule "${rule?.text}"` }
  }

  /** The file that a command reads or writes and that a path rule applies to. */
  private fileIn(rule: Rule, behavior: Behavior, command: ShellCommand): string | undefined {
    if (rule.specifier.kind !== 'path') return undefined
    for (const { kind, word, unsure } of filesOf(command)) {
      if ((kind !== 'read' && kind !== 'edit') || unsure || word.path.includes(HOLE) || word.glob) continue
      for (const access of this.accesses(word, kind)) {
        if (fileRuleMatches(rule, behavior, access, this.question)) return textOf(command) || word.value
      }
    }
    return undefined
  }

  private fileMayMatch(rule: Rule, pattern: PathPattern, command: ShellCommand): boolean {
    return filesOf(command).some((use) => {
      const { kind, word } = use
      if (rule.tool === 'Edit' && (kind === 'read' || kind === 'mayRead' || (kind === 'treeRead' && !use.to)))
        return false
      const unknown = word.path.includes(HOLE)
      if (kind === 'mayRead' || kind === 'mayEdit') {
        if (unknown || word.glob) return false
        const access = kind === 'mayRead' ? 'read' : 'edit'
        return this.accesses(word, access).some((each) => fileRuleMatches(rule, 'deny', each, this.question))
      }
      if (unknown || ownProcess.test(word.path)) return true
      if (kind === 'treeRead' || kind === 'treeEdit') return this.treeMayMatch(rule, pattern, use)
      if (kind === 'creates') {
        return this.accesses(word, 'edit').some(({ paths }) =>
          paths.some((path) => reachesInto(pattern, path, this.question)),
        )
      }
      if (word.glob) return globMayReach(word.path, pattern)
      if (use.unsure && this.accesses(word, kind).some((each) => fileRuleMatches(rule, 'deny', each, this.question)))
        return true
      return this.directories === undefined && !/^[\u0001/]/.test(word.path)
    })
  }

  /** Whether a folder that is read, changed, copied or moved as a whole holds what the rule is about. */
  private treeMayMatch(rule: Rule, pattern: PathPattern, { kind, word, to, visible }: FileUse): boolean {
    if (to?.path.includes(HOLE)) return true
    const access = kind === 'treeRead' ? 'read' : 'edit'
    const top = word.glob ? { ...word, path: dirname(word.path.replace(/[*?[{].*$/s, 'x')) } : word
    const speaks = (path: string, as: 'read' | 'edit') =>
      fileRuleMatches(rule, 'deny', { kind: as, paths: [path], tree: false }, this.question)
    const targets = to ? this.accesses(to, 'edit').flatMap(({ paths }) => paths) : []
    return this.accesses(top, access).some(({ paths }) => {
      const folder = paths.at(-1)!
      if (![folder, ...targets].some((each) => reachesInto(pattern, each, this.question))) return false
      return treeHolds(folder, visible === true, (path, below) => {
        if (speaks(path, access)) return true
        return targets.some((target) =>
          [below, join(basename(folder), below)].some((at) => speaks(join(target, at), 'edit')),
        )
      })
    })
  }

  private accesses(word: ShellWord, kind: 'read' | 'edit'): readonly FileAccess[] {
    let known = this.followed.get(word.path)
    if (!known) {
      const { cwd, home, follow } = this.question
      const paths = (this.directories ?? [cwd]).map((directory) =>
        resolvePaths(placed(word.path, home, directory), directory, home, follow),
      )
      const as = (kind: 'read' | 'edit') => paths.map((each) => ({ kind, paths: each, tree: false }))
      known = { read: as('read'), edit: as('edit') }
      this.followed.set(word.path, known)
    }
    return known[kind]
  }

  /** What the rules and the mode say of a file that the shell opens for writing. */
  private writeIs(target: ShellWord): 'allow' | 'ask' | 'deny' {
    if (/^\/dev\/(null|stdout|stderr|tty|fd\/\d+)$/.test(target.value)) return 'allow'
    if (target.path.includes(HOLE) || target.glob || !this.directories) return 'ask'
    const words = this.accesses(target, 'edit').map((access) => {
      const bare = this.rules.allow.some((rule) => rule.tool === 'Write' && rule.specifier.kind === 'any')
      return bare || allowingRule(this.rules.allow, access, this.question)
        ? 'allow'
        : modeSays({ ...this.question, tool: 'Write' }, access).word
    })
    return words.includes('deny') ? 'deny' : words.includes('ask') ? 'ask' : 'allow'
  }
}

/** Files of the process that opens them: ours are others than the command's. */
const ownProcess = /^\/proc\/(self|thread-self|\d+)\//

/** The line's own directory and every one that a `cd` in it may lead to. */
function directoriesOf({ commands }: Reading, { cwd, home }: PermissionQuestion): readonly string[] | undefined {
  const directories = [cwd]
  for (const command of commands) {
    if (!movesAway(command)) continue
    const target = command.words.slice(1).find((word) => !word.value.startsWith('-') || word.value === '-')
    if (!target || target.value === '-' || target.glob || target.path.includes(HOLE)) return undefined
    const from = directories.at(-1)!
    directories.push(resolvePaths(placed(target.path, home, from), from, home)[0]!)
  }
  for (const path of commands.flatMap(({ words }) => directoryOptions(words))) {
    directories.push(resolvePaths(placed(path, home, cwd), cwd, home)[0]!)
  }
  return directories
}

/** `env -C dir`, `make -C dir`: where one command alone is moved to. */
function directoryOptions(words: readonly ShellWord[]): readonly string[] {
  return words.flatMap(({ value, path }, at) => {
    if (!value.startsWith('-')) return []
    const joined = /^(?:--(?:chdir|directory|cwd|prefix)=|-C)(.+)$/s.exec(path)?.[1]
    const found = joined ?? (/^(-C|--chdir|--directory|--cwd|--prefix)$/.test(value) ? words[at + 1]?.path : undefined)
    return found === undefined || found.includes(HOLE) ? [] : [found]
  })
}

/** A path with the variables whose values we know. */
const placed = (path: string, home: string, pwd: string): string =>
  path.includes(HOME) || path.includes(PWD) ? path.replaceAll(HOME, home).replaceAll(PWD, pwd) : path

const movesAway = ({ words }: ShellCommand): boolean => ['cd', 'pushd', 'popd'].includes(nameOf(words))

/** Definitely: some spelling of some form of the command fits the pattern. */
function commandRuleMatches({ specifier }: Rule, command: ShellCommand): boolean {
  if (specifier.kind !== 'command') return false
  const { certain } = spellingsOf(command)
  return specifier.patterns.some((pattern) => certain.some((text) => matches(pattern, text)))
}

/** Possibly: once what is unknown is known. */
function commandMayMatch(patterns: readonly string[], command: ShellCommand): boolean {
  const { possible } = spellingsOf(command)
  return patterns.some((pattern) => possible.some((text) => couldMatch(pattern, text)))
}

function allowRuleCovers({ specifier }: Rule, command: ShellCommand): boolean {
  if (specifier.kind !== 'command') return false
  return allowableOf(command).some(
    ({ texts, exactly }) =>
      (specifier.exact || !exactly) &&
      specifier.patterns.some((pattern) => texts.some((text) => matches(pattern, text))),
  )
}

function allowableOf(command: ShellCommand): readonly Allowable[] {
  command.known.allowable ??= [...barely(command), ...asWritten(command)]
  return command.known.allowable
}

/** Without its variables, where they change nothing. */
function barely({ words, variables }: ShellCommand): Allowable[] {
  if (!variables.every(isSafeVariable)) return []
  return clearForms(words)
    .filter((each) => each.length > 0 && each[0]!.literal)
    .map((each) => ({
      texts: [each, gitCommand(each, false)].map((form) => form.map((word) => word.text).join(' ')),
      exactly: needsExactRule(each),
    }))
}

/** With its variables: what programs are found by and loaded with takes a rule that says so in full. */
function asWritten({ words, variables, assignments }: ShellCommand): Allowable[] {
  if (!assignments || words[0]?.literal === false) return []
  const text = [assignments, ...words.map((word) => word.text)].join(' ')
  return [{ texts: [text], exactly: needsExactRule(words) || variables.some(tells) }]
}

/** Sets variables that change nothing, or only opens files, which are judged on their own. */
const harmless = ({ words, variables }: ShellCommand): boolean => words.length === 0 && variables.every(isSafeVariable)

const safeVariables =
  /^(NODE_ENV|LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|CI|TERM|COLUMNS|LINES|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GOOS|GOARCH)$/
const isSafeVariable = (name: string): boolean => safeVariables.test(name)

const textOf = ({ words }: ShellCommand): string => words.map((word) => word.text).join(' ')
/** What an allow rule has to name: the command without what is looked through, or with its variables. */
const wholeText = (command: ShellCommand): string => {
  const { words, variables, assignments = variables.map((name) => `${name}=…`).join(' ') } = command
  if (variables.every(isSafeVariable))
    return textOf({ ...command, words: gitCommand(clearForms(words).at(-1)!, false) })
  return `${assignments} ${textOf(command)}`.trim()
}
const clip = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text).replaceAll(HOLE, '…')
