/** The files that a shell command's words and redirections name, and what becomes of them. */

import type { PathPattern } from '../paths/pattern.ts'
import { couldMatch, HOLE } from '../wildcard.ts'
import { byName } from './by-name.ts'
import type { FileUse, ShellCommand, ShellWord, UseKind } from './command.ts'
import { expandBraces } from './expand-glob.ts'
import { computed, tokensInCode } from './programs/embedded.ts'
import { downloads, gitConfigFiles } from './programs/named-by-program.ts'
import { unpackedInto } from './programs/unpackers.ts'
import { formsOf, nameOf, unknownWord } from './wrappers.ts'

export function filesOf(command: ShellCommand): readonly FileUse[] {
  command.known.files ??= [
    ...uses('read', command.reads),
    ...uses('edit', command.writes),
    ...formsOf(command).flatMap((words) => usesOf(nameOf(words), words.slice(1), command.input)),
  ]
  return command.known.files
}

const uses = (kind: UseKind, words: readonly ShellWord[]): FileUse[] => words.map((word) => ({ kind, word }))

export const says = byName(/^(echo|printf|true|false|:|test|\[)$/)
const reads = byName(
  /^(cat|tac|head|tail|less|more|nl|cut|wc|od|hexdump|strings|diff|cmp|comm|paste|join|fold|fmt|pr|rev|base64|base32|md5sum|sha1sum|sha256sum|sha512sum|file|stat|jq|bat|column|tr|look|source|\.|view|[ef]?grep|rgrep|rg|ag|ack|sed|[gm]?awk|find|fd|fdfind)$/,
)
const edits = byName(/^(tee|touch|rm|rmdir|unlink|ln|truncate|mkdir|shred|chmod|chown|chgrp|mkfifo)$/)
const readsAndEdits = byName(/^(vim?|nvim|nano|emacs|ed|ex|mv|split|csplit|patch)$/)
const copies = byName(/^(cp|install|scp|rsync|mv|ln)$/)
const inPlace = byName(/^(sed|perl|ruby)$/)
const compares = byName(/grep$|^diff$/)
const finds = byName(/^(find|fd|fdfind)$/)
const tars = byName(/^(tar|bsdtar)$/)
const searches = byName(/^(rg|ag|ack|rgrep)$/)
const interprets = byName(/^(\w*sh|python[\d.]*|node|perl|ruby|php|deno|bun)$/)
/** They read what they are given, and may also write it: only with these options, or without these. */
const mayWrite: Record<string, { with?: RegExp; without?: RegExp }> = {
  sort: { with: /^(-[a-zA-Z]*o|--output)/ },
  curl: { with: /^(-[a-zA-Z]*[oOJDc]|--(output|remote|create|dump|cookie-jar|trace))/ },
  openssl: { with: /^-(out|keyout|writerand)/ },
  iconv: { with: /^(-o|--output)/ },
  yq: { with: /^(-[a-zA-Z]*i|--inplace)/ },
  gzip: { without: /^(-[a-zA-Z]*[clt]|--(stdout|list|test))/ },
  bzip2: { without: /^(-[a-zA-Z]*[ct]|--(stdout|test))/ },
  xz: { without: /^(-[a-zA-Z]*[clt]|--(stdout|list|test))/ },
  zstd: { without: /^(-[a-zA-Z]*[clt]|--(stdout|list|test))/ },
  ...Object.fromEntries(['uniq', 'xxd', 'wget', 'tar', 'bsdtar', 'zip', 'gpg', 'zcat'].map((name) => [name, {}])),
}
const gitReads =
  /^(add|blame|commit|describe|diff|fetch|grep|hash-object|log|ls-files|push|rev-parse|shortlog|show|status)$/
const recursive = /^(-[a-zA-Z]*[rRa]|--(recursive|archive|dereference-recursive|directories=recurse))/

/** What one command does with the files it names. */
function usesOf(name: string, args: readonly ShellWord[], input: readonly string[]): FileUse[] {
  if (says.test(name)) return []
  const has = (option: RegExp) => args.some((word) => option.test(word.value))
  const named = args.flatMap(pathsIn)
  const operands = args.filter((word) => !word.value.startsWith('-'))
  const found: FileUse[] = []
  const add = (...kinds: UseKind[]) => found.push(...kinds.flatMap((kind) => uses(kind, named)))
  const trees = (kind: UseKind, words: readonly ShellWord[], more?: Partial<FileUse>) =>
    found.push(...(words.length > 0 ? words : [here]).map((word) => ({ kind, word, ...more })))
  const joined = args.flatMap(joinedPath)
  found.push(...uses('mayRead', joined), ...uses('mayEdit', joined))
  for (const word of tokensInCode(name, args, input)) found.push(...uses('mayRead', [word]), ...uses('mayEdit', [word]))
  if (computed(name, args, input).files) found.push(...uses('read', [unknownWord]), ...uses('edit', [unknownWord]))

  if (copies.test(name)) found.push(...copied(name, args, operands, has(recursive)))
  else if (name === 'dd') {
    for (const word of named) found.push(...uses(/^of=/.test(word.value) ? 'edit' : 'read', [word]))
  } else if (edits.test(name) || readsAndEdits.test(name)) {
    add('edit', ...(readsAndEdits.test(name) ? (['read'] as const) : []))
    if (has(recursive)) trees('treeEdit', operands)
  } else if (reads.test(name)) add('read')
  else if (Object.hasOwn(mayWrite, name)) {
    const { with: option, without } = mayWrite[name]!
    const writes = option ? has(option) : !(without && has(without))
    add('read')
    if (writes) found.push(...named.map((word): FileUse => ({ kind: 'edit', word, unsure: true })))
    if (writes && has(recursive)) trees('treeEdit', operands)
  } else if (interprets.test(name)) {
    found.push(...uses('read', operands.slice(0, 1)), ...uses('mayEdit', operands.slice(1)))
    add('mayRead')
  } else if (name === 'git') {
    const writes = !operands.some((word) => gitReads.test(word.value)) || has(/^(-o|--output)/)
    add('mayRead', ...(writes ? (['mayEdit'] as const) : []))
  } else add('mayRead', 'mayEdit')

  if (/^(perl|ruby)$/.test(name) && has(/^-[a-zA-Z]*[np]/)) add('read')
  if (inPlace.test(name) && has(/^(-[a-zA-Z]*i|--in-place)/)) add('edit')
  if (searches.test(name) || (compares.test(name) && has(recursive))) {
    const hidden =
      name === 'rgrep' || /grep$|diff/.test(name) || has(/^(-[a-zA-Z]*[u.a]|--(hidden|unrestricted|no-ignore))/)
    trees('treeRead', name === 'diff' ? operands : operands.slice(has(/^(-[a-zA-Z]*[ef]|--(regexp|file))/) ? 0 : 1), {
      ...(!hidden && { visible: true }),
    })
  }
  if (finds.test(name) && has(/^(-(exec|ok|delete|fprint|fls)|-[xX]$|--exec)/)) {
    const end = args.findIndex((word) => /^[-(!]/.test(word.value))
    const from = name === 'find' ? args.slice(0, end) : []
    found.push(...uses('mayEdit', from))
    trees('treeEdit', from)
    trees('treeRead', from)
  }
  const [verb] = operands
  const unpacked = unpackedInto(name, args)
  found.push(...uses('creates', unpacked))
  if (tars.test(name) && unpacked.length === 0) {
    const letters = args.find((word) => /^-?[a-zA-Z]+$/.test(word.value))?.value ?? ''
    if (!/t/.test(letters)) trees('treeRead', operands)
  }
  if (name === 'zip' && has(recursive)) trees('treeRead', operands)
  if (name === 'git' && verb?.value === 'config') found.push(...gitConfigFiles(args))
  found.push(...uses('edit', downloads(name, args)).map((use) => ({ ...use, unsure: true as const })))
  if (name === 'git' && verb?.value === 'clean') trees('treeEdit', [])
  if (name === 'git' && verb?.value === 'grep' && has(/^--(no-i|unt)/)) trees('treeRead', operands.slice(2))
  if (name === 'git' && verb?.value === 'diff' && has(/^--no-i/)) trees('treeRead', operands.slice(1))
  if (listed(name, has)) trees('treeRead', [])
  return found
}

/** Programs that read the names of files from a list or from their input: which ones cannot be seen. */
const listed = (name: string, has: (option: RegExp) => boolean): boolean =>
  has(/^--files(0|-f)/) ||
  (tars.test(name) && has(/^-?[a-zA-Z]*T$/)) ||
  (name === 'cpio' && has(/^(-[a-zA-Z]*[op]|--(create|pass-through))/)) ||
  (name === 'zip' && has(/^(-[a-zA-Z]*@|--names-stdin)$/))

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
    found.push({
      kind: folder ? 'edit' : 'mayEdit',
      word: { ...source, path, glob: source.glob || target.glob, value: path, text: path },
    })
    if (whole || changes || name === 'rsync') found.push({ kind: 'treeRead', word: source, to: target })
    if (name === 'mv') found.push({ kind: 'treeEdit', word: source, to: target })
  }
  return found
}

/** `cp -t. x`. */
function joinedTarget(word: ShellWord): ShellWord[] {
  const path = /^-[a-su-zA-Z]*t(.+)$/s.exec(word.path)?.[1]
  return path === undefined ? [] : [{ ...word, path }]
}

/** The values of an option, as the next word or joined to it. */
function valuesOf(args: readonly ShellWord[], alone: RegExp, joined?: RegExp): ShellWord[] {
  return args.flatMap((word, at) => {
    if (alone.test(word.value)) return args[at + 1] ?? []
    return joined?.test(word.value) ? [{ ...word, path: word.path.slice(word.path.indexOf('=') + 1) }] : []
  })
}

const here: ShellWord = { value: '.', text: '.', path: '.', literal: true, glob: false }

/** A word, and the path in `--file=x`, `if=x`, `@x` or `HEAD:x`. An option by itself is none. */
function pathsIn(word: ShellWord): ShellWord[] {
  const inner = /[=@:]/.test(word.path) ? /^(?:-{0,2}[\w-]+=|@|[^/]*:)(.+)$/s.exec(word.path)?.[1] : undefined
  const found = inner === undefined ? [] : [{ ...word, path: inner.replace(/^\/\/(?=\/)/, '') }]
  return word.value.startsWith('-') ? found : [word, ...found]
}

/** `-ofile`. */
function joinedPath(word: ShellWord): ShellWord[] {
  const path = word.path.startsWith('-') ? /^-[A-Za-z]([^=]+)$/s.exec(word.path)?.[1] : undefined
  return path === undefined || path.includes(HOLE) ? [] : [{ ...word, path }]
}

/** Whether a shell wildcard could expand to a name that the rule's pattern holds. */
export function globMayReach(glob: string, { names }: PathPattern): boolean {
  const globs = expandBraces(glob)
  if (!globs) return true
  const parts = globs.flatMap((each) => each.split('/')).filter((part) => part !== '')
  return names.some((name) =>
    parts.some(
      (part) => !(name.startsWith('.') && /^[*?[]/.test(part)) && couldMatch(name, part.replace(/\[.*\]|[*?]/g, HOLE)),
    ),
  )
}
