/** Whether commands can be sandboxed on this machine, found out by doing it once. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { OpenFile } from '../../hooks/process/process-group.ts'
import { isWithin } from '../../permissions/paths/pattern.ts'
import { blankArgs } from '../mounts/bwrap.ts'
import { hasFilter } from './seccomp.ts'

export type Availability =
  | { readonly ok: true; readonly bwrap: string }
  /** What is missing, and what to do. */
  | { readonly ok: false; readonly why: string }

export interface Machine {
  readonly platform: NodeJS.Platform
  readonly arch: string
  readonly path: string
  /** A program of this name inside the project is not the system's. */
  readonly projectDir: string
}

const systemFolders = ['/usr/bin', '/usr/local/bin', '/bin', '/run/current-system/sw/bin']

/** A program of the system; one that a project brings along is not taken for it. */
export function findProgram(
  name: string,
  { path, projectDir }: Pick<Machine, 'path' | 'projectDir'>,
): string | undefined {
  const given = path.split(delimiter).filter((folder) => isAbsolute(folder) && !isWithin(folder, projectDir))
  for (const folder of [...systemFolders, ...given]) {
    try {
      const file = join(folder, name)
      accessSync(file, constants.X_OK)
      if (!isWithin(realpathSync(file), projectDir)) return file
    } catch {
      // not in this folder
    }
  }
  return undefined
}

/** `filter`: the file with the seccomp filter, which is loaded like a command's. */
export function probe(machine: Machine, filter: string): Availability {
  if (machine.platform !== 'linux') return { ok: false, why: notHere(machine.platform) }
  if (!hasFilter(machine.arch)) return { ok: false, why: `there is no system call filter for ${machine.arch}` }
  const bwrap = findProgram('bwrap', machine)
  if (!bwrap) return { ok: false, why: 'bubblewrap is not installed (apt install bubblewrap, dnf install bubblewrap)' }
  const words = wrapped(filter, [
    bwrap,
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--cap-drop', 'ALL', '--die-with-parent'],
    ...[
      '--ro-bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      ...blankArgs('/tmp'),
      '--seccomp',
      String(filterFd),
      '--',
      '/bin/true',
    ],
  ])
  const run = spawnSync(words[0]!, words.slice(1), {
    timeout: 10_000,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (run.status === 0) return { ok: true, bwrap }
  const said = (run.stderr ?? '').trim() || run.error?.message || 'it did not start'
  return { ok: false, why: `${bwrap} does not work here: ${said}${hint(said)}` }
}

/**
 * The shell opens the filter for bubblewrap, so that any way of starting a process will do. Descriptors that this process
 * inherited are closed: a command must not have a file or a socket that nobody gave it. Only bash closes numbers above 9.
 */
export const filterFd = 5
/** `keep`: descriptors that the process is given on purpose. */
export function wrapped(filter: string, words: readonly string[], keep: readonly number[] = []): string[] {
  const closed = inherited().filter((fd) => !keep.includes(fd))
  const close = closed.map((fd) => `exec ${fd}>&-; `)
  const shell = close.length > 0 ? '/bin/bash' : '/bin/sh'
  return [shell, '-c', `${close.join('')}exec "$@" ${filterFd}<"$0"`, filter, ...words]
}

/** Words, and a file that whoever starts them opens for them. */
export interface Launch {
  readonly words: readonly string[]
  readonly file?: OpenFile
}

/** `keep`: descriptors that the command is given on purpose. */
export type Launcher = (words: readonly string[], keep?: readonly number[]) => Launch

/** The same without a shell in between, where there is nothing to close. */
export function launched(filter: string, words: readonly string[], keep: readonly number[] = []): Launch {
  return inherited().every((fd) => keep.includes(fd))
    ? { words, file: { fd: filterFd, path: filter } }
    : { words: wrapped(filter, words, keep) }
}

/** What was open when the process started and is not closed on exec; Node opens everything else so that it is. */
let known: readonly number[] | undefined
function inherited(): readonly number[] {
  known ??= listInherited()
  return known
}

function listInherited(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => fd > 2 && !closesOnExec(fd))
  } catch {
    return [] // no /proc: then there is no bubblewrap either
  }
}

function closesOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0'
    return (Number.parseInt(flags, 8) & 0o2000000) !== 0
  } catch {
    return true // closed since
  }
}

const notHere = (platform: NodeJS.Platform): string =>
  platform === 'darwin'
    ? 'the macOS sandbox is not enabled in this version'
    : `commands cannot be sandboxed on ${platform}; use Linux, or WSL 2 on Windows`

const hint = (said: string): string =>
  /Unknown option/i.test(said)
    ? '. Bubblewrap 0.5 or later is needed'
    : /user namespace|uid map|Operation not permitted|No permissions to create/i.test(said)
      ? '. User namespaces may be disabled: see kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns and user.max_user_namespaces'
      : ''
