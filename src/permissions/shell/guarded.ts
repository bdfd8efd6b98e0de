/** Protected paths in a command line: what it certainly changes or reads, and what it may. */
import { basename, dirname, join } from 'node:path'
import { modeInForce } from '../modes.ts'
import { isWithin } from '../paths/pattern.ts'
import { below, treeHolds } from '../paths/tree.ts'
import { isThere } from '../paths/view.ts'
import { type ProtectedPath, protectedPaths, protectionOf } from '../protected-paths.ts'
import { protectedFinding } from '../protection.ts'
import { couldMatch, HOLE } from '../wildcard.ts'
import { clip, coveringRule, textOf } from './coverage.ts'
import { placed } from './files/directories.ts'
import { filesOf } from './files/files.ts'
import type { Place } from './files/place.ts'
import type { Line } from './line.ts'
import type { FileUse, Guard, ShellCommand, ShellWord } from './parse/command.ts'
import { readOnlyUse } from './programs/read-only.ts'
import { typesIntoTerminal } from './terminals.ts'

/** The strictest finding of the line. What is unknown is no reason: the sandbox and the rules on commands see to that. */
export function guarded(line: Line): Guard | undefined {
  const { place, reading } = line
  // what else the line puts into a folder decides what a copy of it holds
  const filled: FileUse[] = []
  for (const command of reading.commands)
    for (const use of filesOf(command)) if (use.kind === 'creates') filled.push(use)
  let asks: Guard | undefined
  for (const command of reading.commands) {
    const found = filled.length > 0 ? guardFor(place, command, filled) : knownGuard(place, command)
    if (found?.word === 'deny') return found
    asks ??= found ?? undefined
  }
  return asks ?? hidden(line)
}

function knownGuard(place: Place, command: ShellCommand): Guard | null {
  const verdict = place.verdictOf(command)
  if (verdict.guard === undefined) verdict.guard = guardFor(place, command, [])
  return verdict.guard
}

/** The strictest finding on a command, unless a rule without wildcards allows it. */
function guardFor(place: Place, command: ShellCommand, filled: readonly FileUse[]): Guard | null {
  let asks: Guard | null = null
  for (const found of guardsOf(place, command, filled)) {
    if (found.word === 'deny' || asks === null) asks = found
    if (found.word === 'deny') break
  }
  return asks && coveringRule(place.index.commands.allow, command, true) ? null : asks
}

function guardsOf(place: Place, command: ShellCommand, filled: readonly FileUse[]): readonly Guard[] {
  const { words, reads } = command
  const environment = words.find(showsEnvironment) ?? reads.find(showsEnvironment)
  if (environment) {
    const why = `\`${clip(textOf(command))}\` reads the environment of a process, which holds credentials`
    return [{ word: environment.literal ? 'deny' : 'ask', why }]
  }
  const { mode, settings } = place.question
  if (typesIntoTerminal(command) && modeInForce(mode, settings) !== 'bypassPermissions')
    return [{ word: 'ask', why: `\`${clip(textOf(command))}\` acts in another terminal, where no rule is asked` }]
  const all: Guard[] = []
  for (const use of place.concernedFiles(command)) {
    if (isUnprotected(place, use)) continue
    const onlyReads = readOnlyUse(command) !== undefined
    const found = guardOf(place, onlyReads ? asRead(use) : use, command, filled)
    if (found) all.push(found)
  }
  return all
}

/** A file that is known, alone, and in no row of the list. */
const isUnprotected = (place: Place, { kind, word }: FileUse): boolean =>
  (kind === 'read' || kind === 'edit' || kind === 'mayRead' || kind === 'mayEdit') &&
  !word.glob &&
  !word.path.includes(HOLE) &&
  !place.mayBeProtected(word)

const asRead = (use: FileUse): FileUse =>
  use.kind === 'mayEdit' ? { ...use, kind: 'mayRead' } : use.kind === 'treeEdit' ? { ...use, kind: 'treeRead' } : use

const showsEnvironment = ({ path }: ShellWord): boolean => {
  if (!path.startsWith('/proc')) return false
  const text = path.replace(/\[[^\]]*\]|[*?]/g, HOLE)
  return ['/proc/*/environ', '/proc/*/mem'].some((each) => couldMatch(each, text))
}

function guardOf(place: Place, use: FileUse, command: ShellCommand, filled: readonly FileUse[]): Guard | undefined {
  const { kind, word } = use
  if (kind === 'creates') return createsGuard(place, word, command)
  if (kind === 'treeRead' || kind === 'treeEdit') return treeGuard(place, use, command, filled)
  const access = kind === 'read' || kind === 'mayRead' ? 'read' : 'edit'
  const found = word.path.includes(HOLE) ? undefined : place.expanded(word)
  const unread = found === undefined && access === 'read' ? unreadBeside(place, word) : undefined
  if (unread) return { word: 'ask', why: `\`${clip(textOf(command))}\` may read ${unread.what}` }
  const words = found ?? [known(word)]
  const certain = (kind === 'read' || kind === 'edit') && !use.unsure && word.literal
  let asks: Guard | undefined
  for (const each of words.flatMap((one) => one ?? [])) {
    for (const file of place.accesses(each, access)) {
      const found = protectedFinding(file, place.question, place.rules)
      if (!found) continue
      if (!certain) return { word: 'ask', why: `\`${clip(textOf(command))}\`: ${found.why}` }
      if (found.word === 'deny') return found
      asks ??= found
    }
  }
  return asks
}

/** The folder before what is unknown: `~/.ona/$X` is something in `~/.ona`. */
function known(word: ShellWord): ShellWord | undefined {
  const folder = /^([^\u0000*?[{]*)\//.exec(word.path)?.[1]
  return folder ? { ...word, path: `${folder}/x` } : undefined
}

/** What may not be read and lies in the folder before what is unknown: `~/.ona/$X` may be the stored credential. */
function unreadBeside(place: Place, word: ShellWord): ProtectedPath | undefined {
  const inside = known(word)
  if (!inside) return undefined
  const folders = place.accesses(inside, 'read').flatMap(({ paths }) => paths.map((path) => dirname(path)))
  return readRows.find((row) => row.at === 'home' && folders.includes(dirname(inHome(row, place.question.home))))
}

/** A folder that is changed or read as a whole with protected paths in it. */
function treeGuard(
  place: Place,
  { kind, word, to }: FileUse,
  command: ShellCommand,
  filled: readonly FileUse[],
): Guard | undefined {
  if (to) {
    const copied = copyGuard(place, word, to, command, filled)
    if (copied) return copied
  }
  if (word.path.includes(HOLE)) return undefined
  for (const each of place.expanded(word) ?? [])
    for (const { paths } of place.accesses(each, 'edit'))
      for (const folder of paths) {
        const row = rowIn(place, kind === 'treeRead', folder)
        if (row) return { word: 'ask', why: `\`${clip(textOf(command))}\` takes ${folder} with ${row.what}` }
      }
  return undefined
}

/** The first row that protects something in a folder. */
function rowIn({ question, files }: Place, reading: boolean, folder: string): ProtectedPath | undefined {
  const { home, protect = [] } = question
  const inFolder = folder.endsWith('/') ? folder : `${folder}/`
  const isInside = (path: string): boolean => path === folder || path.startsWith(inFolder)
  const nearHome = isInside(home) || isWithin(folder, home)
  const mayHoldHome = isInside(home) || (nearHome && homeHeads.has(headOf(folder.slice(home.length))))
  const isGit = folder.endsWith('/.git')
  let isThereNow: boolean | undefined
  const holds = (row: ProtectedPath): boolean => {
    if (row.at === 'home') return nearHome && isInside(inHome(row, home))
    if (row.at === 'exact') return isInside(row.path)
    // a folder may also be the beginning of its path: `.git` of `.git/hooks`
    if (isGit && row.path.startsWith('.git/')) return true
    isThereNow ??= isThere(folder, files)
    return isThereNow && isThere(below(folder, row.path), files)
  }
  const concerns = reading ? readingConcerns : changingConcerns
  const found = protect.find((row) => concerns(row) && holds(row))
  return found ?? (reading ? readRows : changeRows).find((row) => (row.at !== 'home' || mayHoldHome) && holds(row))
}

/** The first name in a path. */
const headOf = (path: string): string => path.split('/', 2)[path.startsWith('/') ? 1 : 0]!
/** A folder below home holds a row's path only if both begin with the same name. */
const homeHeads: ReadonlySet<string> = new Set(protectedPaths.map(({ path }) => headOf(path)))

/** Of rows for any folder, those whose names a folder is searched for. */
const isSearched = ({ at, path }: ProtectedPath): boolean => at !== 'anywhere' || /^\.(ona|claude|git)/.test(path)
const readingConcerns = (row: ProtectedPath): boolean => row.read !== undefined && isSearched(row)
const changingConcerns = (row: ProtectedPath): boolean => row.edit !== 'mode' && isSearched(row)
const readRows = protectedPaths.filter(readingConcerns)
const changeRows = protectedPaths.filter(changingConcerns)

/** A folder's files by other names: what is protected where they go to, or cannot be seen yet. */
function copyGuard(
  place: Place,
  word: ShellWord,
  to: ShellWord,
  command: ShellCommand,
  filled: readonly FileUse[],
): Guard | undefined {
  const { home, protect } = place.question
  const top = word.glob ? { ...word, path: dirname(word.path.replace(/[*?[{].*/s, 'x')) } : word
  const targets = place.accesses(to, 'edit').flatMap(({ paths }) => paths)
  const folders = place.accesses(top, 'read').map(({ paths }) => paths.at(-1)!)
  if (top.path.includes(HOLE) || to.path.includes(HOLE) || folders.some((folder) => !isSettled(place, folder, filled)))
    return createsGuard(place, to, command)
  const isProtected = (path: string) => (protectionOf(path, home, protect)?.edit ?? 'mode') !== 'mode'
  for (const folder of folders)
    for (const target of targets) {
      const copy = below(target, basename(folder))
      if (!holds(place, folder, (name) => isProtected(below(target, name)) || isProtected(below(copy, name)))) continue
      return { word: 'ask', why: `\`${clip(textOf(command))}\` would put protected files into ${target}` }
    }
  return undefined
}

const holds = ({ files }: Place, folder: string, test: (name: string) => boolean) =>
  treeHolds(folder, false, (_, name) => test(name), files)

/** Whether what is in a folder now is what the command will find: it is there, and nothing else in the line fills it. */
function isSettled(place: Place, folder: string, filled: readonly FileUse[]): boolean {
  if (!isThere(folder, place.files)) return false
  const places = filled.flatMap(({ word }) => place.accesses(word, 'edit').flatMap(({ paths }) => paths))
  return !places.some((place) => isWithin(place, folder) || isWithin(folder, place))
}

/** Files that the line does not name, into a folder where some of them could be protected. */
function createsGuard(place: Place, word: ShellWord, command: ShellCommand): Guard | undefined {
  const { fenced, mode, settings } = place.question
  if (fenced || modeInForce(mode, settings) === 'bypassPermissions') return undefined
  const why = `\`${clip(textOf(command))}\` writes files that it does not name`
  if (word.path.includes(HOLE) || word.glob) return { word: 'ask', why: `${why}, into a folder that is not known` }
  for (const folder of place.accesses(word, 'edit').flatMap(({ paths }) => paths))
    if (isGoverned(place, folder))
      return { word: 'ask', why: `${why}, into ${folder}, which settings and hooks are read from` }
  return undefined
}

/** Where settings, hooks or what hooks run are looked for: a project, a home, a repository, and folders above one. */
function isGoverned({ question, files }: Place, folder: string): boolean {
  const { cwd, projectDir, home, origins = [], protect } = question
  const exact = protect?.flatMap(({ at, path }) => (at === 'exact' ? [path] : [])) ?? []
  if ([cwd, projectDir, home, ...origins, ...exact].some((path) => isWithin(path, folder))) return true
  if ((protectionOf(below(folder, 'x'), home, protect)?.edit ?? 'mode') !== 'mode') return true
  if (/\/\.git(\/|$)/.test(folder)) return true
  return isThere(folder, files) && marks.some((name) => isThere(below(folder, name), files))
}

const marks = ['.git', '.ona', '.claude', '.mcp.json']

function inHome(row: ProtectedPath, home: string): string {
  const before = homePaths.get(row)
  if (before?.home === home) return before.path
  const path = join(home, row.path)
  homePaths.set(row, { home, path })
  return path
}

const homePaths = new WeakMap<ProtectedPath, { readonly home: string; readonly path: string }>()

/** Where the line is not all known, a protected path anywhere in its text counts: `f=~/.ona/agent.db; sqlite3 $f`. */
function hidden({ reading, question, source }: Line): Guard | undefined {
  const isOpen = (word: ShellWord) => !word.literal
  const unknown =
    reading.unknown !== undefined ||
    reading.commands.some(
      (command) => command.writes.some(isOpen) || (command.words.some(isOpen) && readOnlyUse(command) === undefined),
    )
  if (!unknown || !/[./]/.test(source)) return undefined
  for (const token of source.split(/[\s'"`;|&()<>=,{}]+/)) {
    if (!/[./]/.test(token)) continue // a word, or a name that no row has
    const path = token.replace(/^\$HOME(?=\/)/, '~').replace(/^\$PWD(?=\/)/, '.')
    const at = placed(path.replace(/^~(?=\/|$)/, question.home), question.home, question.cwd)
    const row = protectionOf(join(at.startsWith('/') ? '' : question.cwd, at), question.home, question.protect)
    if (row && row.edit !== 'mode') return { word: 'ask', why: `it mentions ${token}, which is ${row.what}` }
  }
  return undefined
}
