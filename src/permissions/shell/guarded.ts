/** Protected paths in a command line: what it certainly changes or reads, and what it may. */
import { basename, dirname, join } from 'node:path'
import { modeInForce } from '../modes.ts'
import { isWithin } from '../paths/pattern.ts'
import { treeHolds } from '../paths/tree.ts'
import { type FileView, isThere } from '../paths/view.ts'
import { type ProtectedPath, protectedPaths, protectionOf } from '../protected-paths.ts'
import { protectedFinding } from '../protection.ts'
import type { Finding } from '../question.ts'
import { couldMatch, HOLE } from '../wildcard.ts'
import type { FileUse, ShellCommand, ShellWord } from './command.ts'
import { allowRuleCovers, clip, textOf } from './coverage.ts'
import { placed } from './directories.ts'
import { filesOf } from './files.ts'
import type { Line } from './line.ts'
import { readOnlyUse } from './programs/read-only.ts'
import { typesIntoTerminal } from './terminals.ts'

type Guard = Finding & { readonly word: 'deny' | 'ask' }

/** The strictest finding of the line. What is unknown is no reason: the sandbox and the rules on commands see to that. */
export function guarded(line: Line, source: string): Guard | undefined {
  let asks: Guard | undefined
  for (const command of line.reading.commands) {
    if (
      line.rules.allow.some(
        (rule) => 'exact' in rule.specifier && rule.specifier.exact && allowRuleCovers(rule, command),
      )
    )
      continue
    for (const found of guardsOf(line, command)) {
      if (found.word === 'deny') return found
      asks ??= found
    }
  }
  return asks ?? hidden(line, source)
}

function guardsOf(line: Line, command: ShellCommand): Guard[] {
  const environment = command.words.concat(command.reads).find(showsEnvironment)
  if (environment) {
    const why = `\`${clip(textOf(command))}\` reads the environment of a process, which holds credentials`
    return [{ word: environment.literal ? 'deny' : 'ask', why }]
  }
  if (typesIntoTerminal(command) && modeInForce(line.question.mode, line.question.settings) !== 'bypassPermissions')
    return [{ word: 'ask', why: `\`${clip(textOf(command))}\` acts in another terminal, where no rule is asked` }]
  const onlyReads = command.writes.length === 0 && readOnlyUse(command) !== undefined
  return filesOf(command).flatMap((use) => guardOf(line, onlyReads ? asRead(use) : use, command) ?? [])
}

const asRead = (use: FileUse): FileUse =>
  use.kind === 'mayEdit' ? { ...use, kind: 'mayRead' } : use.kind === 'treeEdit' ? { ...use, kind: 'treeRead' } : use

const showsEnvironment = ({ path }: ShellWord): boolean => {
  if (!path.startsWith('/proc')) return false
  const text = path.replace(/\[[^\]]*\]|[*?]/g, HOLE)
  return ['/proc/*/environ', '/proc/*/mem'].some((each) => couldMatch(each, text))
}

function guardOf(line: Line, use: FileUse, command: ShellCommand): Guard | undefined {
  const { kind, word } = use
  if (kind === 'creates') return createsGuard(line, word, command)
  if (kind === 'treeRead' || kind === 'treeEdit') return treeGuard(line, use, command)
  const access = kind === 'read' || kind === 'mayRead' ? 'read' : 'edit'
  const words = word.path.includes(HOLE) ? [known(word)] : (line.expanded(word) ?? [known(word)])
  const certain = (kind === 'read' || kind === 'edit') && !use.unsure && word.literal
  for (const each of words.flatMap((one) => one ?? [])) {
    for (const file of line.accesses(each, access)) {
      const found = protectedFinding(file, line.question, line.rules)
      if (!found) continue
      return certain ? found : { word: 'ask', why: `\`${clip(textOf(command))}\`: ${found.why}` }
    }
  }
  return undefined
}

/** The folder before what is unknown: `~/.ona/$X` is something in `~/.ona`. */
function known(word: ShellWord): ShellWord | undefined {
  const folder = /^([^\u0000*?[{]*)\//.exec(word.path)?.[1]
  return folder ? { ...word, path: `${folder}/x`, glob: false } : undefined
}

/** A folder that is changed or read as a whole with protected paths in it. */
function treeGuard(line: Line, { kind, word, to }: FileUse, command: ShellCommand): Guard | undefined {
  if (to) {
    const copied = copyGuard(line, word, to, command)
    if (copied) return copied
  }
  if (word.path.includes(HOLE)) return undefined
  const { home, protect = [] } = line.question
  const rows = [...protect, ...protectedPaths].filter((row) => (kind === 'treeRead' ? row.read : row.edit !== 'mode'))
  const folders = (line.expanded(word) ?? []).flatMap((each) =>
    line.accesses(each, 'edit').flatMap(({ paths }) => paths),
  )
  for (const folder of folders) {
    const row = rows.find((each) => placesIn(each, folder, home, line.files).some((path) => isWithin(path, folder)))
    if (row) return { word: 'ask', why: `\`${clip(textOf(command))}\` takes ${folder} with ${row.what}` }
  }
  return undefined
}

/** A folder's files by other names: what is protected where they go to, or cannot be seen yet. */
function copyGuard(line: Line, word: ShellWord, to: ShellWord, command: ShellCommand): Guard | undefined {
  const { home, protect } = line.question
  const top = word.glob ? { ...word, path: dirname(word.path.replace(/[*?[{].*$/s, 'x')), glob: false } : word
  const targets = line.accesses(to, 'edit').flatMap(({ paths }) => paths)
  const folders = line.accesses(top, 'read').map(({ paths }) => paths.at(-1)!)
  if (top.path.includes(HOLE) || to.path.includes(HOLE) || folders.some((folder) => !isSettled(line, folder)))
    return createsGuard(line, to, command)
  const isProtected = (path: string) => (protectionOf(path, home, protect)?.edit ?? 'mode') !== 'mode'
  for (const folder of folders)
    for (const target of targets) {
      if (
        !holds(line, folder, (below) =>
          [below, join(basename(folder), below)].some((at) => isProtected(join(target, at))),
        )
      )
        continue
      return { word: 'ask', why: `\`${clip(textOf(command))}\` would put protected files into ${target}` }
    }
  return undefined
}

const holds = ({ files }: Line, folder: string, test: (below: string) => boolean) =>
  treeHolds(folder, false, (_, below) => test(below), files)

/** Whether what is in a folder now is what the command will find: it is there, and nothing else in the line fills it. */
function isSettled(line: Line, folder: string): boolean {
  if (!isThere(folder, line.files)) return false
  const filled = line.reading.commands.flatMap((command) => filesOf(command).filter(({ kind }) => kind === 'creates'))
  const places = filled.flatMap(({ word }) => line.accesses(word, 'edit').flatMap(({ paths }) => paths))
  return !places.some((place) => isWithin(place, folder) || isWithin(folder, place))
}

/** Files that the line does not name, into a folder where some of them could be protected. */
function createsGuard(line: Line, word: ShellWord, command: ShellCommand): Guard | undefined {
  const { fenced, mode, settings } = line.question
  if (fenced || modeInForce(mode, settings) === 'bypassPermissions') return undefined
  const why = `\`${clip(textOf(command))}\` writes files that it does not name`
  if (word.path.includes(HOLE) || word.glob) return { word: 'ask', why: `${why}, into a folder that is not known` }
  for (const folder of line.accesses(word, 'edit').flatMap(({ paths }) => paths))
    if (isGoverned(line, folder))
      return { word: 'ask', why: `${why}, into ${folder}, which settings and hooks are read from` }
  return undefined
}

/** Where settings, hooks or what hooks run are looked for: a project, a home, a repository, and folders above one. */
function isGoverned({ question, files }: Line, folder: string): boolean {
  const { cwd, projectDir, home, origins = [], protect } = question
  const exact = protect?.flatMap(({ at, path }) => (at === 'exact' ? [path] : [])) ?? []
  if ([cwd, projectDir, home, ...origins, ...exact].some((path) => isWithin(path, folder))) return true
  if ((protectionOf(join(folder, 'x'), home, protect)?.edit ?? 'mode') !== 'mode') return true
  if (/\/\.git(\/|$)/.test(folder)) return true
  return isThere(folder, files) && marks.some((name) => isThere(join(folder, name), files))
}

const marks = ['.git', '.ona', '.claude', '.mcp.json']

/** Where a row's path lies in a folder that is one, or the beginning of one: `hooks` in `.git`. */
function placesIn(row: ProtectedPath, folder: string, home: string, files: FileView): readonly string[] {
  if (row.at === 'home') return [inHome(row, home)]
  if (row.at === 'exact') return [row.path]
  if (row.path.startsWith('.git/') && basename(folder) === '.git') return [join(folder, row.path.slice('.git/'.length))]
  if (!/^\.(ona|claude|git)/.test(row.path) || !isThere(folder, files)) return []
  return isThere(join(folder, row.path), files) ? [join(folder, row.path)] : []
}

function inHome(row: ProtectedPath, home: string): string {
  const before = homePaths.get(row)
  if (before?.home === home) return before.path
  const path = join(home, row.path)
  homePaths.set(row, { home, path })
  return path
}

const homePaths = new WeakMap<ProtectedPath, { readonly home: string; readonly path: string }>()

/** Where the line is not all known, a protected path anywhere in its text counts: `f=~/.ona/agent.db; sqlite3 $f`. */
function hidden({ reading, question }: Line, source: string): Guard | undefined {
  const open = reading.commands.filter((command) => readOnlyUse(command) === undefined)
  const unknown =
    reading.unknown !== undefined ||
    open.some(({ words }) => words.some((word) => !word.literal)) ||
    reading.commands.some(({ writes }) => writes.some((word) => !word.literal))
  if (!unknown || !/[./]/.test(source)) return undefined
  for (const token of new Set(source.split(/[\s'"`;|&()<>=,{}]+/))) {
    const path = token.replace(/^\$\{?HOME\}?(?=\/)/, '~').replace(/^\$\{?PWD\}?(?=\/)/, '.')
    if (!path.includes('/') && !path.startsWith('.')) continue
    const at = placed(path.replace(/^~(?=\/|$)/, question.home), question.home, question.cwd)
    const row = protectionOf(join(at.startsWith('/') ? '' : question.cwd, at), question.home, question.protect)
    if (row && row.edit !== 'mode') return { word: 'ask', why: `it mentions ${token}, which is ${row.what}` }
  }
  return undefined
}
