/** What deny and ask rules say of a command line: what they certainly apply to, and what they may be meant for. */
import { basename, dirname, join } from 'node:path'
import { ruleMatches } from '../match.ts'
import { fileRuleMatches, placesOf } from '../paths/access.ts'
import { type PathPattern, reachesInto } from '../paths/pattern.ts'
import { treeHolds } from '../paths/tree.ts'
import type { Finding } from '../question.ts'
import type { Behavior, Rule } from '../rule.ts'
import { couldMatch, HOLE, matches } from '../wildcard.ts'
import type { FileUse, ShellCommand } from './command.ts'
import { clip, textOf } from './coverage.ts'
import { filesOf, globMayReach } from './files.ts'
import type { Line } from './line.ts'
import { runsOwnFile } from './programs/own-files.ts'
import { spellingsOf } from './spellings.ts'

/** A rule of the list that certainly applies to some part. */
export function forbidden(line: Line, behavior: 'deny' | 'ask'): Finding | undefined {
  for (const rule of line.rules[behavior]) {
    const { kind } = rule.specifier
    if (kind !== 'command' && kind !== 'path') {
      if (!ruleMatches(rule, behavior, line.question, undefined)) continue
      return { word: behavior, rule, why: `the ${behavior} rule "${rule.text}" matches` }
    }
    for (const command of line.reading.commands) {
      const part = commandRuleMatches(rule, command) ? textOf(command) : fileIn(line, rule, behavior, command)
      if (part === undefined) continue
      return { word: behavior, rule, why: `the ${behavior} rule "${rule.text}" matches \`${clip(part)}\`` }
    }
  }
  return undefined
}

/** Something that a deny or ask rule may be meant for, and that cannot be known here. */
export function doubtful(line: Line): Finding | undefined {
  let any = false
  for (const behavior of ['deny', 'ask'] as const)
    for (const rule of line.rules[behavior]) {
      const { kind } = rule.specifier
      if (kind !== 'command' && kind !== 'path') continue
      any = true
      const found = doubtfulUnder(line, rule)
      if (found) return found
    }
  const own = any && runsOwnFile(line)
  if (own) return { word: 'ask', why: `\`${clip(textOf(own))}\` runs a file that the same line writes` }
  const network = any && line.reading.commands.find(opensConnection)
  return network
    ? { word: 'ask', why: `\`${clip(textOf(network))}\` opens a network connection by a redirection` }
    : undefined
}

function doubtfulUnder(line: Line, rule: Rule): Finding | undefined {
  const { commands, unknown } = line.reading
  const { specifier } = rule
  if (unknown) return { word: 'ask', rule, why: `${unknown}, so the rule "${rule.text}" cannot be checked` }
  for (const command of commands) {
    if (specifier.kind === 'command' && commandMayMatch(specifier.patterns, command))
      return { word: 'ask', rule, why: `\`${clip(textOf(command))}\` may be what "${rule.text}" is about` }
    if (specifier.kind === 'path' && fileMayMatch(line, rule, specifier.pattern, command))
      return { word: 'ask', rule, why: `\`${clip(textOf(command))}\` may touch what "${rule.text}" is about` }
  }
  return undefined
}

const opensConnection = ({ reads, writes }: ShellCommand): boolean =>
  [...reads, ...writes].some((to) => /^\/dev\/(tcp|udp)/.test(to.value))

/** The file that a command reads or writes and that a path rule applies to. */
function fileIn(line: Line, rule: Rule, behavior: Behavior, command: ShellCommand): string | undefined {
  if (rule.specifier.kind !== 'path') return undefined
  for (const { kind, word, unsure } of filesOf(command)) {
    if ((kind !== 'read' && kind !== 'edit') || unsure || word.path.includes(HOLE) || word.glob) continue
    for (const access of line.accesses(word, kind)) {
      if (fileRuleMatches(rule, behavior, access, line.question)) return textOf(command) || word.value
    }
  }
  return undefined
}

function fileMayMatch(line: Line, rule: Rule, pattern: PathPattern, command: ShellCommand): boolean {
  return filesOf(command).some((use) => {
    const { kind, word } = use
    if (rule.tool === 'Edit' && (kind === 'read' || kind === 'mayRead' || (kind === 'treeRead' && !use.to)))
      return false
    const unknown = word.path.includes(HOLE)
    if (kind === 'mayRead' || kind === 'mayEdit') {
      if (unknown || word.glob) return false
      const access = kind === 'mayRead' ? 'read' : 'edit'
      return line.accesses(word, access).some((each) => fileRuleMatches(rule, 'deny', each, line.question))
    }
    if (unknown || ownProcess.test(word.path)) return true
    if (kind === 'treeRead' || kind === 'treeEdit') return treeMayMatch(line, rule, pattern, use)
    if (kind === 'creates') {
      return line
        .accesses(word, 'edit')
        .some(({ paths }) => paths.some((path) => reachesInto(pattern, path, placesOf(line.question))))
    }
    if (word.glob) return globMayReach(word.path, pattern)
    if (use.unsure && line.accesses(word, kind).some((each) => fileRuleMatches(rule, 'deny', each, line.question)))
      return true
    return line.directories === undefined && !/^[\u0001/]/.test(word.path)
  })
}

/** Whether a folder that is read, changed, copied or moved as a whole holds what the rule is about. */
function treeMayMatch(line: Line, rule: Rule, pattern: PathPattern, { kind, word, to, visible }: FileUse): boolean {
  if (to?.path.includes(HOLE)) return true
  const access = kind === 'treeRead' ? 'read' : 'edit'
  const top = word.glob ? { ...word, path: dirname(word.path.replace(/[*?[{].*$/s, 'x')) } : word
  const speaks = (path: string, as: 'read' | 'edit') =>
    fileRuleMatches(rule, 'deny', { kind: as, paths: [path], tree: false }, line.question)
  const targets = to ? line.accesses(to, 'edit').flatMap(({ paths }) => paths) : []
  return line.accesses(top, access).some(({ paths }) => {
    const folder = paths.at(-1)!
    if (![folder, ...targets].some((each) => reachesInto(pattern, each, placesOf(line.question)))) return false
    const test = (path: string, below: string): boolean => {
      if (speaks(path, access)) return true
      return targets.some((target) =>
        [below, join(basename(folder), below)].some((at) => speaks(join(target, at), 'edit')),
      )
    }
    const holds = () => treeHolds(folder, visible === true, test, line.files)
    return to ? holds() : keptFor(line, rule, `${access} ${visible === true} ${folder}`, holds)
  })
}

/** What a rule says of a whole tree, once for the time the line's view lasts. */
const keptFor = (line: Line, rule: Rule, about: string, work: () => boolean): boolean => {
  const { cwd, projectDir, home, origins = [], settings } = line.question
  const places = [cwd, projectDir, home, origins, settings.additionalDirectories ?? []]
  return line.files.keep(`tree ${rule.text} ${about} ${JSON.stringify(places)}`, work)
}

/** Files of the process that opens them: ours are others than the command's. */
const ownProcess = /^\/proc\/(self|thread-self|\d+)\//

/** Definitely: some spelling of some form of the command fits the pattern. */
function commandRuleMatches({ specifier }: Rule, command: ShellCommand): boolean {
  if (specifier.kind !== 'command') return false
  const { certain } = spellingsOf(command)
  for (const pattern of specifier.patterns) for (const text of certain) if (matches(pattern, text)) return true
  return false
}

/** Possibly: once what is unknown is known. */
function commandMayMatch(patterns: readonly string[], command: ShellCommand): boolean {
  const { possible } = spellingsOf(command)
  for (const pattern of patterns) for (const text of possible) if (couldMatch(pattern, text)) return true
  return false
}
