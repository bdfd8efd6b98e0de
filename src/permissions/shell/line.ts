/** A command line under judgement: what was read, the question and the rules, and paths resolved once. */
import { type FileAccess, inWorkingDirectories, placesOf } from '../paths/access.ts'
import { resolvePaths } from '../paths/pattern.ts'
import { treeHolds } from '../paths/tree.ts'
import { type FileView, rememberingView } from '../paths/view.ts'
import type { PermissionQuestion } from '../question.ts'
import type { Rules } from '../rules.ts'
import { isSecretFile } from '../secret-files.ts'
import { HOLE } from '../wildcard.ts'
import type { Reading, ShellWord } from './command.ts'
import { directoriesOf, placed } from './directories.ts'
import { expandGlob } from './expand-glob.ts'

export class Line {
  readonly reading: Reading
  readonly question: PermissionQuestion
  readonly rules: Rules
  readonly files: FileView
  /** Where the commands may run: `cd` moves the later ones. undefined: somewhere unknown. */
  readonly directories: readonly string[] | undefined
  /** Paths are followed once a line. */
  private readonly followed = new Map<string, Readonly<Record<'read' | 'edit', readonly FileAccess[]>>>()

  constructor(reading: Reading, question: PermissionQuestion, rules: Rules) {
    this.reading = reading
    this.files = question.files ?? rememberingView()
    const asked = { ...question, files: this.files }
    this.question = { ...asked, places: placesOf(asked) }
    this.rules = rules
    this.directories = directoriesOf(reading, this.question)
  }

  /** Every place that a word without wildcards may name. */
  accesses(word: ShellWord, kind: 'read' | 'edit'): readonly FileAccess[] {
    let known = this.followed.get(word.path)
    if (!known) {
      const { cwd, home } = this.question
      const paths = (this.directories ?? [cwd]).map((directory) =>
        resolvePaths(placed(word.path, home, directory), directory, home, this.files),
      )
      const as = (kind: 'read' | 'edit') => paths.map((each) => ({ kind, paths: each, tree: false }))
      known = { read: as('read'), edit: as('edit') }
      this.followed.set(word.path, known)
    }
    return known[kind]
  }

  /** The words that wildcards stand for now, for every place the command may run in; undefined: too many to look at. */
  expanded(word: ShellWord): readonly ShellWord[] | undefined {
    if (!word.glob) return [word]
    const { cwd, home } = this.question
    const found: ShellWord[] = []
    for (const directory of this.directories ?? [cwd]) {
      const paths = expandGlob(placed(word.path, home, directory), directory, this.files)
      if (!paths) return undefined
      found.push(...paths.map((path) => ({ ...word, value: path, path, glob: false })))
    }
    return found
  }

  /** Whether the Read tool could read the word's file without a prompt: in the working directories, and no secret. */
  readable(
    word: ShellWord,
    { metadata = false, tree }: { metadata?: boolean; tree?: 'visible' | 'hidden' } = {},
  ): boolean {
    if (devices.test(word.value) || devices.test(word.path)) return true
    if (word.path.includes(HOLE) || !this.directories) return false
    const words = this.expanded(word)
    // a name that begins with a dash would be an option
    if (!words || (word.glob && /^[*?[]/.test(word.path) && words.some(({ path }) => /\/-[^/]*$/.test(path))))
      return false
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

const devices = /^\/dev\/(null|zero|stdin|stdout|stderr|tty|fd\/\d+)$/
