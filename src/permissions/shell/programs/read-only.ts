/**
 * Commands that only read, as the built-in rule `Bash(builtin:read-only)` allows them: known programs, with options that
 * cannot write, run a program or move to another place. What is not known here is not covered, and prompts.
 */

import { HOLE } from '../../wildcard.ts'
import { bracesApart } from '../files/expand-glob.ts'
import { abbreviates, optionName } from '../parse/abbreviates.ts'
import { here, type ReadOnlyUse, type ShellCommand, type ShellWord } from '../parse/command.ts'
import { clearForms } from '../parse/wrappers.ts'
import { gitUse } from './git-reads.ts'
import { looksThroughFolders } from './recursion.ts'
import { rgFindsHidden } from './rg-globs.ts'
import { isOneOption, isOneWord, isText, pathValue } from './unknown-values.ts'
import { printsVersion } from './version-words.ts'

interface Program {
  /** Long options that write, run a program or read a list of files; matched by prefix, as GNU and git do. */
  readonly noLong?: readonly string[]
  /** Letters of short options that do, also in a bundle. */
  readonly noShort?: string
  /** Only options that match this. */
  readonly only?: RegExp
  /** Options whose value is a word of its own, and no path. */
  readonly takes?: readonly string[]
  /** The last letter of a bundle may be such an option too. */
  readonly bundles?: true
  /** How many of the first operands are text and no paths. */
  readonly text?: number
  /** That text is a program: one that is only known when it runs may do anything. */
  readonly code?: true
  /** At most this many operands: a further one would be written. */
  readonly most?: number
  readonly metadata?: true
  readonly tree?: (words: readonly ShellWord[]) => ReadOnlyUse['tree']
  /** Looks at all words; false: not covered. */
  readonly check?: (words: readonly ShellWord[]) => boolean
}

const any: Program = {}
const talk: Program = { text: Number.POSITIVE_INFINITY }
const list: Program = { metadata: true }
const none: Program = { most: 0 }

const whereRecursive = (words: readonly ShellWord[]): ReadOnlyUse['tree'] =>
  looksThroughFolders(words.map(({ value }) => value)) ? 'hidden' : undefined

const isGiven = (words: readonly ShellWord[], option: RegExp): boolean => words.some(({ value }) => option.test(value))

const lines = ['-n', '-c', '--lines', '--bytes']
const context = ['-m', '-A', '-B', '-C', '-d', '--max-count', '--after-context', '--before-context', '--context']
const grep: Program = {
  text: 1,
  bundles: true,
  takes: [
    ...[...context, '-D', '--include', '--exclude', '--exclude-dir', '--label'],
    ...['--binary-files', '--devices', '--directories', '--group-separator'],
  ],
  noShort: 'fR',
  noLong: ['--file', '--exclude-from', '--dereference-recursive'],
  check: (words) => !words.some((word) => /^(-[a-zA-Z]*e|--regexp)/.test(word.value)),
  tree: whereRecursive,
}

/** Options that choose by name, kind, age or size, and how the names are shown. */
const fdOption =
  /^-([HIuisgaFp01q]+|[HIuisgaFp01]*[etdEjcS][^-]*)$|^--(hidden|no-ignore(-vcs|-parent)?|unrestricted|case-sensitive|ignore-case|glob|regex|fixed-strings|absolute-path|full-path|print0|max-results|quiet|extension|type|((max|min|exact)-)?depth|exclude|size|changed-(within|before)|color|threads|show-errors|one-file-system|prune|strip-cwd-prefix|and)(=.*)?$/s

const programs: Record<string, Program> = {
  ...Object.fromEntries(
    ['echo', 'printf', 'true', 'false', ':', 'seq', 'basename', 'dirname', 'tr'].map((n) => [n, talk]),
  ),
  ...Object.fromEntries(
    ['whoami', 'id', 'groups', 'uname', 'arch', 'nproc', 'uptime', 'tty', 'logname', 'df', 'test', '['].map((n) => [
      n,
      talk,
    ]),
  ),
  ...Object.fromEntries(['which', 'type', 'sleep', 'expr', 'factor', 'getconf', 'free', 'lscpu'].map((n) => [n, talk])),
  pgrep: { ...talk, noShort: 'F', noLong: ['--pidfile'] },
  locale: { ...talk, noShort: 'm', noLong: ['--charmaps'] }, // gzip reads those
  pwd: none,
  hostname: { most: 0, only: /^-[sfidIAy]+$|^--(short|fqdn|long|ip-address|all-ip-addresses|domain)$/ },
  // without a + its operand sets the clock
  date: {
    text: Number.POSITIVE_INFINITY,
    takes: ['-d', '--date'],
    only: /^(-u|-R|-I\w*|-d.*|--(utc|universal|iso-8601|rfc-\w+|date)(=.*)?)$/s,
    check: (words) =>
      words.every(
        (word, at) =>
          (word.literal || isOneOption(word)) &&
          (/^[-+]/.test(word.value) || /^(-d|--date)$/.test(words[at - 1]?.value ?? '')),
      ),
  },
  ps: {
    ...talk,
    // its e modifier prints the environment of processes, and -e is one beside options that only BSD has: `ps -axe`
    check: (words) =>
      !words.some((word) => !word.literal || /^[A-Za-z]*e|^-\w*E|env/.test(word.value)) &&
      (!isGiven(words, /^-\w*e/) || !isGiven(words, /^-(?!-|[AadefFlLyHjmwcP]*(o.*)?$)/)),
  },
  ...Object.fromEntries(['stat', 'realpath', 'readlink', 'exa', 'eza'].map((n) => [n, list])),
  ls: { metadata: true, check: (words) => !(isGiven(words, /^-\w*R|^--rec/) && isGiven(words, /^-\w*L|^--de/)) },
  du: {
    metadata: true,
    takes: ['-d', '--max-depth', '--exclude', '-t'],
    noShort: 'XL',
    noLong: ['--files0-from', '--exclude-from', '--dereference'],
  },
  file: {
    metadata: true,
    only: /^-[bciIkNnrhL0s]+$|^--(brief|mime(-type|-encoding)?|extension|keep-going|no-pad|raw)$/,
  },
  tree: {
    metadata: true,
    takes: ['-L', '-I', '-P'],
    noShort: 'oRHl',
    noLong: ['--output', '--fromfile', '--fromtabfile', '--infofile', '--gitfile'],
  },
  ...Object.fromEntries(['cat', 'tac', 'nl', 'rev', 'expand', 'unexpand'].map((n) => [n, any])),
  ...Object.fromEntries(['head', 'tail'].map((n) => [n, { takes: [...lines, '-s', '--pid', '--sleep-interval'] }])),
  ...Object.fromEntries(
    ['md5sum', 'sha1sum', 'sha256sum', 'sha512sum', 'b2sum', 'cksum'].map((n) => [
      n,
      { noShort: 'c', noLong: ['--check'] },
    ]),
  ),
  wc: { noLong: ['--files0-from'] },
  cut: { takes: ['-d', '-f', '-c', '-b', '--delimiter', '--fields', '--output-delimiter'] },
  paste: { takes: ['-d', '--delimiters'] },
  fold: { takes: ['-w'] },
  fmt: { takes: ['-w'] },
  column: { takes: ['-s', '-o', '-c', '-N'] },
  comm: any,
  cmp: { takes: ['-n', '-i'] },
  join: { takes: ['-t', '-1', '-2', '-o', '-e', '-a', '-v', '-j'] },
  diff: {
    takes: ['-U', '-C', '--label', '-x', '--exclude', '-I', '-W', '-F'],
    noShort: 'Xl',
    noLong: ['--from-file', '--to-file', '--exclude-from', '--paginate'],
    tree: whereRecursive,
  },
  base64: any,
  od: { takes: ['-A', '-t', '-N', '-j'] },
  hexdump: { takes: ['-n', '-s', '-e'], noShort: 'f', noLong: ['--format-file'] },
  xxd: { most: 1, takes: ['-l', '-s', '-c', '-g'], noShort: 'r', noLong: ['--revert'] },
  strings: { takes: ['-n'], check: (words) => !words.some((word) => word.value.startsWith('@')) },
  uniq: { most: 1, takes: ['-f', '-s', '-w'] },
  sort: {
    takes: ['-k', '-t', '-S', '--key', '--field-separator'],
    noShort: 'oT',
    noLong: ['--output', '--temporary-directory', '--compress-program', '--files0-from'],
  },
  grep,
  egrep: grep,
  fgrep: grep,
  rg: {
    text: 1,
    bundles: true,
    takes: [
      ...[...context, '-g', '--glob', '--iglob', '-t', '-T', '--type', '--type-not', '--type-add', '--type-clear'],
      ...['-E', '--encoding', '--engine', '-j', '--threads', '-M', '--max-columns', '--max-depth', '--max-filesize'],
      ...['-r', '--replace', '--sort', '--sortr', '--color', '--colors', '--generate', '--hyperlink-format'],
      ...['--context-separator', '--field-context-separator', '--field-match-separator', '--path-separator'],
      ...['--dfa-size-limit', '--regex-size-limit', '--pre-glob'],
    ],
    noShort: 'efLz',
    noLong: ['--pre', '--hostname-bin', '--file', '--regexp', '--ignore-file', '--search-zip', '--follow'],
    check: (words) => !words.some(({ value }) => /^-[^-gt][^-]*[gt]/.test(value)), // its value may be the next word
    tree: (words) => (rgFindsHidden(words) ? 'hidden' : 'visible'),
  },
  find: {
    check: (words) => !words.some((word) => /^-(exec|ok|delete|fprint|fls|files0|follow|[DL])/.test(word.value)),
  },
  fd: {
    metadata: true,
    text: 1,
    takes: ['-e', '-t', '-d', '-E'],
    only: fdOption,
  },
  jq: {
    text: 1,
    code: true,
    only: /^-[rcnesaSCMj]+$|^--(raw-output|compact-output|null-input|slurp|sort-keys|tab|exit-status|join-output)$/,
    check: (words) =>
      !words.some((word) => /\b(env|ENV|import|include|input_filename|debug|getpath|modulemeta)\b/.test(word.value)),
  },
  sed: {
    text: 1,
    only: /^-[nErsuz]+$/,
    check: (words) => sedPrints.test(words.find(({ value }) => !value.startsWith('-'))?.value ?? ''),
  },
  awk: {
    text: 1,
    code: true,
    takes: ['-F'],
    only: /^-F/,
    check: (words) =>
      !words.some((word) =>
        /system|getline|[|>@]|ENVIRON|SYMTAB|FUNCTAB|close|printf?\s*\(?\s*"[^"]*"\s*>|\bARG/.test(word.value),
      ),
  },
  cd: { metadata: true, most: 1, only: /^-[LP]$/, check: (words) => /^[^-]/.test(words.at(-1)?.value ?? '') },
}

/** Sed scripts that print, delete or substitute, and nothing else: no `w`, `r`, `e` or file. */
const sedPrints =
  /^(?:(?:\d+|\$|\/(?:[^/\\\n]|\\.)*\/)(?:,(?:\d+|\$|\+\d+|\/(?:[^/\\\n]|\\.)*\/))?[pdq=]?(?:;\s*|$))+$|^s([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gIip\d]*$/

/** Whether the program only reads in its ordinary use: its words are files and patterns, not commands. */
export const isReadOnlyProgram = (name: string): boolean => Object.hasOwn(programs, name)

export function readOnlyUse(command: ShellCommand): ReadOnlyUse | undefined {
  if (command.known.readOnly === undefined) command.known.readOnly = useOf(command.words) ?? null
  return command.known.readOnly ?? undefined
}

function useOf(written: readonly ShellWord[]): ReadOnlyUse | undefined {
  const all = clearForms(written)
  if (all.some((form) => form[0]?.value === 'xargs')) return undefined // what it reads is only known when it runs
  const [name, ...args] = bracesApart(all.at(-1)!) ?? []
  if (!name) return undefined
  if (args.length === 1 && printsVersion(name.value, args[0]!.value)) return { paths: [], metadata: true }
  if (name.value === 'command' && /^-[vV]$/.test(args[0]?.value ?? '')) return { paths: [], metadata: true }
  if (name.value === 'git') return gitUse(args)
  const program = Object.hasOwn(programs, name.value) ? programs[name.value]! : undefined
  return program && programUse(program, args, name.value)
}

function programUse(program: Program, args: readonly ShellWord[], name: string): ReadOnlyUse | undefined {
  const options: string[] = []
  const operands: ShellWord[] = []
  const takes = program.takes ?? []
  // xxd, and uniq without GNU, take an option behind their file for the file to write
  const atEnd = () => program.most === 1 && operands.length === 1
  for (let at = 0, ended = false; at < args.length; at++) {
    const word = args[at]!
    if (ended || atEnd() || !word.value.startsWith('-') || word.value === '-') operands.push(word)
    else if (word.value === '--') ended = true
    else {
      // a pattern such as --include=*.ts stays as it is written
      const plain = word.literal || (word.glob && !word.path.includes(HOLE))
      if (word.glob && /[*?[]/.test(optionName(word.path))) return undefined // it may stand for any option
      if (!plain && program.text !== Number.POSITIVE_INFINITY) return undefined
      options.push(word.glob ? word.path : word.value)
      const hasValue = takes.includes(word.value) || (program.bundles && endsInOption(word.value, takes))
      if (hasValue && !isOneWord(args[++at] ?? here)) return undefined
    }
  }
  if (name === 'find') return findUse(program, args)
  if (options.some((option) => !optionIsSafe(program, option))) return undefined
  if (program.check && !program.check(args)) return undefined
  if (program.most !== undefined && (operands.length > program.most || operands.some(({ glob }) => glob)))
    return undefined
  const text = options.includes('--files') ? 0 : (program.text ?? 0)
  if (text === 1 && operands[0] && !isText(operands[0], program.code === true, args)) return undefined
  const given = [
    ...operands.slice(text),
    ...operands.slice(0, text).filter((word) => word.glob), // it prints the names that the shell finds
  ].filter((word) => word.value !== '-')
  const tree = program.tree?.(args)
  return {
    paths: [...(tree && given.length === 0 ? [here] : given), ...options.flatMap(pathValue)],
    metadata: program.metadata === true || text === Number.POSITIVE_INFINITY,
    tree,
  }
}

/** `-rA` of `grep -rA 3 x`, but not `-A3` or `-mA`. */
const endsInOption = (bundle: string, takes: readonly string[]): boolean =>
  /^-[\w.]{2,}$/.test(bundle) && [...bundle].findIndex((letter) => takes.includes(`-${letter}`)) === bundle.length - 1

function optionIsSafe({ only, noShort = '', noLong = [], takes = [] }: Program, option: string): boolean {
  if (only) return only.test(option)
  if (takes.includes(optionName(option))) return true // in full: no abbreviation of another
  if (option.startsWith('--')) return !noLong.some((each) => abbreviates(option, each))
  return ![...noShort].some((letter) => option.includes(letter))
}

/** The folders come first; tests and their values follow. */
function findUse(program: Program, args: readonly ShellWord[]): ReadOnlyUse | undefined {
  if (args.some((word) => !word.literal && !word.glob) || !program.check!(args)) return undefined
  const end = args.findIndex((word) => /^[-(!]/.test(word.value) && !/^-([HP]|O\d)$/.test(word.value))
  const from = (end < 0 ? args : args.slice(0, end)).filter((word) => !word.value.startsWith('-'))
  const newer = args.filter((_, at) => /^-(newer\w*|samefile|anewer|cnewer)$/.test(args[at - 1]?.value ?? ''))
  const globs = args.filter((word) => word.glob) // they may expand to a name that reads as an action
  return { paths: [...(from.length > 0 ? from : [here]), ...newer, ...globs], metadata: true }
}
