/** Words of commands that only read: what they may be when they run. */
import { isSecretFile } from '../../secret-files.ts'
import { HOLE } from '../../wildcard.ts'
import { plainWord, type ShellWord } from '../parse/command.ts'

/** Whatever its value is when it runs. `"$@"` is several. */
export const isOneWord = ({ literal, text }: ShellWord): boolean => literal || /^"[^"@]*"$/.test(text)

/** The same for a word that begins as an option does: unquoted, its value could hold more options. */
export const isOneOption = ({ text, glob, path }: ShellWord): boolean =>
  glob ? !path.includes(HOLE) : /^[\w=+%:-]*"[^"@]*"$/.test(text)

/** Neither an option nor more words, whatever its value is when it runs. The names that wildcards stand for are looked at. */
export const isText = (word: ShellWord, code: boolean, args: readonly ShellWord[]): boolean => {
  if (word.literal || code) return word.literal
  const ended = args[args.indexOf(word) - 1]?.value === '--'
  return word.glob ? !word.path.includes(HOLE) : isOneWord(word) && (ended || !word.value.startsWith(HOLE))
}

/** `--exclude=/x`, `--exclude-from=keys/a`: read as a path, which is the cautious reading. */
export function pathValue(option: string): ShellWord[] {
  const value = /^--[\w-]+=(.+)/s.exec(option)?.[1]
  return value !== undefined && (/^[/~.]/.test(value) || isNamed(value)) ? [plainWord(value)] : []
}

/** A file in a folder, or one that usually holds a secret. */
const isNamed = (value: string): boolean => !unsettled.test(value) && (value.includes('/') || isSecretFile(`/${value}`))
const unsettled = new RegExp(`[*?[${HOLE}]`)
