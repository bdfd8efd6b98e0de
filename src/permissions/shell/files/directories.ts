/** Where the commands of a line run. */

import { absolutePath } from '../../paths/pattern.ts'
import type { PermissionQuestion } from '../../question.ts'
import { HOLE } from '../../wildcard.ts'
import { HOME, PWD, type Reading, type ShellCommand, type ShellWord } from '../parse/command.ts'
import { formsOf, nameOf } from '../parse/wrappers.ts'

/** The line's own directory and every one that a `cd` in it may lead to. */
export function directoriesOf({ commands }: Reading, { cwd, home }: PermissionQuestion): readonly string[] | undefined {
  const directories = [cwd]
  for (const command of commands) {
    const move = moveOf(command)
    if (!move) continue
    const target = move.slice(1).find((word) => !word.value.startsWith('-') || word.value === '-')
    if (!target || target.value === '-' || target.glob || target.path.includes(HOLE)) return undefined
    const from = directories.at(-1)!
    directories.push(absolutePath(placed(target.path, home, from), from, home))
  }
  for (const { words } of commands)
    for (const path of directoryOptions(words)) directories.push(absolutePath(placed(path, home, cwd), cwd, home))
  return [...new Set(directories)]
}

/** `env -C dir`, `make -C dir`: where one command alone is moved to. */
function directoryOptions(words: readonly ShellWord[]): readonly string[] {
  const found: string[] = []
  for (let at = 0; at < words.length; at++) {
    const { value, path } = words[at]!
    if (!value.startsWith('-') || !/^-[-C]/.test(path)) continue
    const joined = /^(?:--(?:chdir|directory|cwd|prefix)=|-C)(.+)/s.exec(path)?.[1]
    const named = joined ?? (/^(-C|--chdir|--directory|--cwd|--prefix)$/.test(value) ? words[at + 1]?.path : undefined)
    if (named !== undefined && !named.includes(HOLE)) found.push(named)
  }
  return found
}

/** A path with the variables whose values we know. */
export const placed = (path: string, home: string, pwd: string): string =>
  path.includes(HOME) || path.includes(PWD) ? path.replaceAll(HOME, home).replaceAll(PWD, pwd) : path

export const movesAway = (command: ShellCommand): boolean => moveOf(command) !== undefined

/** `cd x`, also as `builtin cd x` or `command cd x`. */
const moveOf = (command: ShellCommand): readonly ShellWord[] | undefined => formsOf(command).find(isMove)

const isMove = (form: readonly ShellWord[]): boolean => moves.has(nameOf(form))
const moves: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd'])
