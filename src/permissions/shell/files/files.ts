/** The files that a shell command's words and redirections name, and what becomes of them. */

import type { PathPattern } from '../../paths/pattern.ts'
import { couldMatch, HOLE } from '../../wildcard.ts'
import { gitVerbAt } from '../git-verb.ts'
import { anyAbbreviates } from '../parse/abbreviates.ts'
import { byName } from '../parse/by-name.ts'
import { type Code, type FileUse, here, type ShellCommand, type ShellWord, type UseKind } from '../parse/command.ts'
import { formsOf, nameOf, unknownWord } from '../parse/wrappers.ts'
import { codesOf, textsIn, tokensInCode } from '../programs/embedded.ts'
import { isStrange, says } from '../programs/known.ts'
import { gitConfigFiles, madeNames, packageFiles } from '../programs/named-by-program.ts'
import { looksThroughFolders } from '../programs/recursion.ts'
import { unpackedInto } from '../programs/unpackers.ts'
import { expandBraces } from './expand-glob.ts'
import { joinedPath, joinedTarget, mayHoldPath, mounts, pathsIn, valuesOf } from './paths-in-words.ts'

export function filesOf(command: ShellCommand): readonly FileUse[] {
  command.known.files ??= filesNamed(command)
  return command.known.files
}

function filesNamed(command: ShellCommand): readonly FileUse[] {
  const found = [...uses('read', command.reads), ...uses('edit', command.writes)]
  const codes = codesOf(command)
  for (const [at, words] of formsOf(command).entries()) {
    const name = nameOf(words)
    usesOf(name, words.slice(1), codes[at], found)
    if (!isStrange(name)) continue
    for (const word of tokensInCode(name, textsIn(words, command.input)))
      found.push(use('mayRead', word), use('mayEdit', word))
  }
  return found
}

const use = (kind: UseKind, word: ShellWord): FileUse => ({ kind, word, to: undefined, unsure: false, visible: false })
const uses = (kind: UseKind, words: readonly ShellWord[]): FileUse[] => words.map((word) => use(kind, word))

/** What becomes of the files that a program is given. */
interface Traits {
  readonly reads: boolean
  readonly edits: boolean
  readonly readsAndEdits: boolean
  readonly copies: boolean
  readonly inPlace: boolean
  readonly includes: boolean
  readonly compares: boolean
  readonly finds: boolean
  readonly tars: boolean
  readonly packs: boolean
  readonly searches: boolean
  readonly interprets: boolean
  readonly contains: boolean
  readonly sends: boolean
  readonly mayWrite: MayWrite | undefined
}

const traits: Readonly<Record<Exclude<keyof Traits, 'mayWrite'>, RegExp>> = {
  reads:
    /^(cat|tac|head|tail|less|more|nl|cut|wc|od|hexdump|strings|diff|cmp|comm|paste|join|fold|fmt|pr|rev|base64|base32|md5sum|sha1sum|sha256sum|sha512sum|file|stat|jq|bat|column|tr|look|source|\.|view|[ef]?grep|rgrep|rg|ag|ack|sed|[gm]?awk|find|fd|fdfind)$/,
  edits: /^(tee|touch|rm|rmdir|unlink|ln|truncate|mkdir|shred|chmod|chown|chgrp|mkfifo)$/,
  readsAndEdits: /^(vim?|nvim|nano|emacs|ed|ex|mv|split|csplit|patch)$/,
  copies: /^(cp|install|scp|rsync|mv|ln)$/,
  inPlace: /^(sed|perl|ruby)$/,
  includes: /^[gmn]?awk$/,
  compares: /grep$|^diff$/,
  finds: /^(find|fd|fdfind)$/,
  tars: /^(tar|bsdtar|gtar|gnutar|star)$/,
  packs: /^(7z[arz]?|pax|rar)$/,
  searches: /^(rg|ag|ack|rgrep)$/,
  interprets: /^(\w*sh|python[\d.]*|node|perl|ruby|php|deno|bun)$/,
  contains: /^(docker|podman|nerdctl)$/,
  sends: /^(aws|az|docker|gcloud|gsutil|kubectl|mc|nerdctl|podman|rclone|s3cmd|s4cmd|s5cmd)$/,
}

const traitsOf = byName((name): Traits => {
  const is = (trait: keyof typeof traits) => traits[trait].test(name)
  return {
    reads: is('reads'),
    edits: is('edits'),
    readsAndEdits: is('readsAndEdits'),
    copies: is('copies'),
    inPlace: is('inPlace'),
    includes: is('includes'),
    compares: is('compares'),
    finds: is('finds'),
    tars: is('tars'),
    packs: is('packs'),
    searches: is('searches'),
    interprets: is('interprets'),
    contains: is('contains'),
    sends: is('sends'),
    mayWrite: Object.hasOwn(mayWrite, name) ? mayWrite[name] : undefined,
  }
})

interface MayWrite {
  readonly with?: RegExp
  /** Long options with which they do, also shortened. */
  readonly long?: readonly string[]
  readonly without?: RegExp
}

/** They read what they are given, and may also write it: only with these options, or without these. */
const mayWrite: Record<string, MayWrite> = {
  sort: { with: /^-[a-zA-Z]*o/, long: ['--output'] },
  curl: {
    with: /^-[a-zA-Z]*[oOJDc]/,
    // `--output` is the beginning of one of them
    long: [
      ...[
        '--output-dir',
        '--remote-name-all',
        '--remote-header-name',
        '--create-dirs',
        '--dump-header',
        '--cookie-jar',
      ],
      ...['--trace-ascii', '--stderr', '--etag-save', '--libcurl', '--hsts', '--alt-svc'],
    ],
  },
  openssl: { with: /^-(out|keyout|writerand)/ },
  iconv: { with: /^-o/, long: ['--output'] },
  yq: { with: /^-[a-zA-Z]*i/, long: ['--inplace'] },
  gzip: { without: /^(-[a-zA-Z]*[clt]|--(stdout|list|test))/ },
  bzip2: { without: /^(-[a-zA-Z]*[ct]|--(stdout|test))/ },
  xz: { without: /^(-[a-zA-Z]*[clt]|--(stdout|list|test))/ },
  zstd: { without: /^(-[a-zA-Z]*[clt]|--(stdout|list|test))/ },
  ...Object.fromEntries(['uniq', 'xxd', 'wget', 'tar', 'bsdtar', 'zip', 'gpg', 'zcat'].map((name) => [name, {}])),
}
const gitReads =
  /^(add|blame|commit|describe|diff|fetch|grep|hash-object|log|ls-files|push|rev-parse|shortlog|show|status)$/
const recursive = /^-[a-zA-Z]*[rRa]/

/** What one command does with the files it names. */
function usesOf(name: string, args: readonly ShellWord[], code: Code | undefined, found: FileUse[]): void {
  if (says(name)) return
  const is = traitsOf(name)
  const named: ShellWord[] = []
  const operands: ShellWord[] = []
  const options: string[] = []
  for (const word of args) {
    const option = word.value.startsWith('-')
    if (option) options.push(word.value)
    else {
      operands.push(word)
      named.push(word)
    }
    if (mayHoldPath.test(word.path)) named.push(...pathsIn(word))
  }
  /** For patterns that begin with a dash. */
  const has = (option: RegExp) => options.some((value) => option.test(value))
  const given = (...names: string[]) => anyAbbreviates(options, names)
  const goesDown = has(recursive) || given('--recursive', '--archive')
  const add = (kind: UseKind) => {
    for (const word of named) found.push(use(kind, word))
  }
  const trees = (kind: UseKind, words: readonly ShellWord[], visible = false) => {
    for (const word of words.length > 0 ? words : [here]) found.push({ ...use(kind, word), visible })
  }
  const behind = name === 'git' ? args.slice(gitVerbAt(args)) : none
  const verb = behind[0]?.value
  if (options.length > 0) {
    const joined = args.flatMap((word) => joinedPath(word) ?? [])
    if (joined.length > 0) found.push(...uses('mayRead', joined), ...uses('mayEdit', joined))
  }
  if (code) {
    for (const word of tokensInCode(name, code.parts)) found.push(use('mayRead', word), use('mayEdit', word))
    if (code.computed.files) found.push(use('read', unknownWord), use('edit', unknownWord))
  }

  if (is.copies) found.push(...copied(name, args, operands, goesDown))
  else if (name === 'dd') {
    for (const word of named) found.push(use(/^of=/.test(word.value) ? 'edit' : 'read', word))
  } else if (is.edits || is.readsAndEdits) {
    add('edit')
    if (is.readsAndEdits) add('read')
    if (goesDown) trees('treeEdit', operands)
  } else if (is.reads) add('read')
  else if (is.mayWrite) {
    const { with: option, long = [], without } = is.mayWrite
    const writes = option ? has(option) || given(...long) : !(without && has(without))
    add('read')
    if (writes) for (const word of named) found.push({ ...use('edit', word), unsure: true })
    if (writes && goesDown) trees('treeEdit', operands)
  } else if (is.interprets) {
    found.push(...uses('read', operands.slice(0, 1)), ...uses('mayEdit', operands.slice(1)))
    add('mayRead')
  } else if (name === 'git') {
    add('mayRead')
    if (!gitReads.test(verb ?? '') || has(/^-o/) || given('--output')) add('mayEdit')
  } else {
    add('mayRead')
    add('mayEdit')
  }

  if ((name === 'perl' || name === 'ruby') && has(/^-[a-zA-Z]*[np]/)) add('read')
  if (is.inPlace && (has(/^-[a-zA-Z]*i/) || given('--in-place'))) add('edit')
  if (is.includes && includesInPlace(args)) add('edit')
  if (is.searches || (is.compares && looksThroughFolders(args.map(({ value }) => value)))) {
    const hidden =
      /^ack$|grep$|diff/.test(name) || has(/^(-[a-zA-Z]*[u.a]|--no-ignore)/) || given('--hidden', '--unrestricted')
    const from = name === 'diff' || has(/^-[a-zA-Z]*[ef]/) || given('--regexp', '--file') ? 0 : 1
    trees('treeRead', operands.slice(from), !hidden)
  }
  if (is.finds && has(/^(-(exec|ok|delete|fprint|fls)|-[xX]$|--exec)/)) {
    const end = args.findIndex((word) => /^[-(!]/.test(word.value))
    const from = name === 'find' ? args.slice(0, end) : []
    found.push(...uses('mayEdit', from))
    trees('treeEdit', from)
    trees('treeRead', from)
  }
  const unpacked = unpackedInto(name, args)
  for (const word of unpacked) found.push(use('creates', word))
  if (is.tars && unpacked.length === 0) {
    const letters = args.find((word) => /^-?[a-zA-Z]+$/.test(word.value))?.value ?? ''
    if (!/t/.test(letters)) trees('treeRead', operands)
  }
  if ((name === 'zip' && goesDown) || (is.packs && unpacked.length === 0)) trees('treeRead', operands)
  for (const { word, isReadOnly } of is.contains ? mounts(args) : []) {
    found.push(use('treeRead', word))
    if (!isReadOnly) found.push(use('treeEdit', word))
  }
  if (is.sends) {
    const verb = operands.findIndex((word) => sending.test(word.value))
    if (verb >= 0) trees('treeRead', operands.slice(verb + 1))
  }
  if (verb === 'config') found.push(...gitConfigFiles(args))
  found.push(...packageFiles(name, args))
  for (const word of madeNames(name, args)) found.push({ ...use('edit', word), unsure: true })
  if (verb === 'clean') trees('treeEdit', [])
  if (verb === 'grep' && has(/^--(no-i|unt)/)) trees('treeRead', behind.filter(isOperand).slice(2))
  if (verb === 'diff' && has(/^--no-i/)) trees('treeRead', behind.filter(isOperand).slice(1))
  if (listed(name, is, args, has, given)) trees('treeRead', [])
}

const isOperand = ({ value }: ShellWord): boolean => !value.startsWith('-')
const none: readonly ShellWord[] = []

/** `awk -i inplace`, `awk --include=inplace`. */
const includesInPlace = (args: readonly ShellWord[]): boolean =>
  args.some(
    ({ value }, at) =>
      /^(-i|--i\w*=)?inplace(\.awk)?$/.test(value) &&
      (value[0] === '-' || /^(-i|--i\w*)$/.test(args[at - 1]?.value ?? '')),
  )

/** Programs that read the names of files from a list or from their input: which ones cannot be seen. */
const listed = (
  name: string,
  is: Traits,
  args: readonly ShellWord[],
  has: (option: RegExp) => boolean,
  given: (...names: string[]) => boolean,
): boolean =>
  has(/^--files(0|-f)/) ||
  (/^(wc|du|sort)$/.test(name) && given('--files0-from')) ||
  (is.tars && has(/^--files/)) ||
  // the first word may be letters without a dash, in any order
  (is.tars && args.some(({ value }, at) => (at === 0 ? /^-?[a-zA-Z]*T/ : /^-[a-zA-Z]*T/).test(value))) ||
  (is.packs && args.some(({ value }) => /^(-[a-z]\S*)?@/.test(value))) ||
  (name === 'curl' && (has(/^-[a-zA-Z]*K/) || given('--config'))) ||
  (name === 'cpio' && (has(/^-[a-zA-Z]*[op]/) || given('--create', '--pass-through'))) ||
  (name === 'zip' && (has(/^-[a-zA-Z]*@$/) || given('--names-stdin')))

/** What a program of `sends` is asked to do with the folders behind it. */
const sending = /^(cp|copy|copyto|dsync|mirror|move|moveto|mv|put|rsync|sync|upload|upload-batch)$/

/** cp, mv and their like: from each source to the last word, or into it, or into `-t` the folder. */
function copied(name: string, args: readonly ShellWord[], operands: readonly ShellWord[], whole: boolean): FileUse[] {
  const into = valuesOf(args, /^(-[a-zA-Z]*t|--t[a-z-]*)$/, /^--t[a-z-]*=/)[0] ?? args.flatMap(joinedTarget)[0]
  const target = into ?? operands.at(-1)
  if (!target) return []
  const sources = (into ? operands : operands.slice(0, -1)).filter((word) => word !== into)
  const changes = name === 'mv' || name === 'ln'
  const found = [...uses('edit', [target]), ...uses('read', sources), ...(changes ? uses('edit', sources) : [])]
  const folder = into !== undefined || /(^|\/)\.{0,2}$/.test(target.path)
  for (const source of sources) {
    const last = source.path.replace(/\/+$/, '').split('/').at(-1)!
    const path = `${target.path}/${last}`
    const word = { ...source, path, glob: source.glob || target.glob }
    found.push(use(folder ? 'edit' : 'mayEdit', word))
    if (whole || changes || name === 'rsync') found.push({ ...use('treeRead', source), to: target })
    if (name === 'mv') found.push({ ...use('treeEdit', source), to: target })
  }
  return found
}

/** Whether a shell wildcard could expand to a name that the rule's pattern holds; a pattern without any is about every file. */
export function globMayReach(glob: string, { names, globs }: PathPattern): boolean {
  const parts = globParts(glob)
  if (!parts || names.length + globs.length === 0) return true
  const mayBe = (name: string) =>
    parts.some(({ isWild, text }) => !(isWild && name.startsWith('.')) && couldMatch(name, text))
  return names.some(mayBe) || globs.some(mayBe)
}

/** The parts of a path with wildcards: whether it begins with one, and with holes in their place; null: only bash can tell. */
const globParts = byName((glob): readonly { readonly isWild: boolean; readonly text: string }[] | null => {
  const parts = expandBraces(glob)?.flatMap((each) => each.split('/'))
  return parts?.map((part) => ({ isWild: /^[*?[]/.test(part), text: part.replace(/\[.*\]|[*?]/g, HOLE) })) ?? null
})
