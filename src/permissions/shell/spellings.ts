/** A command in every spelling that a rule may have it in. */

import { normalize } from 'node:path/posix'
import { foldsCase } from '../paths/pattern.ts'
import { HOLE } from '../wildcard.ts'
import { byName } from './by-name.ts'
import type { ShellCommand, ShellWord, Spellings } from './command.ts'
import { says } from './files.ts'
import { commandsInCode, computed } from './programs/embedded.ts'
import { isReadOnlyProgram } from './programs/read-only.ts'
import { formsOf, nameOf } from './wrappers.ts'

export function spellingsOf(command: ShellCommand): Spellings {
  command.known.spellings ??= spell(command)
  return command.known.spellings
}

function spell(command: ShellCommand): Spellings {
  const { words, input } = command
  if (words.length === 0) return { certain: [], possible: [] }
  const all = formsOf(command)
  const certain = new Set<string>()
  const possible = new Set<string>()
  for (const form of all)
    for (const each of new Set([...variants(form), straight(form)])) for (const text of texts(each)) certain.add(text)
  for (const form of all) for (const each of variants(form)) possible.add(withHoles(each))
  for (const form of behind(words, all.length > 1)) for (const each of variants(form)) possible.add(withHoles(each))
  for (const form of all) for (const text of commandsInCode(nameOf(form), form.slice(1), input)) possible.add(text)
  for (const text of valuesIn(words)) possible.add(text)
  const hides = all.some((each) => computed(nameOf(each), each.slice(1), input).commands)
  if (words.length > mostWords || hides) possible.add(HOLE)
  for (const text of certain) if (!text.includes(HOLE)) possible.delete(text)
  return { certain: [...certain], possible: [...possible] }
}

/** A form as written, under the name of its program, and without git's own options. */
function variants(form: readonly ShellWord[]): ReadonlySet<readonly ShellWord[]> {
  return new Set([form, shortName(form), gitCommand(form, true)])
}

/** With more words than this, anything may be among them. */
const mostWords = 200

/** Behind a wrapper, or in a program that we do not know, any word may be where a command begins. */
function behind(words: readonly ShellWord[], wraps: boolean): readonly (readonly ShellWord[])[] {
  if (!wraps && isKnown(words)) return []
  return words.slice(0, mostWords).map((_, at) => words.slice(at))
}

/** Programs whose words are not commands; what they run by options and verbs is looked at elsewhere. */
const known = byName(
  /^(git|npm|pnpm|yarn|bun|deno|node|tsc|eslint|biome|prettier|jest|vitest|mocha|pytest|tox|ruff|black|mypy|pip3?|go|cargo|rustc|rustfmt|gcc|g\+\+|clang|cmake|make|gmake|ninja|mvn|gradle|gradlew|dotnet|javac?|python[\d.]*|ruby|gem|rake|perl|php|composer|swift|docker|podman|kubectl|helm|terraform|aws|gcloud|gh|glab|curl|wget|ssh|scp|rsync|tar|zip|unzip|gzip|gunzip|cp|mv|rm|rmdir|mkdir|touch|ln|chmod|chown|cd|pushd|popd|export|unset|read|local|declare|set|kill|pkill|killall|brew|apt|apt-get|systemctl|journalctl|vim?|nano|code|open|man|less|more|sqlite3|psql|mysql|redis-cli|jq|yq|sed|[gm]?awk|tee|xargs|patch|dd|install|truncate|shred|openssl|gpg|base64)$/,
)

const isKnown = (words: readonly ShellWord[]): boolean =>
  known.test(nameOf(words)) || says.test(nameOf(words)) || isReadOnlyProgram(nameOf(words))

/** What an option or a list holds: `--filter='rm x'`, `-wrapper rm,x`. Text that is only printed holds nothing. */
function valuesIn(words: readonly ShellWord[]): string[] {
  if (says.test(nameOf(words))) return []
  const rest = (at: number) => words.slice(at + 1).map((word) => word.value)
  return words.flatMap(({ value, glob }, at) => {
    if (at === 0 || glob) return []
    if (!/[=,:;]/.test(value)) return []
    const given = /^--?[\w-]+=(.+)$/s.exec(value)?.[1]
    const [first, ...listed] = isKnown(words) ? [] : value.split(/[=,:;]/)
    return [...(given === undefined ? [] : [given]), ...listed, ...(first === undefined ? [] : [first])].map((text) =>
      [text, ...rest(at)].join(' '),
    )
  })
}

const texts = (words: readonly ShellWord[]): readonly string[] => [
  words.map((word) => word.text).join(' '),
  words.map((word) => word.value).join(' '),
]

/** `/opt/a/../tool x` as `/opt/tool x`. */
function straight(words: readonly ShellWord[]): readonly ShellWord[] {
  const name = words[0]?.value ?? ''
  const path = name.startsWith('/') && /\/(\.{0,2}\/)/.test(name) ? normalize(name) : name
  return path === name ? words : [{ ...words[0]!, value: path, text: path }, ...words.slice(1)]
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
    if (all && /^(-[cC]|--git-dir|--work-tree|--namespace|--exec-path|--config-env)$/.test(value)) at++
    else if (!(value === '--no-pager' || value === '-P' || (all && value.startsWith('-')))) break
  }
  if (at === 1 && words[0]!.value === 'git' && words[0]!.text === 'git') return words
  return [{ ...words[0]!, value: 'git', text: 'git' }, ...words.slice(at)]
}

/** An unknown word may also vanish, with the space before it. */
const withHoles = (words: readonly ShellWord[]): string =>
  words.reduce(
    (line, word, at) => (at === 0 || /^\u0000+$/.test(word.value) ? line + word.value : `${line} ${word.value}`),
    '',
  )
