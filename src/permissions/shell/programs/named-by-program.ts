/** Files that a command writes by names it makes from its words: git's configuration, the last part of an address, a name without `.gz`. */
import { anyAbbreviates } from '../parse/abbreviates.ts'
import { type FileUse, HOME, plainWord, type ShellWord } from '../parse/command.ts'

/** Keys that name a user, a branch or a remote; every other key of git may lead to a program. */
const plainKey =
  /^(user\.(name|email|signingkey)|init\.defaultbranch|branch\..*|pull\.\w+|push\.\w+|fetch\.\w+|rebase\.\w+|color\..*|advice\..*|core\.(autocrlf|eol|filemode|ignorecase|quotepath|longpaths|safecrlf|symlinks|precomposeunicode))$/i

/** `git config KEY VALUE` edits a file that it does not name. */
export function gitConfigFiles(args: readonly ShellWord[]): FileUse[] {
  const values = args.map(({ value }) => value)
  if (values.some((value) => /^(-l|--(list|get|show|name-only|default|type=)\S*)$/.test(value))) return []
  const [verb = '', ...operands] = values.slice(values.indexOf('config') + 1).filter((value) => !/^-/.test(value))
  const keys = /^(set|unset|edit|rename-section|remove-section)$/.test(verb) ? operands : [verb, ...operands]
  if (/^(get|list)$/.test(verb)) return []
  const edits = values.includes('-e') || anyAbbreviates(values, editing)
  if (keys.length < 2 && !edits && verb === keys[0]) return []
  if (keys[0] !== undefined && plainKey.test(keys[0])) return []
  return ['.git/config', `${HOME}/.gitconfig`].map((path) => ({
    ...{ kind: 'edit', word: plainWord(path), to: undefined, unsure: true, visible: false },
  }))
}

const editing = ['--edit', '--unset-all', '--add', '--replace-all', '--rename-section', '--remove-section']

/** `npm pkg set scripts.x=…` edits a file that it does not name, and the next command may run what is in it. */
export function packageFiles(name: string, args: readonly ShellWord[]): FileUse[] {
  if (!/^(npm|pnpm)$/.test(name)) return []
  if (!/ (set-script|pkg( .*)? set) /s.test(` ${args.map(({ value }) => value).join(' ')} `)) return []
  return [{ kind: 'edit', word: plainWord('package.json'), to: undefined, unsure: true, visible: false }]
}

/** The names that curl -O and wget give to what they fetch, and gunzip and its like to what they unpack. */
export function madeNames(name: string, args: readonly ShellWord[]): ShellWord[] {
  if (unpacks.test(name))
    return args.flatMap((word) => {
      const path = /^(.+)\.(gz|tgz|z|Z|bz2|xz|lzma|lzo|zst|lz4|br)$/.exec(word.path)?.[1]
      return path === undefined ? [] : [{ ...word, path }]
    })
  const values = args.map(({ value }) => value)
  const named =
    name === 'wget' ||
    (name === 'curl' &&
      (values.some((value) => /^-[a-zA-Z]*O/.test(value)) || anyAbbreviates(values, ['--remote-name-all'])))
  if (!named) return []
  return args.flatMap(({ value, path, glob }) => {
    // the `?` of a query is a wildcard where it is not quoted
    const last = /^[a-z]+:\/\/[^/]+\/(?:[^?#]*\/)?([^/?#]+)/i.exec(glob ? path : value)?.[1]
    return last === undefined ? [] : [plainWord(last)]
  })
}

const unpacks =
  /^(gunzip|gzip|pigz|unpigz|bunzip2|bzip2|unxz|xz|unlzma|lzma|unzstd|zstd|lz4|unlz4|uncompress|lzop|brotli)$/
