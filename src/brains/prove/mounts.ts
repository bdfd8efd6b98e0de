/** The agent's view of the disk: the machine's, with a policy's /etc over it and files that stand outside the repository. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Whether bubblewrap can mount here. */
export const canMount = (): boolean => spawnSync('bwrap', ['--dev-bind', '/', '/', 'true']).status === 0

/** With more entries than this in a folder bubblewrap gets too many arguments. */
const mostEntries = 2000

/** Why a file cannot be shown to the agent at this absolute path; null when it can. */
export function whyNotMounted(path: string, root: string): string | null {
  const [, first, second] = path.split('/')
  if (/^(?:proc|sys|dev)$/.test(first!)) return `/${first} belongs to the kernel`
  if (first === 'etc' && root !== '/' && entriesOf(join(root, 'etc')).includes(second!))
    return `the policy's own files lie in /etc/${second}`
  const folder = existingFolder(path)
  if (entriesOf(folder).length > mostEntries) return `${folder} has more than ${mostEntries} entries`
  return canMount() ? null : 'a path outside the repository needs bubblewrap'
}

export interface View {
  /** The program and its arguments, started so that it sees the disk this way. */
  command(program: string, args: readonly string[]): [string, readonly string[]]
  /** Puts a file where the agent sees it at this path. */
  put(path: string, text: string): void
  /** Where a file that the agent sees at this path really lies. */
  real(path: string): string
}

/**
 * Folders of the machine are rebuilt where a file is added to them: a folder of ours is mounted in the place of each and
 * the machine's entries into it, so that what the agent writes there lands with us and not on the machine.
 */
export function viewOf(scratch: string, root: string, outside: readonly string[]): View {
  const staged = root === '/' ? [] : entriesOf(join(root, 'etc'))
  const wanted = new Set([...(root === '/' ? [] : ['/etc']), ...outside.map(existingFolder)])
  const folders = [...wanted].sort((one, other) => one.length - other.length)
  const backing = (folder: string) => join(scratch, 'outside', folder === '/' ? 'root' : folder)
  const words: string[] = ['--dev-bind', '/', '/']
  for (const folder of folders) {
    mkdirSync(backing(folder), { recursive: true })
    words.push('--bind', backing(folder), folder)
    for (const path of entriesOf(folder).map((name) => join(folder, name))) {
      if (folder === '/etc' && staged.includes(relative('/etc', path))) continue
      // a link that leads nowhere cannot be mounted
      if (statSync(path, { throwIfNoEntry: false })) words.push('--dev-bind-try', path, path)
    }
    if (folder === '/etc') for (const name of staged) words.push('--ro-bind', join(root, 'etc', name), `/etc/${name}`)
  }
  const real = (path: string) => {
    const folder = outside.includes(path) ? existingFolder(path) : undefined
    return folder === undefined ? path : join(backing(folder), relative(folder, path))
  }
  return {
    real,
    command: (program, args) =>
      folders.length === 0 ? [program, args] : ['bwrap', [...words, '--', program, ...args]],
    put(path, text) {
      mkdirSync(dirname(real(path)), { recursive: true })
      writeFileSync(real(path), text)
    },
  }
}

function existingFolder(path: string): string {
  let folder = dirname(path)
  while (!existsSync(folder)) folder = dirname(folder)
  return folder
}

const entriesOf = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])
