/** A command in every spelling that a rule may have it in. */

import { foldsCase } from '../paths/pattern.ts'
import type { ShellCommand, ShellWord, Spellings } from './command.ts'
import { commandsInCode } from './embedded.ts'
import { forms, nameOf } from './wrappers.ts'

/** No wrapper has more words of its own. */
const mostWords = 40

export function spellingsOf(command: ShellCommand): Spellings {
  command.known.spellings ??= spell(command)
  return command.known.spellings
}

function spell({ words, input }: ShellCommand): Spellings {
  if (words.length === 0) return { certain: [], possible: [] }
  const all = forms(words)
  // behind a wrapper, any word may be where the command begins: its options may be unknown to us
  const behind = all.length > 1 ? words.slice(0, mostWords).map((_, at) => words.slice(at)) : []
  const holed = [...all, ...behind].flatMap((each) => [each, shortName(each), gitCommand(each, true)]).map(withHoles)
  const code = all.flatMap((each) => commandsInCode(nameOf(each), each.slice(1), input))
  return { certain: [...new Set(all.flatMap(texts))], possible: [...new Set([...holed, ...code])] }
}

function texts(words: readonly ShellWord[]): string[] {
  return [words, shortName(words), gitCommand(words, true)].flatMap((each) => [
    each.map((word) => word.text).join(' '),
    each.map((word) => word.value).join(' '),
  ])
}

/** `/bin/rm x` as `rm x`; and `RM x`, where the file system finds the same program under both. */
function shortName(words: readonly ShellWord[]): readonly ShellWord[] {
  const name = foldsCase ? nameOf(words).toLowerCase() : nameOf(words)
  return name === words[0]?.value ? words : [{ ...words[0]!, value: name, text: name }, ...words.slice(1)]
}

/** `git -C dir log` as `git log`. `all`: also options that change what git does. */
export function gitCommand(words: readonly ShellWord[], all: boolean): readonly ShellWord[] {
  if (nameOf(words) !== 'git' || (!all && words[0]!.value !== 'git')) return words
  let at = 1
  for (; at < words.length; at++) {
    const value = words[at]!.value
    if (value === '-C' || (all && /^(-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env)$/.test(value))) at++
    else if (!(value === '--no-pager' || value === '-P' || (all && value.startsWith('-')))) break
  }
  return [{ ...words[0]!, value: 'git', text: 'git' }, ...words.slice(at)]
}

/** An unknown word may also vanish, with the space before it. */
const withHoles = (words: readonly ShellWord[]): string =>
  words.reduce(
    (line, word, at) => (at === 0 || /^\u0000+$/.test(word.value) ? line + word.value : `${line} ${word.value}`),
    '',
  )
