/** The files that a shell command's words and redirections name. */
import { type PathPattern, segmentRegex } from './paths.ts'
import type { ShellCommand, ShellWord } from './shell.ts'
import { forms, nameOf } from './wrappers.ts'

export function filesOf(command: ShellCommand): readonly FileUse[] {
  command.known.files ??= readFiles(command)
  return command.known.files
}

const readers =
  /^(cat|tac|head|tail|less|more|nl|sed|awk|gawk|mawk|grep|egrep|fgrep|rg|ag|ack|cut|sort|uniq|wc|od|xxd|hexdump|strings|diff|cmp|comm|paste|join|fold|fmt|pr|rev|base64|base32|md5sum|sha1sum|sha256sum|sha512sum|file|stat|jq|yq|bat|view|vim?|nano|emacs|cp|mv|ln|install|rsync|scp|tar|zip|gzip|bzip2|xz|zstd|zcat|dd|tee|split|csplit|iconv|column|tr|look|source|\.|bash|sh|python3?|node|perl|ruby|php|open|xdg-open|openssl|gpg|curl|wget|find|fd)$/
const writers =
  /^(tee|touch|rm|rmdir|unlink|mv|cp|ln|install|truncate|mkdir|dd|shred|chmod|chown|chgrp|rsync|patch|vim?|nano|split)$/
const sayers = /^(echo|printf|true|false|:|test|\[)$/

/** `mentions`: in the words of a command of which we do not know what it does with them. */
export type FileUse = readonly ['read' | 'edit' | 'mentions', ShellWord]

function readFiles(command: ShellCommand): FileUse[] {
  const uses: FileUse[] = [
    ...command.reads.map((word): FileUse => ['read', word]),
    ...command.writes.map((word): FileUse => ['edit', word]),
  ]
  for (const words of forms(command.words)) {
    const name = nameOf(words)
    if (sayers.test(name)) continue
    const inPlace = /^(sed|perl|ruby)$/.test(name) && words.some((word) => /^(-[a-zA-Z]*i|--in-place)/.test(word.value))
    for (const word of words.slice(1)) {
      for (const each of pathsIn(word)) {
        if (readers.test(name)) uses.push(['read', each])
        if (writers.test(name) || inPlace) uses.push(['edit', each])
        if (!readers.test(name) && !writers.test(name)) uses.push(['mentions', each])
      }
    }
  }
  return uses
}

/** A word, and the path in `--file=x`, `if=x`, `@x` or `HEAD:x`. An option by itself is none. */
function pathsIn(word: ShellWord): ShellWord[] {
  const inner = /^(?:-{0,2}[\w-]+=|@|[^/]*:)(.+)$/s.exec(word.path)?.[1]
  const found = inner === undefined ? [] : [{ ...word, path: inner }]
  return word.value.startsWith('-') ? found : [word, ...found]
}

/** Whether a shell wildcard could expand to a name that the rule's pattern holds. */
export function globMayReach(glob: string, { names }: PathPattern): boolean {
  const parts = glob.split('/').filter((part) => part !== '')
  return names.some((name) =>
    parts.some(
      (part) => !(name.startsWith('.') && /^[*?]/.test(part)) && new RegExp(`^${segmentRegex(part)}$`, 's').test(name),
    ),
  )
}
