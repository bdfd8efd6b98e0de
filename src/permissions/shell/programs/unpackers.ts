/** Programs that create files which their command line does not name: from archives, patches, trees and servers. */

import { gitVerbAt } from '../git-verb.ts'
import { abbreviates, optionName } from '../parse/abbreviates.ts'
import { byName } from '../parse/by-name.ts'
import { here, type ShellWord } from '../parse/command.ts'

interface Unpacker {
  /** Whether this use creates files. What is not recognized does. */
  readonly creates: (args: readonly ShellWord[], verb: string) => boolean
  /** The option that names the folder; a letter also takes its value in the same word. Without one it is the last operand. */
  readonly into?: readonly string[]
}

const always = () => true
const verbIs = (pattern: RegExp) => (_: readonly ShellWord[], verb: string) => pattern.test(verb)
const unless = (option: RegExp) => (args: readonly ShellWord[]) => !args.some(({ value }) => option.test(value))
const given = (option: RegExp) => (args: readonly ShellWord[]) => args.some(({ value }) => option.test(value))

/** tar: in the first word without a dash, or in any bundle of letters. Only a mode that is seen to be another extracts nothing. */
function tarExtracts(args: readonly ShellWord[]): boolean {
  const [first, ...rest] = args.map(({ value }) => value)
  const letters = [
    ...(first !== undefined && /^[a-zA-Z]+$/.test(first) ? [first] : []),
    ...[first ?? '', ...rest].filter((value) => /^-[a-zA-Z]+$/.test(value)),
  ].join('')
  const long = (name: string) => args.some(({ value }) => value.length > 3 && abbreviates(value, name))
  if (/x/.test(letters) || long('--extract') || long('--get')) return true
  const others = ['--create', '--list', '--append', '--update', '--diff', '--compare', '--catenate', '--delete']
  return !/[ctruAd]/.test(letters) && !others.some(long) && !args.some(({ value }) => /^--(help|version)$/.test(value))
}

const tar: Unpacker = { creates: tarExtracts, into: ['-C', '--directory', '--cd'] }
const sevenZip: Unpacker = { creates: verbIs(/^[xe]$/), into: ['-o'] }
const toTarget = (args: readonly ShellWord[]) => args.slice(0, -1).some(({ value }) => isRemote(value))

const unpackers: Record<string, Unpacker> = {
  ...Object.fromEntries(['tar', 'bsdtar', 'gtar', 'gnutar', 'star'].map((name) => [name, tar])),
  ...Object.fromEntries(['7z', '7za', '7zr', '7zz'].map((name) => [name, sevenZip])),
  unzip: { creates: unless(/^-[a-zA-Z]*[lptvzZc]/), into: ['-d'] },
  cpio: { creates: unless(/^(-[a-zA-Z]*[ot]|--(create|list))/), into: ['-D', '--directory'] },
  pax: { creates: given(/^-[a-zA-Z]*r/), into: [] },
  unrar: { creates: verbIs(/^[xe]$/), into: ['-op'] },
  rar: { creates: verbIs(/^[xe]$/), into: ['-op'] },
  ar: { creates: verbIs(/x/), into: ['--output'] },
  jar: {
    creates: (args, verb) => verb.includes('x') || given(/^(-[a-zA-Z]*x|--extract)/)(args),
    into: ['-C', '--dir'],
  },
  unsquashfs: { creates: unless(/^-(l|ll|s|stat)$/), into: ['-d', '-dest'] },
  dpkg: { creates: given(/^(-x|-X|--extract|--vextract)/) },
  'dpkg-deb': { creates: given(/^(-x|-X|-R|--extract|--vextract|--raw-extract)/) },
  patch: { creates: unless(/^--dry-run$/), into: ['-d', '--directory'] },
  svn: { creates: verbIs(/^(export|checkout|co|update|up|switch|patch)$/) },
  gh: { creates: (args) => given(/^(run|release)$/)(args) && given(/^download$/)(args), into: ['-D', '--dir'] },
  aria2c: { creates: always, into: ['-d', '--dir'] },
  wget: {
    creates: given(
      /^(-[a-zA-Z]*[rmixpE]|--(rec|mir|input-f|force-dir|page|content-d|trust-s|protocol-d|adjust|convert-f))/,
    ),
    into: ['-P', '--directory-prefix'],
  },
  curl: { creates: given(/^(-[a-zA-Z]*J|--remote-h)/), into: ['--output-dir'] },
  rsync: { creates: toTarget },
  scp: { creates: toTarget },
  sftp: { creates: always, into: [] },
  docker: { creates: (args, verb) => verb === 'cp' && toTarget(args) },
  podman: { creates: (args, verb) => verb === 'cp' && toTarget(args) },
  kubectl: { creates: (args, verb) => verb === 'cp' && toTarget(args) },
  git: {
    creates: (args, verb) =>
      verb === 'am' || (verb === 'apply' && !given(/^--(check|stat|numstat|summary|cached)$/)(args)),
    into: ['--directory'],
  },
}

const isRemote = (value: string): boolean => /^[^/-][^/]*:/.test(value)

/** The folders that a command fills with files that it does not name; empty where it names all. */
export function unpackedInto(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const unpacker = unpackerOf(name)
  if (unpacker === undefined) return nowhere
  if (unpacker === 'python') return pythonModule(args)
  const operands = (name === 'git' ? args.slice(gitVerbAt(args)) : args).filter(({ value }) => !value.startsWith('-'))
  if (!unpacker.creates(args, operands[0]?.value ?? '')) return nowhere
  const { into } = unpacker
  if (!into) return [operands.length > 1 ? operands.at(-1)! : here] // after the verb, the archive or the source
  const named = into.flatMap((option) => valuesOfOption(args, option))
  return named.length > 0 ? named : [here]
}

const nowhere: readonly never[] = []
const unpackerOf = byName((name): Unpacker | 'python' | undefined => {
  if (/^python[\d.]*$/.test(name)) return 'python'
  return Object.hasOwn(unpackers, name) ? unpackers[name] : undefined
})

/** `python3 -m zipfile -e a.zip dir`. */
function pythonModule(args: readonly ShellWord[]): readonly ShellWord[] {
  const at = args.findIndex(({ value }) => value === '-m')
  if (at < 0 || !/^(zipfile|tarfile)$/.test(args[at + 1]?.value ?? '')) return []
  const rest = args.slice(at + 2)
  if (!rest.some(({ value }) => /^(-e|--extract)$/.test(value))) return []
  const operands = rest.filter(({ value }) => !value.startsWith('-'))
  return [operands[1] ?? here]
}

function valuesOfOption(args: readonly ShellWord[], option: string): ShellWord[] {
  const long = option.startsWith('--')
  return args.flatMap((word, at) => {
    const { value, path } = word
    if (long) {
      const named = optionName(value)
      if (!named.startsWith('--') || named.length < 4 || !abbreviates(named, option)) return []
      return value.includes('=') ? [{ ...word, path: path.slice(path.indexOf('=') + 1) }] : (args[at + 1] ?? [])
    }
    if (!value.startsWith('-') || value.startsWith('--')) return []
    if (value === option || (/^-[a-zA-Z]+$/.test(value) && value.endsWith(option.slice(1)))) return args[at + 1] ?? []
    return value.startsWith(option) ? [{ ...word, path: path.slice(option.length) }] : []
  })
}
