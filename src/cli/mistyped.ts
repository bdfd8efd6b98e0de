/** A mistyped command is reported, not sent to the model as a prompt. */
import { nearest } from '../hooks/text/nearest.ts'
import { commands, flagCommands } from './table.ts'

/**
 * The message for words that were probably meant as a command: the first is one typo away from a command's name (two in
 * a name of more than five letters), and the next, if any, is a flag, a path or a subcommand; or `--help` follows a word
 * that is no command. A prompt is quoted or written after `--`.
 */
export function mistyped([first = '', next = '--', ...rest]: readonly string[]): string | undefined {
  if (!/^[a-z-]{3,}$/.test(first)) return undefined
  const asksForHelp = [next, ...rest].some((word) => word === '--help' || word === '-h')
  const families = Object.keys(commands).filter((name) => commands[name]!.verbs?.includes(first))
  if (asksForHelp && families.length > 0)
    return `unknown command "${first}"; did you mean ${families.map((name) => `"ona ${name} ${first}"`).join(' or ')}?`
  const name = nearest(first, Object.keys(commands), (each) => (each.length > 5 ? 2 : 1))
  if (name === undefined) return asksForHelp && first !== 'help' ? `unknown command "${first}"` : undefined
  const isPlainWord = /^[\p{L}\d]+$/u.test(next)
  if (isPlainWord && !commands[name]!.verbs?.includes(next)) return undefined
  return `unknown command "${first}"; did you mean "ona ${name}"?`
}

/** The message for a command spelt as a flag, such as `--eval`, with a typo in it. */
export function mistypedFlag(words: readonly string[]): string | undefined {
  const names = Object.keys(flagCommands)
  const [word, meant] = words
    .filter((word) => word.startsWith('--'))
    .map((word) => [word, nearest(word, names)])
    .find(([, meant]) => meant !== undefined) ?? [undefined, undefined]
  return meant === undefined ? undefined : `unknown flag ${word}; did you mean ${meant}?`
}
