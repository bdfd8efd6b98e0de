/** Options that run a program or move to another place: an allow rule covers them only where it names them. */

import { abbreviates } from './abbreviates.ts'
import type { ShellWord } from './command.ts'
import { nameOf } from './wrappers.ts'

/** Long options that do so in every program that has them; matched by prefix, as GNU and git do. */
const anywhere = [
  ...['--exec', '--exec-path', '--exec-batch', '--execdir', '--command', '--call', '--upload-pack', '--receive-pack'],
  ...['--rsh', '--rsync-path', '--use-compress-program', '--compress-program', '--to-command', '--checkpoint-action'],
  ...['--info-script', '--rsh-command', '--pager', '--open-files-in-pager', '--ext-diff', '--extcmd', '--textconv'],
  ...[
    '--config-env',
    '--git-dir',
    '--work-tree',
    '--chdir',
    '--directory',
    '--cwd',
    '--prefix',
    '--pre',
    '--hostname-bin',
  ],
  ...[
    '--script-shell',
    '--node-options',
    '--eval',
    '--require',
    '--import',
    '--loader',
    '--unzip-command',
    '--use-askpass',
  ],
  ...['--toolexec', '--vettool', '--manifest-path', '--init-command', '--split-string', '--plugin', '--filter-command'],
]

/** Short options, and long ones that mean something else in other programs. */
const byProgram: Record<string, readonly string[]> = {
  git: ['-C', '-c', '--config', '--namespace', '--template', '-O'],
  tar: ['-C', '-I', '-F'],
  bsdtar: ['-C'],
  make: ['-C', '-f', '-E', '--file', '--makefile', '--include-dir', '-I'],
  gmake: ['-C', '-f', '-E'],
  ninja: ['-C', '-f'],
  npm: ['-C'],
  pnpm: ['-C', '--dir'],
  rsync: ['-e'],
  ssh: ['-o', '-F'],
  scp: ['-o', '-F', '-S'],
  sftp: ['-o', '-F', '-S', '-D'],
  curl: ['-K', '--config'],
  wget: ['-e', '--execute', '--config'],
  man: ['-P', '-H'],
  gcc: ['-wrapper', '-B', '-specs', '-fplugin'],
  go: ['-C', '-exec', '-toolexec', '-vettool'],
  cargo: ['-C', '--config', '-Z'],
  split: ['--filter'],
  sort: ['-T'],
  zip: ['-TT'],
  node: ['-r', '-e', '-p'],
  python: ['-c'],
  python3: ['-c'],
  docker: ['-H', '--host', '--config', '-c', '--context'],
  kubectl: ['--kubeconfig'],
  psql: ['-c', '-f'],
  sqlite3: ['-cmd', '-init'],
}

/** Where git's own options end: after its verb, `-C` and `-c` mean something else. */
const beforeVerb = ['-C', '-c']

/** The options of a command that an allow rule has to name, as they are written. */
export function riskyOptions(words: readonly ShellWord[]): readonly string[] {
  const name = nameOf(words)
  const own = Object.hasOwn(byProgram, name) ? byProgram[name]! : []
  let verb = false
  const found: string[] = []
  for (const [at, { value }] of words.entries()) {
    if (at === 0) continue
    if (!value.startsWith('-')) {
      verb ||= !beforeVerb.includes(words[at - 1]!.value)
      continue
    }
    const long = value.startsWith('--')
    const runs = long
      ? [...anywhere, ...own.filter((each) => each.startsWith('--'))].some((each) => isOption(value, each))
      : own.some(
          (each) =>
            !each.startsWith('--') && value.startsWith(each) && !(name === 'git' && verb && beforeVerb.includes(each)),
        )
    if (runs) found.push(value.split('=', 1)[0]!)
  }
  return found
}

/** At least three letters of an abbreviation: shorter ones are no program's. */
const isOption = (value: string, option: string): boolean => {
  const given = value.split('=', 1)[0]!
  return given === option || (given.length > 4 && abbreviates(given, option))
}
