/** What deny and ask rules say of a command line: what they certainly apply to, and what they may be meant for. */
import { basename, dirname } from 'node:path'
import { fileRuleMatches, placesOf } from '../paths/access.ts'
import { type PathPattern, reachesInto } from '../paths/pattern.ts'
import { below, treeHolds } from '../paths/tree.ts'
import { isThere } from '../paths/view.ts'
import type { Finding } from '../question.ts'
import { ruleMatches } from '../rules/match.ts'
import type { Rule } from '../rules/rule.ts'
import { HOLE } from '../wildcard.ts'
import { clip, textOf } from './coverage.ts'
import { globMayReach } from './files/files.ts'
import type { Place } from './files/place.ts'
import type { Line } from './line.ts'
import type { FileUse, Match, ShellCommand, ShellWord } from './parse/command.ts'
import { runsOwnFile } from './programs/own-files.ts'
import { certainSpellings, possibleSpellings } from './spellings.ts'

/** A rule of the list that certainly applies to some part: the first of the list, and its first part. */
export function forbidden({ reading, question, place }: Line, behavior: 'deny' | 'ask'): Finding | undefined {
  let found: Match | undefined
  for (const { at, rule } of place.index.others[behavior]) {
    if (!ruleMatches(rule, behavior, question, undefined)) continue
    found = { at, rule, why: `the ${behavior} rule "${rule.text}" matches` }
    break
  }
  for (const command of reading.commands) {
    const verdict = place.verdictOf(command)
    if (verdict[behavior] === undefined) verdict[behavior] = matchOf(place, behavior, command)
    const match = verdict[behavior]
    if (match && (!found || match.at < found.at)) found = match
  }
  return found && { word: behavior, rule: found.rule, why: found.why }
}

/** The first rule of a list that certainly applies to a command: by its words, or by a file that it reads or writes. */
function matchOf(place: Place, behavior: 'deny' | 'ask', command: ShellCommand): Match | null {
  const { index } = place
  const onCommands = index.commands[behavior]
  let found = onCommands.isEmpty ? undefined : onCommands.first(certainSpellings(command, onCommands.mayMatch))
  let touched = ''
  if (index.files.length > 0)
    for (const { kind, word, unsure } of place.concernedFiles(command)) {
      if ((kind !== 'read' && kind !== 'edit') || unsure || word.glob || word.path.includes(HOLE)) continue
      for (const each of place.rulesOn(word)) {
        const { rule } = each
        const at = behavior === 'deny' ? each.at : each.at - index.denied
        const listed = behavior === 'deny' ? at < index.denied : at >= 0
        if (!listed || (rule.tool === 'Edit' && kind !== 'edit') || (found && at >= found.at)) continue
        found = { at, rule }
        touched = word.value
      }
    }
  if (!found) return null
  return { ...found, why: `the ${behavior} rule "${found.rule.text}" matches \`${clip(textOf(command) || touched)}\`` }
}

/** Something that a deny or ask rule may be meant for, and that cannot be known here. */
export function doubtful(line: Line): Finding | undefined {
  const { commands, unknown } = line.reading
  const { first } = line.place.index
  if (!first) return undefined
  if (unknown) return { word: 'ask', rule: first, why: `${unknown}, so the rule "${first.text}" cannot be checked` }
  let found: Match | undefined
  for (const command of commands) {
    const verdict = line.place.verdictOf(command)
    if (verdict.doubt === undefined) verdict.doubt = doubtOf(line.place, command)
    if (verdict.doubt && (!found || verdict.doubt.at < found.at)) found = verdict.doubt
  }
  if (found) return { word: 'ask', rule: found.rule, why: found.why }
  const own = runsOwnFile(line)
  if (own) return { word: 'ask', why: `\`${clip(textOf(own))}\` runs a file that the same line writes` }
  const network = commands.find(opensConnection)
  return network && { word: 'ask', why: `\`${clip(textOf(network))}\` opens a network connection by a redirection` }
}

/** The first rule that may be meant for a command, or for a file that it may touch. */
function doubtOf(place: Place, command: ShellCommand): Match | null {
  const { index } = place
  const { possible } = index
  const spelled = possible.isEmpty
    ? undefined
    : possible.firstPossible(possibleSpellings(command, possible.mayMatch, possible.options, possible.verbs))
  const may =
    index.programs.find(({ at, path, named }) => {
      if ((spelled && at >= spelled.at) || !place.namesProgram(command, path)) return false
      const texts = possibleSpellings(command, named.mayMatch, named.options, named.verbs)
      return named.firstPossible([...certainSpellings(command, named.mayMatch), ...texts]) !== undefined
    }) ?? spelled
  const open = index.files.length > 0 ? place.concernedFiles(command).filter((use) => isOpen(place, use)) : []
  const touched =
    open.length === 0
      ? undefined
      : index.files.find(
          ({ at, rule }) =>
            !(may && at >= may.at) &&
            rule.specifier.kind === 'path' &&
            fileMayMatch(place, rule, rule.specifier.pattern, open),
        )
  const found = touched ?? may
  if (!found) return null
  const about = `${touched ? 'may touch' : 'may be'} what "${found.rule.text}" is about`
  return { at: found.at, rule: found.rule, why: `\`${clip(textOf(command))}\` ${about}` }
}

/** Whether a rule may be meant for the file: not for one that is known, alone, and that no rule is about. */
function isOpen(place: Place, { kind, word }: FileUse): boolean {
  if (word.glob || word.path.includes(HOLE) || place.directories === undefined || isOwnProcess(word.path)) return true
  if (kind === 'read' || kind === 'edit' || kind === 'mayRead' || kind === 'mayEdit')
    return place.rulesOn(word).length > 0
  // there is nothing in a folder that is not there
  return kind === 'creates' || place.isThere(word)
}

const opensConnection = ({ reads, writes }: ShellCommand): boolean =>
  reads.some(isConnection) || writes.some(isConnection)
const isConnection = ({ value }: ShellWord): boolean => /^\/dev\/(tcp|udp)/.test(value)

function fileMayMatch(place: Place, rule: Rule, pattern: PathPattern, uses: readonly FileUse[]): boolean {
  return uses.some((use) => {
    const { kind, word } = use
    if (rule.tool === 'Edit' && (kind === 'read' || (kind === 'treeRead' && !use.to))) return false
    const unknown = word.path.includes(HOLE)
    if (kind === 'mayRead' || kind === 'mayEdit') {
      if (unknown) return false
      const access = kind === 'mayRead' ? 'read' : 'edit'
      return (place.expanded(word) ?? []).some((each) => appliesTo(place, rule, each, access))
    }
    if (unknown || isOwnProcess(word.path)) return true
    if (kind === 'treeRead' || kind === 'treeEdit') return treeMayMatch(place, rule, pattern, use)
    if (kind === 'creates') {
      return place
        .accesses(word, 'edit')
        .some(({ paths }) => paths.some((path) => reachesInto(pattern, path, placesOf(place.question))))
    }
    if (word.glob)
      return (
        globMayReach(word.path, pattern) ||
        (place.expanded(word)?.some((each) => appliesTo(place, rule, each, kind)) ?? true)
      )
    if (use.unsure && appliesTo(place, rule, word, kind)) return true
    return place.directories === undefined && !/^[\u0001/]/.test(word.path)
  })
}

const appliesTo = (place: Place, rule: Rule, word: ShellWord, kind: 'read' | 'edit'): boolean =>
  (rule.tool !== 'Edit' || kind === 'edit') && place.rulesOn(word).some((each) => each.rule === rule)

/** Whether a folder that is read, changed, copied or moved as a whole holds what the rule is about. */
function treeMayMatch(place: Place, rule: Rule, pattern: PathPattern, { kind, word, to, visible }: FileUse): boolean {
  const access = kind === 'treeRead' ? 'read' : 'edit'
  const top = word.glob ? { ...word, path: dirname(word.path.replace(/[*?[{].*$/s, 'x')) } : word
  const speaks = (path: string, as: 'read' | 'edit') =>
    fileRuleMatches(rule, 'deny', { kind: as, paths: [path], tree: false }, place.question)
  const targets = to ? place.accesses(to, 'edit').flatMap(({ paths }) => paths) : []
  return place.accesses(top, access).some(({ paths }) => {
    const folder = paths.at(-1)!
    if (!isThere(folder, place.files)) return false // nothing in it
    if (![folder, ...targets].some((each) => reachesInto(pattern, each, placesOf(place.question)))) return false
    const name = basename(folder)
    const test = (path: string, inside: string): boolean =>
      speaks(path, access) ||
      targets.some(
        (target) => speaks(below(target, inside), 'edit') || speaks(below(target, `${name}/${inside}`), 'edit'),
      )
    const holds = () => treeHolds(folder, visible, test, place.files)
    return to ? holds() : place.answer(`${access} ${visible} ${folder}\n${rule.text}`, holds)
  })
}

/** Files of the process that opens them: ours are others than the command's. */
const isOwnProcess = (path: string): boolean =>
  path.startsWith('/proc/') && /^\/proc\/(self|thread-self|\d+)\//.test(path)
