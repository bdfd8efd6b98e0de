/** A command in every spelling that a rule may have it in. */

import { normalize } from 'node:path/posix'
import { foldsCase } from '../paths/pattern.ts'
import { HOLE } from '../wildcard.ts'
import { says } from './files/files.ts'
import { gitVerbAt } from './git-verb.ts'
import { byName } from './parse/by-name.ts'
import { asWritten, type ShellCommand, type ShellWord } from './parse/command.ts'
import { formsOf, nameOf, programIn } from './parse/wrappers.ts'
import { codesOf, commandsInCode } from './programs/embedded.ts'
import { isReadOnlyProgram } from './programs/read-only.ts'

/** Whether some rule may match a text that begins with this: the others are not put together. */
type Wanted = (beginning: string) => boolean

/** What it certainly is: as written, without quotes, without its path, without git's own options, without wrappers. */
export function certainSpellings(command: ShellCommand, isWanted: Wanted): readonly string[] {
  const found: string[] = []
  if (command.words.length === 0) return found
  for (const form of formsOf(command)) {
    addTexts(form, isWanted, found)
    const direct = straight(form)
    if (direct !== form) addTexts(direct, isWanted, found)
    for (const each of renamed(form)) addTexts(each, isWanted, found)
  }
  return found
}

/** What else it may be, with holes for words that are only known when it runs. */
export function possibleSpellings(command: ShellCommand, isWanted: Wanted): readonly string[] {
  const { words } = command
  const found: string[] = []
  if (words.length === 0) return found
  const all = formsOf(command)
  const add = (form: readonly ShellWord[]) => {
    if (isWanted(form[0]!.value) || form.some(hasHole)) found.push(withHoles(form))
  }
  const may = (form: readonly ShellWord[]) => {
    add(form)
    for (const each of renamed(form)) add(each)
  }
  for (const form of all) if (form.some(hasHole)) may(form) // else it is certain
  if (all.length > 1 || !isKnown(nameOf(words))) {
    // behind a wrapper, or in a program that we do not know, any word may be where a command begins
    const open = words.findLastIndex(hasHole)
    for (let at = 0; at < words.length && at < mostWords; at++) {
      const { value } = words[at]!
      if (at <= open || isWanted(value) || isWanted(shortest(value))) may(words.slice(at))
    }
  }
  let hides = words.length > mostWords
  for (const code of codesOf(command)) {
    if (!code) continue
    commandsInCode(code, isWanted, found)
    hides ||= code.computed.commands
  }
  addValues(words, isWanted, found)
  if (hides) found.push(HOLE)
  return found
}

const hasHole = ({ value }: ShellWord): boolean => value.includes(HOLE)

/** A form under the name of its program alone, without git's own options, and with git's flags apart, where that differs. */
function renamed(form: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const short = shortName(form)
  const git = gitCommand(form, true)
  const apart = flagsApart(git)
  if (short === form && git === form && apart === form) return noForms
  return [short, git, ...(apart === git ? noForms : [apart])].filter((each) => each !== form)
}

/** `git push -uf` as `git push -u -f`: a rule on one flag also holds for several in one word. */
function flagsApart(words: readonly ShellWord[]): readonly ShellWord[] {
  if (words[0]?.value !== 'git' || !words.some(({ value }) => severalFlags.test(value))) return words
  const valued = valuedFlags[words[1]?.value ?? ''] ?? none
  return words.flatMap((word) => {
    const flags = severalFlags.exec(word.value)?.[1]
    if (flags === undefined) return [word]
    const own = valued.exec(flags)?.[0] ?? flags
    return Array.from(own, (flag) => ({ ...word, value: `-${flag}`, text: `-${flag}` }))
  })
}

const severalFlags = /^-([A-Za-z\d]{2,})$/
/** Up to the flag whose value is the rest of the word: `git commit -mfix`. */
const valuedFlags: Readonly<Record<string, RegExp>> = {
  commit: /^.*?[mFCctuS]/,
  push: /^.*?o/,
  log: /^.*?[SGnL]/,
}
const none = /^.*/

const noForms: readonly never[] = []

/** With more words than this, anything may be among them. */
const mostWords = 200

/** Programs whose words are not commands; what they run by options and verbs is looked at elsewhere. */
const known =
  /^(git|npm|pnpm|yarn|bun|deno|node|tsc|eslint|biome|prettier|jest|vitest|mocha|pytest|tox|ruff|black|mypy|pip3?|go|cargo|rustc|rustfmt|gcc|g\+\+|clang|cmake|make|gmake|ninja|mvn|gradle|gradlew|dotnet|javac?|python[\d.]*|ruby|gem|rake|perl|php|composer|swift|docker|podman|kubectl|helm|terraform|aws|gcloud|gh|glab|curl|wget|ssh|scp|rsync|tar|zip|unzip|gzip|gunzip|cp|mv|rm|rmdir|mkdir|touch|ln|chmod|chown|cd|pushd|popd|export|unset|read|local|declare|set|kill|pkill|killall|brew|apt|apt-get|systemctl|journalctl|vim?|nano|code|open|man|less|more|sqlite3|psql|mysql|redis-cli|jq|yq|sed|[gm]?awk|tee|xargs|patch|dd|install|truncate|shred|openssl|gpg|base64)$/

const isKnown = byName((name): boolean => known.test(name) || says(name) || isReadOnlyProgram(name))

/** What an option or a list holds: `--filter='rm x'`, `-wrapper rm,x`. Text that is only printed holds nothing. */
function addValues(words: readonly ShellWord[], isWanted: Wanted, to: string[]): void {
  const name = nameOf(words)
  if (says(name)) return
  for (let at = 1; at < words.length; at++) {
    const { value, glob } = words[at]!
    if (glob || !/[=,:;]/.test(value)) continue
    const given = /^--?[\w-]+=(.+)$/s.exec(value)?.[1]
    const listed = isKnown(name) ? [] : value.split(/[=,:;]/)
    for (const text of given === undefined ? listed : [given, ...listed])
      if (isWanted(text) || text.includes(HOLE))
        to.push([text, ...words.slice(at + 1).map((word) => word.value)].join(' '))
  }
}

/** As written, and without quotes. */
function addTexts(words: readonly ShellWord[], isWanted: Wanted, to: string[]): void {
  const { text, value } = words[0]!
  if (isWanted(text)) to.push(asWritten(words))
  if (isWanted(value) && words.some((word) => word.text !== word.value))
    to.push(words.map((word) => word.value).join(' '))
}

/** `/opt/a/../tool x` as `/opt/tool x`. */
function straight(words: readonly ShellWord[]): readonly ShellWord[] {
  const name = words[0]?.value ?? ''
  const path = name.startsWith('/') && /\/(\.{0,2}\/)/.test(name) ? normalize(name) : name
  return path === name ? words : [{ ...words[0]!, value: path, text: path }, ...words.slice(1)]
}

/** `/bin/rm x` as `rm x`; and `RM x`, where the file system finds the same program under both. */
function shortName(words: readonly ShellWord[]): readonly ShellWord[] {
  const name = shortest(words[0]?.value ?? '')
  return name === words[0]?.value ? words : [{ ...words[0]!, value: name, text: name }, ...words.slice(1)]
}

const shortest = (value: string): string => (foldsCase ? programIn(value).toLowerCase() : programIn(value))

/** `git -C dir log` as `git log`. `all`: also options that change what git does. */
export function gitCommand(words: readonly ShellWord[], all: boolean): readonly ShellWord[] {
  if (nameOf(words) !== 'git' || (!all && words[0]!.value !== 'git')) return words
  let at = 1
  if (all) at += gitVerbAt(words.slice(1))
  else while (/^(--no-pager|-P)$/.test(words[at]?.value ?? '')) at++
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
