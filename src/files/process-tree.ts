/** The processes of this machine as Linux shows them in /proc; elsewhere none is seen. */
import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import type { Socket } from 'node:net'
import { resolve } from 'node:path'
import { uncovered } from './proc-mounts.ts'

export interface Process {
  readonly pid: number
  readonly parent: number
  /** When it started, counted from the machine's start. */
  readonly ticks: number
  readonly name: string
}

export function processOf(pid: number): Process | undefined {
  const stat = read(`/proc/${pid}/stat`)
  const shape = /^\d+ \((.*)\) (.*)$/s.exec(stat ?? '')
  if (!shape) return undefined
  const fields = shape[2]!.split(' ')
  return { pid, name: shape[1]!, parent: Number(fields[1]), ticks: Number(fields[19]) }
}

/** A process, its parent, and so on up to the first of all. */
export function lineage(pid = process.pid): Process[] {
  const found: Process[] = []
  for (let at = processOf(pid); at && found.length < 1000; at = processOf(at.parent)) found.push(at)
  return found
}

/** What a process has started, and what that has, as far as it still runs. */
export const descendantsOf = (pid: number): Process[] =>
  names(`/proc/${pid}/task`)
    .flatMap((thread) => (read(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').filter(Boolean))
    .flatMap((child) => [processOf(Number(child)), ...descendantsOf(Number(child))])
    .filter((each) => each !== undefined)

/** False also for one that has ended and is not yet taken note of, and where another has its number. */
export const isRunning = ({ pid, ticks }: Process): boolean =>
  processOf(pid)?.ticks === ticks && !/^\d+ \(.*\) [ZX] /s.test(read(`/proc/${pid}/stat`) ?? '')

/** The processes that hold the other end of a connection over 127.0.0.1: one may have handed it to another. */
export function peersOf({ localPort = 0, remotePort = 0 }: Pick<Socket, 'localPort' | 'remotePort'>): number[] {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')
  const ends = ` 0100007F:${hex(remotePort)} 0100007F:${hex(localPort)} `
  const row = (read('/proc/self/net/tcp') ?? '').split('\n').find((line) => line.includes(ends))
  const inode = row?.trim().split(/\s+/)[9]
  if (inode === undefined || inode === '0') return []
  const holds = (pid: string) =>
    names(`/proc/${pid}/fd`).some((fd) => link(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`)
  return names('/proc')
    .filter((name) => /^\d+$/.test(name) && holds(name))
    .map(Number)
}

/** In milliseconds since 1970; undefined where it cannot be dated. Linux counts ticks of a hundredth of a second. */
export function startedAt({ ticks }: Process): number | undefined {
  const boot = bootTime()
  return boot === undefined ? undefined : boot + ticks * 10
}

const bootTime = (): number | undefined => shownBoot() ?? measuredBoot()

function shownBoot(): number | undefined {
  const seconds = /^btime (\d+)/m.exec(kernelStat() ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

/** Not there where /proc shows nothing but processes; LXC mounts a file of its own over it. */
function kernelStat(): string | undefined {
  try {
    return uncovered('/proc/stat')
  } catch {
    return undefined
  }
}

/** By a process that is born now. This one may be stopped meanwhile, which would make others seem older. */
function measuredBoot(): number | undefined {
  const { spawn } = process.getBuiltinModule('node:child_process') // late: a start does without it
  for (let tries = 0; tries < 5; tries++) {
    const before = Date.now()
    const child = spawn('/proc/self/exe', { env: {}, stdio: 'ignore' }).on('error', () => {})
    const late = Date.now() - before > 500
    const born = child.pid === undefined ? undefined : processOf(child.pid)
    child.kill('SIGKILL')
    child.unref()
    if (born && !late) return before - born.ticks * 10
  }
  return undefined
}

/** The time namespace that the system starts with, as every Linux numbers it. Another one may show any time of the boot. */
const firstTimeNamespace = 'time:[4026531834]'

/** When the machine was started, in milliseconds since 1970; 0 where that is not certain. */
export const bootedAt = (): number =>
  (link('/proc/self/ns/time') ?? firstTimeNamespace) === firstTimeNamespace ? (bootTime() ?? 0) : 0

export const environmentOf = (pid: number): NodeJS.ProcessEnv | undefined => {
  const text = read(`/proc/${pid}/environ`)
  if (text === undefined) return undefined
  const pairs = text.split('\0').map((pair): [string, string] => {
    const at = pair.indexOf('=')
    return [pair.slice(0, at), pair.slice(at + 1)]
  })
  return Object.fromEntries(pairs)
}

/** The command line's words, each a real path where it names a file. */
export function argumentsOf(pid: number): string[] {
  const cwd = link(`/proc/${pid}/cwd`) ?? '/'
  const words = (read(`/proc/${pid}/cmdline`) ?? '').split('\0')
  return words.map((word) => (word.includes('/') ? real(resolve(cwd, word)) : word))
}

export const folderOf = (pid: number): string | undefined => link(`/proc/${pid}/cwd`)

export const hasOpen = (pid: number, path: string): boolean =>
  names(`/proc/${pid}/fd`).some((fd) => isSameFile(`/proc/${pid}/fd/${fd}`, path))

/** By device and number, so that hard links and mounts count as the file that they are. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [statOf(one), statOf(other)]
  if (!first || !second) return real(one) === real(other)
  return first.dev === second.dev && first.ino === second.ino
}

function statOf(path: string) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // not there: its name is all there is to compare
  }
}

// A process may end, or belong to someone else, between two looks at it.
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function link(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
