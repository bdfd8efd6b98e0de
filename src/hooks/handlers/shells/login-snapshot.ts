/**
 * A login taken once, for a profile that takes long: shells that are restored from it need not read the profile again. It is
 * used only where that cannot be told: two logins leave the same state, print nothing, read nothing and leave neither
 * processes nor descriptors, and a restored shell prints the very same state. Linux only.
 */
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { bindGroup } from '../../process/bound-groups.ts'
import { signalGroup, startGroup } from '../../process/process-group.ts'
import { isSameState, type LoginState, printState, probe, type Restore, readState, restoreOf } from './login-state.ts'
import { afterRestore } from './shell-script.ts'
import { longestLoginMs, type WarmPlace } from './waiting-shell.ts'

export interface LoginSnapshot {
  readonly state: LoginState
  /** Bash's arguments before its script, and the descriptor of the text that the script takes as descriptor 4. */
  readonly args: readonly string[]
  readonly fd: number
  readonly begin: string
  /** The profile takes long to read. */
  readonly isSlow: boolean
  /** Of the last login that left this state. */
  checkedAt: number
}

const afterLogin = 'builtin set -- "$?" "$@"'
const restoring = ['--noprofile']

const mostLooks = 100
const betweenLooksMs = 5

/** After its exit a shell's descriptors are closed, unless another process has them too. */
const closingMs = 500

/** A login that takes less is not worth a snapshot. */
const slowLoginMs = 40

/**
 * Undefined where a restored shell could be told from one that read the profile; 'quick' where it is read in less time than this;
 * 'takes input' where what the hook would read has gone to the profile.
 */
export async function takeSnapshot(
  place: WarmPlace,
  atLeastMs = slowLoginMs,
): Promise<LoginSnapshot | 'quick' | 'takes input' | undefined> {
  if (process.platform !== 'linux') return undefined
  const startedAt = performance.now()
  const first = stateAfter(place, [], afterLogin)
  const slow = new Promise<'slow'>((resolve) => setTimeout(resolve, atLeastMs, 'slow').unref())
  const came = await Promise.race([first, slow])
  if (came === 'takes input') return came
  // where this process had to wait itself, the timer may come behind a login that took longer
  if (came !== 'slow' && performance.now() - startedAt < atLeastMs) return came && 'quick'
  const again = stateAfter(place, [], afterLogin)
  const bare = await stateAfter(place, restoring, afterLogin)
  const [login, same] = [await first, await again]
  if (login === 'takes input') return login
  const restore =
    login && isState(bare) && isState(same) && isSameState(login, same) ? restoreOf(bare, login) : undefined
  if (!restore || !login) return undefined
  const snapshot = keep(restore, login, atLeastMs > 0)
  const restored = await stateAfter(place, snapshot.args, snapshot.begin, snapshot.fd)
  if (isState(restored) && isSameState(restored, login)) return snapshot
  dropSnapshot(snapshot)
  return undefined
}

/** Whether a login still leaves that state. */
export async function isStillTrue(place: WarmPlace, { state }: LoginSnapshot): Promise<boolean> {
  const now = await stateAfter(place, [], afterLogin)
  return isState(now) && isSameState(now, state)
}

type Came = LoginState | 'takes input' | undefined
const isState = (came: Came): came is LoginState => typeof came === 'object'

export const dropSnapshot = ({ fd }: LoginSnapshot): void => closeSync(fd)

/** In a file without a name, which ends with its descriptor: a profile may set what is secret. */
function keep({ text, args }: Restore, state: LoginState, isSlow: boolean): LoginSnapshot {
  const path = join(memory(), `ona-${crypto.randomUUID()}`)
  const fd = openSync(path, 'wx+', 0o600)
  try {
    rmSync(path)
    writeSync(fd, Buffer.from(text, 'latin1'))
  } catch (cause) {
    closeSync(fd)
    throw cause
  }
  return { state, args: [...restoring, ...args], fd, begin: afterRestore(state.status), isSlow, checkedAt: Date.now() }
}

/** A folder in memory where there is one. */
function memory(): string {
  try {
    readdirSync('/dev/shm')
    return '/dev/shm'
  } catch {
    return tmpdir()
  }
}

/** What a shell prints as its state; undefined where it does more than that. */
function stateAfter(
  { shell, cwd, env }: WarmPlace,
  args: readonly string[],
  begin: string,
  fd?: number,
): Promise<Came> {
  return new Promise((resolve) => {
    let child: ChildProcess
    try {
      const stdio = ['pipe', 'pipe', 'pipe', 'pipe', ...(fd === undefined ? [] : [fd])] as const
      child = startGroup({ program: shell, args: [...args, '-lc', `${begin}; ${printState}`], cwd, env, stdio })
    } catch {
      resolve(undefined) // what prevents it prevents the hook as well, which says so
      return
    }
    let printed = ''
    let isQuiet = true
    const end = (state: Came) => {
      clearTimeout(timer)
      signalGroup(child, 'SIGKILL')
      for (const stream of child.stdio) stream?.destroy()
      resolve(state)
    }
    /** Ends the shell alone: what holds its descriptors then is something that the profile left running. */
    const endAlone = (state: LoginState) => {
      clearTimeout(timer)
      child.removeListener('exit', ended)
      child.once('exit', () => {
        timer = setTimeout(end, closingMs, undefined).unref()
      })
      child.once('close', () => {
        clearTimeout(timer)
        resolve(state)
      })
      child.kill('SIGKILL')
    }
    const ended = () => end(undefined)
    let timer = setTimeout(end, longestLoginMs, undefined)
    child.on('error', ended)
    child.once('exit', ended)
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', () => {
        isQuiet = false
      })
    for (const stream of child.stdio) stream?.on('error', () => {})
    const channel = child.stdio[3] as Duplex | undefined
    channel?.setEncoding('latin1').on('data', (text: string) => {
      printed += text
      const state = readState(printed)
      // what it printed before has arrived by the next turn
      if (!state) return
      if (state.input !== probe) return end('takes input')
      const look = (looks: number) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const seen = lookAt(child.pid!)
        // it has printed all, and may yet have to put its descriptors back
        if (seen === undefined && looks < mostLooks) setTimeout(look, betweenLooksMs, looks + 1).unref()
        else if (!isQuiet || seen === undefined) end(undefined)
        else endAlone({ ...state, ...seen })
      }
      setImmediate(look, 1)
    })
    if (child.pid !== undefined) bindGroup(child)
    child.stdin?.end(probe)
    child.unref()
    timer.unref()
    for (const stream of child.stdio) (stream as { unref?(): void } | null)?.unref?.()
  })
}

/** What the system says of it; undefined where that cannot be read, or is not what it was given. */
function lookAt(pid: number): Pick<LoginState, 'descriptors' | 'process'> | undefined {
  try {
    const descriptors = descriptorsOf(pid)
    return descriptors === undefined ? undefined : { descriptors, process: processOf(pid) }
  } catch {
    return undefined
  }
}

/** What it has open besides its own four; undefined where these are not what it was given, or something it started still runs. */
function descriptorsOf(pid: number): string | undefined {
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => [fd, readlinkSync(`/proc/${pid}/fd/${fd}`)] as const)
  const own = open.filter(([fd]) => Number(fd) < 4).map(([, link]) => link)
  const isOwn = new Set(own).size === 4 && own.every((link) => link.startsWith('socket:'))
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return isOwn && children === '' ? open.filter(([fd]) => Number(fd) > 3).join('\n') : undefined
}

/** What a profile can change of its own process: priority, scheduling, processors, the group that limits it. */
function processOf(pid: number): string {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'latin1')
  const stat = read('stat').replace(/.*\) /s, '').split(' ')
  const [nice, priority, policy] = [stat[16], stat[37], stat[38]]
  const status = read('status').match(/^(?:Cpus_allowed|Mems_allowed|NoNewPrivs|Seccomp|CapBnd|Groups):.*$/gm)
  return [nice, priority, policy, read('oom_score_adj'), read('cgroup'), ...(status ?? [])].join('\n')
}
