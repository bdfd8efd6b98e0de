/** A command in every spelling that a rule may have it in. */

import { normalize } from 'node:path/posix'
import { foldsCase } from '../paths/pattern.ts'
import { HOLE } from '../wildcard.ts'
import { gitVerbAt } from './git-verb.ts'
import { inFull, mostWords, otherForms, runsAdded, runsFirst, runsWords, withoutOptionsBetween } from './other-forms.ts'
import { asWritten, type ShellCommand, type ShellWord } from './parse/command.ts'
import { formsOf, nameOf, programIn, unknownWord, unknownWords } from './parse/wrappers.ts'
import { codesOf, commandsInCode, holeInName, textsIn } from './programs/embedded.ts'
import { isKnown, isStrange, says } from './programs/known.ts'
import { runsAnywhere } from './programs/risky-options.ts'

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

/**
 * What else it may be, with holes for words that are only known when it runs. `options`: the long ones that rules name; `verbs`: the
 * words that they begin with.
 */
export function possibleSpellings(
  command: ShellCommand,
  isWanted: Wanted,
  options: readonly string[] = [],
  verbs: readonly (readonly string[])[] = [],
): readonly string[] {
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
  const mayStandFor = (form: readonly ShellWord[]) => {
    for (const each of otherForms(form, isWanted)) may(each)
    if (verbs.length > 0)
      for (const each of [form, ...renamed(form)]) for (const less of withoutOptionsBetween(each, verbs)) add(less)
  }
  for (const form of all) {
    const full = inFull(form, options)
    if (full !== form || form.some(hasHole)) may(full) // else it is certain
    mayStandFor(full)
    if (isStrange(nameOf(form))) commandsInCode(textsIn(form, command.input), isWanted, found)
  }
  const mayBegin = (form: readonly ShellWord[]) => {
    const open = form.findLastIndex(hasHole)
    for (let at = 0; at < form.length && at < mostWords; at++) {
      const { value } = form[at]!
      if (at > open && !isWanted(value) && !isWanted(shortest(value)) && !runsFirst(programIn(value))) continue
      const rest = inFull(form.slice(at), options)
      may(rest)
      mayStandFor(rest)
    }
  }
  // behind a wrapper, or in a program that we do not know, any word may be where a command begins
  if (all.length > 1 || !isKnown(nameOf(words)) || runsWords(words)) mayBegin(words)
  for (const form of all) if (runsAdded(form)) mayBegin(form)
  let hides = words.length > mostWords
  for (const code of codesOf(command)) {
    if (!code) continue
    commandsInCode(code.texts, isWanted, found)
    hides ||= code.computed.commands
  }
  addValues(words, isWanted, found)
  if (hides) found.push(HOLE)
  return found
}

const hasHole = ({ value }: ShellWord): boolean => value.includes(HOLE)

/** A form under the name of its program alone, with npm's verb in full, without git's own options, and with its flags apart. */
function renamed(form: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const short = shortName(form)
  const full = verbInFull(short)
  const git = gitCommand(form, true)
  const apart = flagsApart(git)
  if (full === form && git === form && apart === form) return noForms
  const others = [...(full === short ? noForms : [full]), git, ...(apart === git ? noForms : [apart])]
  return [short, ...others].filter((each) => each !== form)
}

/** `npm i x` as `npm install x`, and `npm pub` as `npm publish`: npm takes any beginning of a verb that is unique. */
function verbInFull(words: readonly ShellWord[]): readonly ShellWord[] {
  const [program, verb, ...rest] = words
  if (!verb || program!.value !== 'npm') return words
  const full = npmVerbs.find(([, others]) => others.test(verb.value))?.[0]
  return full === undefined ? words : [program!, { ...verb, value: full, text: full }, ...rest]
}

/** Verbs of npm under all their names. */
const npmVerbs: readonly (readonly [verb: string, others: RegExp])[] = [
  ['install', /^(i|in|ins|inst|insta|instal|isnt|isnta|isntal|isntall|add)$/],
  ['uninstall', /^(un|unin|uninst|uninstal|unlink|remove|rm|r)$/],
  ['publish', /^(pub|publ|publi|publis)$/],
  ['unpublish', /^(unp|unpu|unpub|unpubl|unpubli|unpublis)$/],
  ['deprecate', /^(dep|depr|depre|deprec|depreca|deprecat)$/],
  ['update', /^(up|upd|upda|updat|upgrade|udpate)$/],
  ['run', /^(run-script|rum|urn)$/],
  ['exec', /^(x|exe)$/],
  ['config', /^(c|conf|confi)$/],
  ['ci', /^(clean-install|ic|install-clean|isntall-clean)$/],
  ['adduser', /^(login|add-user)$/],
]

/** `git push -uf` as `git push -u -f`: a rule on one flag also holds for several in one word. */
function flagsApart(words: readonly ShellWord[]): readonly ShellWord[] {
  if (words[0]?.value !== 'git' || !words.some(({ value }) => severalFlags.test(value))) return words
  const valued = valuedFlags.get(words[1]?.value ?? '') ?? none
  return words.flatMap((word) => {
    const flags = severalFlags.exec(word.value)?.[1]
    if (flags === undefined) return [word]
    const own = valued.exec(flags)?.[0] ?? flags
    return Array.from(own, (flag) => ({ ...word, value: `-${flag}`, text: `-${flag}` }))
  })
}

const severalFlags = /^-([A-Za-z\d]{2,})$/
/** Up to the flag whose value is the rest of the word: `git commit -mfix`. */
const valuedFlags: ReadonlyMap<string, RegExp> = new Map([
  ['commit', /.*?[mFCctuS]/],
  ['push', /.*?o/],
  ['log', /.*?[SGnL]/],
])
const none = /.*/

const noForms: readonly never[] = []

/** What an option or a list holds: `--filter='rm x'`, `-wrapper rm,x`. Text that is only printed holds nothing. */
function addValues(words: readonly ShellWord[], isWanted: Wanted, to: string[]): void {
  const name = nameOf(words)
  if (says(name)) return
  for (let at = 1; at < words.length; at++) {
    const { value, glob } = words[at]!
    const before = words[at - 1]!.value
    const isRun = before.startsWith('--') && runsAnywhere(before)
    if (glob || !(isRun || /[=,:;]/.test(value))) continue
    const given = isRun ? value : /^--?[\w-]+=(.+)/s.exec(value)?.[1]
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

/** Without its folder, and without the version in `npx npm@latest`. */
function shortest(value: string): string {
  const name = programIn(value)
  const at = name.indexOf('@', 1)
  const program = at < 0 ? name : name.slice(0, at)
  return foldsCase ? program.toLowerCase() : program
}

/** `git -C dir log` as `git log`. `all`: also options that change what git does. */
export function gitCommand(words: readonly ShellWord[], all: boolean): readonly ShellWord[] {
  if (nameOf(words) !== 'git' || (!all && words[0]!.value !== 'git')) return words
  let at = 1
  if (all) at = openOption(words) ?? 1 + gitVerbAt(words.slice(1))
  else while (/^(--no-pager|-P)$/.test(words[at]?.value ?? '')) at++
  if (at === words.length && words.at(-1) === unknownWords) at-- // `xargs git -C`: it may hold a verb too
  const rest = words.slice(at)
  if (all && rest[0] && isOpen(rest[0])) rest[0] = unknownWord
  else if (at === 1 && words[0]!.value === 'git' && words[0]!.text === 'git') return words
  return [{ ...words[0]!, value: 'git', text: 'git' }, ...rest]
}

const isOpen = ({ value }: ShellWord): boolean => holeInName.test(value) && !value.includes('=')

/** Where `git -$X a push` has the first option that may take the next word. */
function openOption(words: readonly ShellWord[]): number | undefined {
  const at = words.findIndex(isOpen)
  return at > 0 && at <= gitVerbAt(words.slice(1)) ? at : undefined
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
