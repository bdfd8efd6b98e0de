/** Whether grep or diff looks through folders. */
import { anyAbbreviates } from '../parse/abbreviates.ts'

/** `-r`, `--rec`, `-d recurse`, `--dir=rec`. */
export const looksThroughFolders = (words: readonly string[]): boolean =>
  anyAbbreviates(words, ['--recursive', '--dereference-recursive']) ||
  words.some((word, at) => /^-[a-zA-Z]*[rR]/.test(word) || recursion.test(`${words[at - 1]} ${word}`))

const recursion = /^(-[a-zA-Z]*d|--d[a-z-]*) rec| --d[a-z-]*=rec/
