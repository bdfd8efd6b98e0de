/** Commands that stand in the words of programs which run them: git's settings, and code given on the line. */
import { HOLE } from '../../wildcard.ts'
import { gitVerbAt } from '../git-verb.ts'
import { byName } from '../parse/by-name.ts'
import { type Code, plainWord, type ShellCommand, type ShellWord } from '../parse/command.ts'
import { formsOf, nameOf } from '../parse/wrappers.ts'
import { computedIn } from './computed-code.ts'

export interface Embedded {
  readonly scripts: readonly string[]
  readonly unknown?: string
}

const unseen = 'what git runs by one of its words is only known when it runs'

/** What git runs of its own words: aliases, settings and options whose value is a command. */
export function gitScripts(words: readonly ShellWord[]): Embedded {
  const found: ShellWord[] = []
  const at = 1 + gitVerbAt(words.slice(1))
  for (let each = 1; each < at; each++) {
    const { value } = words[each]!
    if (/^--(config-env|exec-path=)/.test(value) || holeInName.test(value)) return { scripts: [], unknown: unseen }
    if (value !== '-c') continue
    if (hookFolders.test(words[each + 1]?.value ?? '')) return { scripts: [], unknown: unseen }
    found.push(...commandSet(words[++each]))
  }
  const verb = words[at]?.value ?? ''
  const rest = words.slice(at + 1)
  if (verb === 'config') {
    const [key, value] = rest.filter((word) => !word.value.startsWith('-') && word.value !== 'set')
    if (key && value) found.push(...commandSet({ ...value, value: `${key.value}=${value.value}` }))
  }
  const { alone, joined, from } = (Object.hasOwn(commandOptions, verb) && commandOptions[verb]) || {}
  for (const [at, word] of rest.entries()) {
    const inner = joined?.exec(word.value)?.[1] ?? transport(word.value)
    if (inner !== undefined) found.push({ ...word, value: inner })
    if (verb === 'clone' && hookFolders.test(word.value.replace(/^(-c|--config=)/, '')))
      return { scripts: [], unknown: unseen }
    if (alone?.test(word.value) && rest[at + 1]) {
      found.push(
        ...(verb === 'clone' && /^(-c|--config)$/.test(word.value) ? commandSet(rest[at + 1]) : [rest[at + 1]!]),
      )
    }
  }
  const start = rest.findIndex((word) => word.value === from)
  const run = start < 0 ? [] : rest.slice(start + 1).filter((word) => word.value !== '--recursive')
  if (found.length + run.length === 0) return noScripts
  if ([...found, ...run].some((word) => !word.literal)) return { scripts: [], unknown: unseen }
  const scripts = found.map((word) => word.value)
  return { scripts: run.length > 0 ? [...scripts, run.map((word) => word.value).join(' ')] : scripts }
}

const noScripts: Embedded = { scripts: [] }

/** `git -$X a=b push`: it may be an option with a value, or one that sets something. */
export const holeInName = /^-[^=]*\u0000/

/** `ext::COMMAND`, by which git runs one. */
const transport = (value: string): string | undefined =>
  value.includes('ext::') ? /^(?:--?[\w-]+=)?ext::(.+)/s.exec(value)?.[1] : undefined

/** The options by which a verb of git is given a command: before it, joined to it; or the word that all of it follows. */
const commandOptions: Record<string, { alone?: RegExp; joined?: RegExp; from?: string }> = {
  rebase: { alone: /^(-x|--exec)$/, joined: /^(?:-x|--exec=)(.+)/s },
  difftool: { alone: /^(-x|--extcmd)$/, joined: /^(?:-x|--extcmd=)(.+)/s },
  clone: { alone: /^(-u|--upload-pack|-c|--config)$/, joined: /^--upload-pack=(.+)/s },
  fetch: { alone: /^--upload-pack$/, joined: /^--upload-pack=(.+)/s },
  'ls-remote': { alone: /^--(upload-pack|exec)$/, joined: /^--(?:upload-pack|exec)=(.+)/s },
  push: { alone: /^--(receive-pack|exec)$/, joined: /^--(?:receive-pack|exec)=(.+)/s },
  archive: { alone: /^--exec$/, joined: /^--exec=(.+)/s },
  grep: { joined: /^(?:-O|--open-files-in-pager=)(.+)/s },
  'filter-branch': { alone: /^--[\w-]+-filter$/, joined: /^--[\w-]+-filter=(.+)/s },
  bisect: { from: 'run' },
  submodule: { from: 'foreach' },
}

/** `key=value`: the value, where git would run it. */
function commandSet(word: ShellWord | undefined): readonly ShellWord[] {
  if (!word) return []
  const [key = '', ...rest] = word.value.split('=')
  if (harmlessKeys.test(key)) return []
  const value = rest.join('=')
  return [
    { ...word, value: /^alias\./i.test(key) && !value.startsWith('!') ? `git ${value}` : value.replace(/^!/, '') },
  ]
}

/** Settings of git that name a folder or a file with programs in it, or that say what a push does. */
const hookFolders =
  /^(core\.(hookspath|attributesfile|worktree)|include(if)?\.|init\.templatedir|remote\..*\.(push|mirror)=)/i

/** Settings of git that name no command. */
const harmlessKeys =
  /^(user|author|committer|color|advice|commit|tag|push|pull|fetch|clone|log|gc|feature|index|rerere|safe|status|column|branch|i18n|blame|stash|apply|am|pack|transfer|http|init\.defaultBranch|rebase|checkout|merge\.(ff|conflictstyle|renames|log)|diff\.(algorithm|renames|context|noprefix|mnemonicprefix|colormoved|submodule)|core\.(quotepath|autocrlf|eol|filemode|longpaths|safecrlf|abbrev|precomposeunicode|preloadindex|bare|whitespace|compression|ignorecase|symlinks|untrackedcache|excludesfile|commentchar))(\.|$)/i

/** Programs that run code from their words, and the options it comes after; any: it may be any word. */
const coded: readonly (readonly [name: RegExp, option: RegExp | 'any'])[] = [
  [/^[gmn]?awk$/, 'any'],
  [
    /^(sed|tar|bsdtar|zip|ed|ex|vim?|nvim|view|emacs|gdb|lldb|ssh|scp|sftp|rsync|g?make|man|sqlite3|psql|mysql|dc|less|more|fzf|gpg|vimdiff|lftp|ftp|mutt)$/,
    'any',
  ],
  [/^((i|b|pt)?python[\d.]*|jython|micropython|pypy3?|expect|tclsh)$/, /^-[a-zA-Z]*c/],
  [
    /^(guile|racket|csi|gosh|sbcl|clisp|ecl|ghci?|runghc|elixir|iex|erl|groovy|scala|kotlin|swift|crystal|raku|octave|gnuplot|maxima|julia|Rscript|R|pwsh|powershell|nu|elvish|xonsh|qjs|gjs|janet|fennel|luajit|clojure|clj|bb|ocaml|swipl|gap|sage|gp|bpftrace|stap|ts-node|tsx|zx|jshell)$/,
    /^(-[a-zA-Z]*[cegprx]$|--?(eval|expr|command|batch-string)|eval$)/i,
  ],
  // code in their input alone
  [/^(gcc|g\+\+|cc|c\+\+|clang|cpp|terraform|tofu)$/, /(?!)/],
  [/^(perl|ruby|lua|osascript|node|nodejs|bun|deno)[\d.]*$/, /^(-[a-zA-Z]*[eEp]|--eval|--print|eval$)/],
  [/^php[\d.]*$/, /^-[rBE]/],
]

const codeOption = byName((name) => coded.find(([program]) => program.test(name))?.[1])

const noCode: Code = { texts: [], parts: [], computed: { commands: false, files: false } }

/** Form by form, worked out once; undefined for a program that is never given any. */
export function codesOf(command: ShellCommand): readonly (Code | undefined)[] {
  command.known.codes ??= formsOf(command).map((form) => codeOf(form, command.input))
  return command.known.codes
}

function codeOf(form: readonly ShellWord[], input: readonly string[]): Code | undefined {
  const name = nameOf(form)
  const option = codeOption(name)
  if (option === undefined) return undefined
  const args = form.slice(1)
  const isGiven = option === 'any' || args.some(({ value }) => option.test(value))
  const given = isGiven ? [...args.map(({ value }) => value), ...input] : input
  if (given.length === 0) return noCode
  const texts = [...given]
  for (const text of given) {
    const other = joined(name, text)
    if (other !== text) texts.push(other)
  }
  const parts = texts.filter((text) => /[^\w./~-]/.test(text))
  return { texts, parts, computed: computedIn(name, parts) }
}

/** What may be code of a program that we do not know: words with a space or a quote, and its input. Messages are none. */
export function textsIn(form: readonly ShellWord[], input: readonly string[]): readonly string[] {
  const found = [...input]
  for (let at = 1; at < form.length; at++)
    if (/[\s"'`(]/.test(form[at]!.value) && !holdsMessage.test(form[at - 1]!.value)) found.push(form[at]!.value)
  return found
}

const holdsMessage = /^(-\w*m|--(message|title|body|description|subject|comment))$/

/** What code on the line may run: each stretch of it that reads like a command, from each of its words on. */
export function commandsInCode(texts: readonly string[], isWanted: (beginning: string) => boolean, to: string[]): void {
  for (const code of texts) {
    const text = quoted.test(code) ? code.replace(/["'`]\s*,\s*\[?\s*["'`]/g, ' ') : code // ["rm", "x"], ("rm", ["x"])
    for (let at = 0; at < text.length; at++) {
      const begin = at
      while (at < text.length && isIn(stretch, text, at)) at++
      for (let from = begin; from < at; from++) {
        if (!isIn(letter, text, from) || (from > begin && isIn(wordOrDot, text, from - 1))) continue
        let end = from
        while (end < at && end < from + longest && text.charCodeAt(end) !== space) end++
        if (end < from + longest && !isWanted(text.slice(from, end))) continue
        to.push(cut(text.slice(from, Math.min(at, from + longest + 1)).trim()))
      }
    }
  }
}

const space = 32

/** Longer text ends in what is unknown, so that a rule on its end is not missed. */
const cut = (text: string): string => (text.length > longest ? text.slice(0, longest) + HOLE : text)
const longest = 400

/** What in code on the line may be the name of a file. */
export function tokensInCode(name: string, parts: readonly string[]): ShellWord[] {
  const split: string[] = []
  for (const text of parts)
    for (let at = 0; at < text.length; at++) {
      const begin = at
      while (at < text.length && isIn(nameChar, text, at)) at++
      if (at > begin) split.push(text.slice(begin, at))
    }
  // `$r.env`: a file stands right after the letter of sed's command
  const tokens = name === 'sed' ? [...split, ...split.map((token) => token.replace(/^\d*[rRwW]/, ''))] : split
  return [...new Set(tokens)].filter((token) => token !== '').map(plainWord)
}

/** Sets of characters, as tables: code is read by them one by one. */
const charsIn = (set: RegExp): readonly boolean[] =>
  Array.from({ length: 128 }, (_, code) => set.test(String.fromCharCode(code)))
const letter = charsIn(/\w/)
const wordOrDot = charsIn(/[\w.]/)
const stretch = charsIn(/[\w.+/ =:@~,-]/)
const nameChar = charsIn(/[\w./~+-]/)
const isIn = (set: readonly boolean[], text: string, at: number): boolean => set[text.charCodeAt(at)] === true

const quoted = /["'`]/

/** Code with its escapes read and strings that stand side by side made one: `"r" + "\x6d"` as `"rm"`. */
function joined(name: string, text: string): string {
  const read = text.includes('\\')
    ? text.replace(/\\(?:x([\da-f]{2})|u\{?([\da-f]{4})\}?|([0-7]{3}))/gi, (_, ...codes: (string | undefined)[]) =>
        String.fromCharCode(Number.parseInt(codes[0] ?? codes[1] ?? codes[2]!, codes[2] ? 8 : 16)),
      )
    : text
  if (!quoted.test(read)) return read
  return read.replace(/^(perl|php)/.test(name) ? /["']\s*\.?\s*["']/g : /["'`]\s*(?:\+|\.\.|\|\|)?\s*["'`]/g, '')
}
