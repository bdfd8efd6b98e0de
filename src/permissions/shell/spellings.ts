/** A command in every spelling that a rule may have it in. */

import { normalize } from 'node:path/posix'
import { foldsCase } from '../paths/pattern.ts'
import { HOLE } from '../wildcard.ts'
import { byName } from './by-name.ts'
import type { ShellCommand, ShellWord, Spellings } from './command.ts'
import { says } from './files.ts'
import { commandsInCode, computed, holdsCode } from './programs/embedded.ts'
import { isReadOnlyProgram } from './programs/read-only.ts'
import { formsOf, nameOf } from './wrappers.ts'

export function spellingsOf(command: ShellCommand): Spellings {
  command.known.spellings ??= spell(command)
  return command.known.spellings
}

function spell(command: ShellCommand): Spellings {
  const { words, input } = command
  if (words.length === 0) return none
  const all = formsOf(command)
  const certain = new Set<string>()
  const open = new Set<string>()
  for (const form of all) {
    addTexts(form, certain)
    const direct = straight(form)
    if (direct !== form) addTexts(direct, certain)
    for (const each of renamed(form)) addTexts(each, certain)
  }
  const may = (form: readonly ShellWord[]) => {
    open.add(withHoles(form))
    for (const each of renamed(form)) open.add(withHoles(each))
  }
  for (const form of all) if (form.some(({ value }) => value.includes(HOLE))) may(form) // else it is certain
  for (const form of behind(words, all.length > 1)) may(form)
  let hides = words.length > mostWords
  for (const form of all) {
    const name = nameOf(form)
    if (!holdsCode(name)) continue
    const args = form.slice(1)
    for (const text of commandsInCode(name, args, input)) open.add(text)
    hides ||= computed(name, args, input).commands
  }
  for (const text of valuesIn(words)) open.add(text)
  if (hides) open.add(HOLE)
  const possible: string[] = []
  for (const text of open) if (text.includes(HOLE) || !certain.has(text)) possible.push(text)
  return { certain: [...certain], possible }
}

const none: Spellings = { certain: [], possible: [] }

/** A form under the name of its program alone, and without git's own options, where that is something else. */
function renamed(form: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const short = shortName(form)
  const git = gitCommand(form, true)
  if (short === form && git === form) return noForms
  return [short, git].filter((each) => each !== form)
}

const noForms: readonly never[] = []

/** With more words than this, anything may be among them. */
const mostWords = 200

/** Behind a wrapper, or in a program that we do not know, any word may be where a command begins. */
function behind(words: readonly ShellWord[], wraps: boolean): readonly (readonly ShellWord[])[] {
  if (!wraps && isKnown(nameOf(words))) return []
  return words.slice(0, mostWords).map((_, at) => words.slice(at))
}

/** Programs whose words are not commands; what they run by options and verbs is looked at elsewhere. */
const known =
  /^(git|npm|pnpm|yarn|bun|deno|node|tsc|eslint|biome|prettier|jest|vitest|mocha|pytest|tox|ruff|black|mypy|pip3?|go|cargo|rustc|rustfmt|gcc|g\+\+|clang|cmake|make|gmake|ninja|mvn|gradle|gradlew|dotnet|javac?|python[\d.]*|ruby|gem|rake|perl|php|composer|swift|docker|podman|kubectl|helm|terraform|aws|gcloud|gh|glab|curl|wget|ssh|scp|rsync|tar|zip|unzip|gzip|gunzip|cp|mv|rm|rmdir|mkdir|touch|ln|chmod|chown|cd|pushd|popd|export|unset|read|local|declare|set|kill|pkill|killall|brew|apt|apt-get|systemctl|journalctl|vim?|nano|code|open|man|less|more|sqlite3|psql|mysql|redis-cli|jq|yq|sed|[gm]?awk|tee|xargs|patch|dd|install|truncate|shred|openssl|gpg|base64)$/

const isKnown = byName((name): boolean => known.test(name) || says(name) || isReadOnlyProgram(name))

/** What an option or a list holds: `--filter='rm x'`, `-wrapper rm,x`. Text that is only printed holds nothing. */
function valuesIn(words: readonly ShellWord[]): readonly string[] {
  const name = nameOf(words)
  if (says(name)) return []
  const found: string[] = []
  for (let at = 1; at < words.length; at++) {
    const { value, glob } = words[at]!
    if (glob || !/[=,:;]/.test(value)) continue
    const given = /^--?[\w-]+=(.+)$/s.exec(value)?.[1]
    const [first, ...listed] = isKnown(name) ? [] : value.split(/[=,:;]/)
    const values = [...(given === undefined ? [] : [given]), ...listed, ...(first === undefined ? [] : [first])]
    if (values.length === 0) continue
    const rest = words.slice(at + 1).map((word) => word.value)
    for (const text of values) found.push([text, ...rest].join(' '))
  }
  return found
}

/** As written, and without quotes. */
function addTexts(words: readonly ShellWord[], to: Set<string>): void {
  let text = ''
  let isPlain = true
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    text += at === 0 ? word.text : ` ${word.text}`
    isPlain &&= word.text === word.value
  }
  to.add(text)
  if (!isPlain) to.add(words.map((word) => word.value).join(' '))
}

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
function withHoles(words: readonly ShellWord[]): string {
  let line = ''
  for (let at = 0; at < words.length; at++) {
    const { value } = words[at]!
    line += at === 0 || isHole(value) ? value : ` ${value}`
  }
  return line
}

const isHole = (value: string): boolean => value.startsWith(HOLE) && /^\u0000+$/.test(value)
