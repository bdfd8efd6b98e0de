/** A command that was meant and mistyped is not a prompt. */
import { nearest } from '../hooks/text/nearest.ts'
import { commands } from './table.ts'

/**
 * What to say of words that were probably meant as a command: the first is one slip away from a command's name (two in a
 * name of more than five letters), and the next, if there is one, is a flag, a path or something that command can do.
 * Whoever means a prompt quotes it, or writes it after `--`.
 */
export function mistyped([first = '', next = '--']: readonly string[]): string | undefined {
  if (!/^[a-z-]{3,}$/.test(first)) return undefined
  const name = nearest(first, Object.keys(commands), (each) => (each.length > 5 ? 2 : 1))
  if (name === undefined) return undefined
  const isPlainWord = /^[\p{L}\d]+$/u.test(next)
  if (isPlainWord && !commands[name]!.verbs?.includes(next)) return undefined
  return `there is no command "${first}"; did you mean "ona ${name}"?`
}
