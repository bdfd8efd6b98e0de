/** Where commands are judged: by which rules and mode, in which folders; and what was worked out there. */
import { dirname, join } from 'node:path'
import { type FileAccess, inWorkingDirectories, placesOf } from '../../paths/access.ts'
import { matchesPath, resolvePaths } from '../../paths/pattern.ts'
import { treeHolds } from '../../paths/tree.ts'
import { type FileView, isThere, rememberingView } from '../../paths/view.ts'
import { mayBeProtected } from '../../protected-paths.ts'
import type { PermissionQuestion } from '../../question.ts'
import { type Recent, recent } from '../../recent.ts'
import type { Rules } from '../../rules/rules.ts'
import { isSecretFile } from '../../secret-files.ts'
import { HOLE } from '../../wildcard.ts'
import type { FileUse, ShellCommand, ShellWord, Verdict } from '../parse/command.ts'
import { programIn } from '../parse/wrappers.ts'
import { indexOf, type Placed, type RuleIndex } from '../rule-index.ts'
import { placed } from './directories.ts'
import { expandGlob } from './expand-glob.ts'
import { filesOf } from './files.ts'

export class Place {
  readonly question: PermissionQuestion
  readonly rules: Rules
  readonly index: RuleIndex
  readonly files: FileView
  /** Where the commands may run: `cd` moves the later ones. undefined: somewhere unknown. */
  readonly directories: readonly string[] | undefined
  /** By a number made of the path, one for each: they are for the words of a line, and for what comes up again and again. */
  private readonly followed: (Followed | undefined)[] = noneFollowed.slice()
  private readonly answers: Recent<string, boolean> = recent(1000)
  /** What wildcards stand for. */
  private readonly globs: Recent<string, readonly string[] | null> = recent(50)
  private readonly moved: Recent<string, Place> = recent(8)

  constructor(question: PermissionQuestion, rules: Rules, directories: readonly string[] | undefined) {
    this.files = question.files ?? rememberingView()
    const asked = { ...question, files: this.files, input: {} }
    this.question = { ...asked, places: placesOf(asked) }
    this.rules = rules
    this.index = indexOf(rules)
    this.directories = directories
  }

  /** The same rules for a line that runs elsewhere too. */
  at(directories: readonly string[] | undefined): Place {
    const key = directories?.join('\n') ?? ''
    const known = this.moved.get(key)
    if (known) return known
    const place = new Place(this.question, this.rules, directories)
    this.moved.set(key, place)
    return place
  }

  /** What is known about a command here: kept with the command, for as many places as a comparison needs. */
  verdictOf(command: ShellCommand): Verdict {
    const { verdicts } = command.known
    for (const each of verdicts) if (each.place === this) return each
    const verdict: Verdict = {
      place: this,
      concerned: undefined,
      deny: undefined,
      ask: undefined,
      guard: undefined,
      doubt: undefined,
      permission: undefined,
    }
    if (verdicts.length >= mostVerdicts) verdicts.shift()
    verdicts.push(verdict)
    return verdict
  }

  /** The files of a command that a rule or a protection may be about: most commands have none. */
  concernedFiles(command: ShellCommand): readonly FileUse[] {
    const verdict = this.verdictOf(command)
    verdict.concerned ??= filesOf(command).filter((use) => this.isConcerned(use))
    return verdict.concerned
  }

  private isConcerned({ kind, word }: FileUse): boolean {
    const isOne = kind === 'read' || kind === 'edit' || kind === 'mayRead' || kind === 'mayEdit'
    if (!isOne || word.glob || word.path.includes(HOLE) || this.directories === undefined) return true
    const { guarded, rules } = this.follow(word.path)
    return guarded || rules.length > 0 || word.path.startsWith('/proc/')
  }

  /** Every place that a word without wildcards may name. */
  accesses(word: ShellWord, kind: 'read' | 'edit'): readonly FileAccess[] {
    const followed = this.follow(word.path)
    const known = followed[kind]
    if (known) return known
    const found = followed.paths.map((paths) => ({ kind, paths, tree: false }))
    followed[kind] = found
    return found
  }

  /** Whether one of the paths may be in the list of protected ones: most are not. */
  mayBeProtected(word: ShellWord): boolean {
    return this.follow(word.path).guarded
  }

  /** The deny and ask rules on files that apply to a word without wildcards, for one way to use it or for both. */
  rulesOn(word: ShellWord): readonly Placed[] {
    return this.follow(word.path).rules
  }

  /** Whether something is where the word leads, in one of the folders. */
  isThere(word: ShellWord): boolean {
    const followed = this.follow(word.path)
    followed.there ??= followed.paths.some((paths) => isThere(paths.at(-1)!, this.files))
    return followed.there
  }

  /** Whether a command names the program that is at this path: by a word that leads there, or in code on the line. */
  namesProgram({ words, input }: ShellCommand, path: string): boolean {
    const { cwd, projectDir, home } = this.question
    const name = programIn(path)
    const isFolder = (folders: readonly string[]) =>
      [projectDir, cwd].some((base) =>
        resolvePaths(dirname(path), base, home, this.files).some((each) => folders.includes(each)),
      )
    const leadsThere = (word: ShellWord, at: number) => {
      if (programIn(word.path) !== name || (at === 0 && word.path === name)) return false // found in PATH
      return this.directories === undefined || this.follow(dirname(word.path)).paths.some(isFolder)
    }
    return words.some(leadsThere) || [...words.map(({ value }) => value), ...input].some((text) => text.includes(path))
  }

  private follow(path: string): Followed {
    const slot = slotOf(path)
    const known = this.followed[slot]
    if (known?.path === path) return known
    const { cwd, home, protect } = this.question
    const all: (readonly string[])[] = []
    let guarded = false
    let rules = noRules
    for (const directory of this.directories ?? [cwd]) {
      const paths = resolvePaths(placed(path, home, directory), directory, home, this.files)
      all.push(paths)
      for (const each of paths) {
        guarded ||= mayBeProtected(each, home, protect)
        rules = this.withRulesOn(each, rules)
      }
    }
    const found = { path, paths: all, read: undefined, edit: undefined, there: undefined, guarded, rules }
    this.followed[slot] = found
    return found
  }

  private withRulesOn(path: string, known: readonly Placed[]): readonly Placed[] {
    const places = placesOf(this.question)
    let found = known
    for (const each of this.index.files) {
      const { specifier } = each.rule
      if (specifier.kind === 'path' && matchesPath(specifier.pattern, path, places, false) && !found.includes(each))
        found = [...found, each]
    }
    return found
  }

  /** An answer that files give, once for as long as the view of them lasts. */
  answer(about: string, work: () => boolean): boolean {
    const known = this.answers.get(about)
    if (known !== undefined) return known
    const found = work()
    this.answers.set(about, found)
    return found
  }

  /** The words that wildcards stand for now, for every place the command may run in; undefined: too many to look at. */
  expanded(word: ShellWord): readonly ShellWord[] | undefined {
    if (!word.glob) return [word]
    let paths = this.globs.get(word.path)
    if (paths === undefined) {
      paths = this.expand(word.path)
      this.globs.set(word.path, paths)
    }
    return paths?.map((path) => ({ ...word, path }))
  }

  /** Whether wildcards at the beginning of a word stand for a name or a folder that begins with a dash. */
  mayBeOption(word: ShellWord): boolean {
    const dashed = (this.directories ?? [this.question.cwd]).map((directory) => join(directory, '-'))
    return this.expanded(word)?.some(({ path }) => dashed.some((each) => path.startsWith(each))) ?? true
  }

  /** Null: too many. */
  private expand(glob: string): readonly string[] | null {
    const { cwd, home } = this.question
    const found: string[] = []
    for (const directory of this.directories ?? [cwd]) {
      const paths = expandGlob(placed(glob, home, directory), directory, this.files)
      if (!paths) return null
      found.push(...paths)
    }
    return found
  }

  /** Whether the Read tool could read the word's file without a prompt: in the working directories, and no secret. */
  readable(
    word: ShellWord,
    { metadata = false, tree }: { metadata?: boolean; tree?: 'visible' | 'hidden' } = {},
  ): boolean {
    if (isDevice(word.value) || isDevice(word.path)) return true
    if (word.path.includes(HOLE) || !this.directories) return false
    const words = this.expanded(word)
    if (!words || (word.glob && /^[*?[]/.test(word.path) && this.mayBeOption(word))) return false
    return words.every((each) =>
      this.accesses(each, 'read').every((access) => {
        if (!inWorkingDirectories(access, this.question)) return false
        if (metadata) return true
        if (access.paths.some(isSecretFile)) return false
        return !tree || !treeHolds(access.paths.at(-1)!, tree === 'visible', isSecretFile, this.files)
      }),
    )
  }
}

interface Followed {
  readonly path: string
  /** For each folder that the line may run in. */
  readonly paths: readonly (readonly string[])[]
  read: readonly FileAccess[] | undefined
  edit: readonly FileAccess[] | undefined
  there: boolean | undefined
  readonly guarded: boolean
  readonly rules: readonly Placed[]
}

const noRules: readonly Placed[] = []
const mostVerdicts = 4
const mostFollowed = 256
const noneFollowed: readonly undefined[] = Array.from({ length: mostFollowed }, () => undefined)

/** Names differ at their ends and in their middles. */
function slotOf(path: string): number {
  const { length } = path
  const hash =
    length * 31 + path.charCodeAt(length - 1) * 17 + path.charCodeAt(length - 2) * 7 + path.charCodeAt(length >> 1)
  return hash % mostFollowed || 0 // of a text too short for that, too
}
const isDevice = (path: string): boolean => /^\/dev\/(null|zero|stdin|stdout|stderr|tty|fd\/\d+)$/.test(path)

/** The places that were asked about last, as long as their view of the files lasts. */
const places = new WeakMap<FileView, Place[]>()
const mostPlaces = 8

/** The place of a question whose line does not move. */
export function placeOf(question: PermissionQuestion, rules: Rules): Place {
  const { files } = question
  if (!files?.lasting) return new Place(question, rules, [question.cwd])
  const known = places.get(files) ?? []
  const before = known.find((each) => each.rules === rules && isSame(each.question, question))
  if (before) return before
  const place = new Place(question, rules, [question.cwd])
  places.set(files, [place, ...known.slice(0, mostPlaces - 1)])
  return place
}

/** Everything of a question that the judgement on a command depends on. */
const isSame = (one: PermissionQuestion, other: PermissionQuestion): boolean =>
  one.cwd === other.cwd &&
  one.mode === other.mode &&
  one.projectDir === other.projectDir &&
  one.home === other.home &&
  one.settings === other.settings &&
  one.origins === other.origins &&
  one.protect === other.protect &&
  one.fenced === other.fenced
