/** The rules of a policy by the word that a command has to begin with, so that most of them are never tried. */

import { perObject } from '../recent.ts'
import { namesTool } from '../rules/match.ts'
import type { Behavior, Rule } from '../rules/rule.ts'
import type { Rules } from '../rules/rules.ts'
import { couldFit, fits, HOLE, type Parts, partsOf } from '../wildcard.ts'

/** A rule, and its place in its list: the first one that applies is the one that is named. */
export interface Placed {
  readonly at: number
  readonly rule: Rule
}

/** A rule that names a program by its path: `Bash(/usr/bin/git push *)`. */
export interface ProgramRule extends Placed {
  readonly path: string
  /** The rule as it would be on the name alone, for a command that runs the program of this path. */
  readonly named: CommandIndex
}

interface CommandRule extends Placed {
  readonly patterns: readonly { readonly text: string; readonly parts: Parts }[]
}

export class CommandIndex {
  private readonly byWord = new Map<string, readonly CommandRule[]>()
  /** Rules that may match whatever the first word is. */
  private readonly anyWord: readonly CommandRule[]
  private readonly all: readonly CommandRule[]
  /** The long options that rules name. */
  readonly options: readonly string[]
  /** The words that rules begin with, up to an option or a wildcard, where these are a program and at least two more. */
  readonly verbs: readonly (readonly string[])[]

  constructor(rules: readonly Rule[]) {
    this.all = rules.flatMap((rule, at) =>
      rule.specifier.kind === 'command'
        ? [{ at, rule, patterns: rule.specifier.patterns.map((text) => ({ text, parts: partsOf(text) })) }]
        : [],
    )
    this.options = this.all.flatMap(({ patterns }) =>
      patterns.flatMap(({ text }) => text.match(/--[a-z][\w-]+/g) ?? []),
    )
    this.verbs = this.all.flatMap(({ patterns }) =>
      patterns.map(({ parts }) => firstWords(parts)).filter(({ length }) => length > 2),
    )
    const under = (word: string | undefined) =>
      this.all.flatMap((each) => {
        const patterns = each.patterns.filter(({ parts }) => [undefined, word].includes(firstWord(parts)))
        return patterns.length === 0 ? [] : [{ ...each, patterns }]
      })
    this.anyWord = under(undefined)
    for (const { patterns } of this.all)
      for (const { parts } of patterns) {
        const word = firstWord(parts)
        if (word !== undefined && !this.byWord.has(word)) this.byWord.set(word, under(word))
      }
  }

  get isEmpty(): boolean {
    return this.all.length === 0
  }

  /** Whether a text without holes that begins with this may be matched at all. */
  readonly mayMatch = (beginning: string): boolean => {
    if (this.anyWord.length > 0) return true
    const space = beginning.indexOf(' ')
    return this.byWord.has(space < 0 ? beginning : beginning.slice(0, space))
  }

  /** The first rule with a pattern that matches one of the texts and passes the test. */
  first(texts: readonly string[], test?: (rule: Rule, pattern: string) => boolean): Placed | undefined {
    let found: CommandRule | undefined
    for (const text of texts) {
      for (const each of this.beginningAs(text)) {
        if (found && each.at >= found.at) break
        if (each.patterns.some(({ text: pattern, parts }) => fits(parts, text) && (!test || test(each.rule, pattern))))
          found = each
      }
    }
    return found
  }

  /** The first rule that could match one of the texts once their holes are filled. */
  firstPossible(texts: readonly string[]): Placed | undefined {
    let found: CommandRule | undefined
    for (const text of texts) {
      const hole = text.indexOf(HOLE)
      const space = text.indexOf(' ')
      const open = hole >= 0 && (space < 0 || hole < space)
      for (const each of open ? this.all : this.beginningAs(text)) {
        if (found && each.at >= found.at) break
        if (each.patterns.some(({ parts }) => couldFit(parts, text))) found = each
      }
    }
    return found
  }

  private beginningAs(text: string): readonly CommandRule[] {
    const space = text.indexOf(' ')
    return this.byWord.get(space < 0 ? text : text.slice(0, space)) ?? this.anyWord
  }
}

/** The word that every text begins with which the pattern matches, where there is one. */
function firstWord(parts: Parts): string | undefined {
  const space = parts[0]!.indexOf(' ')
  if (space >= 0) return parts[0]!.slice(0, space)
  return parts.length === 1 ? parts[0]! : undefined
}

function firstWords(parts: Parts): readonly string[] {
  const words = parts[0]!.split(' ')
  if (parts.length > 1) words.pop() // what a wildcard goes on with
  const option = words.findIndex((word) => word.startsWith('-'))
  return option < 0 ? words : words.slice(0, option)
}

export interface RuleIndex {
  /** Rules on commands. */
  readonly commands: Readonly<Record<'deny' | 'ask' | 'allow', CommandIndex>>
  /** The same in one list, deny first: what may be meant. */
  readonly possible: CommandIndex
  /** Those of them that name a program by its path. */
  readonly programs: readonly ProgramRule[]
  /** Rules on files in that list. */
  readonly files: readonly Placed[]
  /** Its first rule on commands or files. */
  readonly first: Rule | undefined
  /** How many of it are deny rules. */
  readonly denied: number
  /** Rules on the tool that depend on neither commands nor files. */
  readonly others: Readonly<Record<'deny' | 'ask', readonly Placed[]>>
  /** `Bash`, which allows every line. */
  readonly whole: Rule | undefined
  readonly builtin: Placed | undefined
}

function programRules(rule: Rule, at: number): readonly ProgramRule[] {
  const { specifier } = rule
  if (specifier.kind !== 'command') return []
  return specifier.patterns.flatMap((text) => {
    const path = firstWord(partsOf(text))
    if (!path?.includes('/')) return []
    const patterns = [text.slice(path.lastIndexOf('/') + 1)]
    return [{ at, rule, path, named: new CommandIndex([{ ...rule, specifier: { ...specifier, patterns } }]) }]
  })
}

export const indexOf: (rules: Rules) => RuleIndex = perObject(makeIndex)

function makeIndex(rules: Rules): RuleIndex {
  const placed = (list: readonly Rule[], test: (rule: Rule) => boolean): readonly Placed[] =>
    list.flatMap((rule, at) => (test(rule) ? [{ at, rule }] : []))
  const isOther = ({ specifier: { kind } }: Rule) => kind !== 'command' && kind !== 'path'
  const isOnBash = (rule: Rule) => isOther(rule) && namesTool(rule.tool, 'Bash')
  const forbidden = [...rules.deny, ...rules.ask]
  const commands = (behavior: Behavior) => new CommandIndex(rules[behavior])
  return {
    commands: { deny: commands('deny'), ask: commands('ask'), allow: commands('allow') },
    possible: new CommandIndex(forbidden),
    programs: forbidden.flatMap(programRules),
    files: placed(forbidden, ({ specifier }) => specifier.kind === 'path'),
    first: forbidden.find((rule) => !isOther(rule)),
    denied: rules.deny.length,
    others: { deny: placed(rules.deny, isOnBash), ask: placed(rules.ask, isOnBash) },
    whole: rules.allow.find((rule) => rule.tool === 'Bash' && rule.specifier.kind === 'any'),
    builtin: placed(rules.allow, (rule) => rule.tool === 'Bash' && rule.specifier.kind === 'builtin')[0],
  }
}
