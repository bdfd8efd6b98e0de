/**
 * Login shells that have read the profile already and wait for a command, so that a hook does not wait for the profile.
 *
 * A warm shell has the same working directory, environment, stdin, stdout and stderr as `bash -lc` would have. It runs the
 * command only after it has acknowledged it and has been released: a hook that finds no shell, or gets no answer, runs
 * cold, and none is skipped or run twice. Where the profile sets a trap, hooks run cold. A shell that was started before a
 * profile was changed, or in a folder that another has replaced, is not used.
 */
import type { ChildProcess } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { hideVariables } from '../../files/hide-variables.ts'
import type { Env } from '../handler.ts'
import { signalGroup, startGroup } from '../process-group.ts'
import { credentialNames } from '../secret-names.ts'

export interface WarmPlace {
  readonly shell: string
  readonly cwd: string
  readonly env: Env
}

/** On one line, so that messages of the command name the lines that they would name under `bash -lc`. */
const waiting = [
  '[ -z "$(builtin trap -p)" ] || { builtin printf c >&3; builtin exit 0; }',
  'builtin printf r >&3',
  "IFS= builtin read -r -d '' -u 3 BASH_EXECUTION_STRING || builtin exit 0",
  'builtin printf a >&3',
  'builtin read -r -N 1 -u 3 && [ "$REPLY" = g ] || builtin exit 0',
  'builtin unset REPLY; SECONDS=0; exec 3>&-',
  'builtin eval "$BASH_EXECUTION_STRING"',
].join('; ')

const mostShells = 8
/** Bash reads the command byte by byte. */
const longestCommand = 4096
const answerMs = 1000
/** After a round of hooks, while the model replies; during one that takes longer, for those that others ask beside it. */
const refillAfterMs = 25
const refillDuringMs = 1000
const roundsRemembered = 20

interface Shell {
  readonly child: ChildProcess
  /** Of what it started from. */
  readonly stamp: string
}

interface Pool {
  readonly place: WarmPlace
  readonly ready: Shell[]
  starting: number
  /** Hooks at work, in a warm shell or a cold one. */
  running: number
  /** How many were wanted since the last refill. */
  wanted: number
  /** As many as any of the last rounds wanted: a call with one hook must not leave the next, with five, short of shells. */
  recent: readonly number[]
  target: number
  coldOnly: boolean
  refill: NodeJS.Timeout | undefined
}

const pools = new Map<string, Pool>()
/** Sessions move between few folders; an old pool's shells end with it. */
const mostPools = 3

/**
 * Runs a command by `run`, with a shell that is about to run it, its stdin still to be written, or without one: then it runs
 * cold. Shells that were used are replaced when the round of hooks is over, not while its hooks compete with them.
 */
export async function withWarmShell<T>(
  command: string,
  place: WarmPlace,
  run: (shell: ChildProcess | undefined) => Promise<T>,
): Promise<T> {
  if (place.env.ONA_WARM_SHELLS === '0' || command.length > longestCommand || command.includes('\0'))
    return run(undefined)
  const pool = poolFor(place)
  if (pool.coldOnly) return run(undefined)
  pool.wanted++
  pool.running++
  refillSoon(pool, refillDuringMs)
  try {
    return await run(await takeShell(pool, command))
  } finally {
    pool.running--
    if (pool.running === 0) refillSoon(pool, refillAfterMs)
  }
}

async function takeShell(pool: Pool, command: string): Promise<ChildProcess | undefined> {
  if (pool.ready.length === 0) return undefined
  const stamp = stampOf(pool.place)
  for (let shell = pool.ready.shift(); shell; shell = pool.ready.shift()) {
    if (shell.stamp !== stamp) dismiss(shell)
    else if (await accepts(shell.child, command)) return shell.child
  }
  return undefined
}

/** What bash reads at a login, and the folder it starts in. */
function stampOf({ cwd, env }: WarmPlace): string {
  const files = ['.bash_profile', '.bash_login', '.profile', '.bashrc'].map((name) => join(env.HOME ?? '', name))
  try {
    const states = [cwd, '/etc/profile', ...files].map((path, at) => {
      const found = statSync(path, { throwIfNoEntry: false })
      return found && (at === 0 ? [found.dev, found.ino] : [found.ino, found.mtimeMs, found.size])
    })
    return states.join()
  } catch {
    return crypto.randomUUID() // it may not be looked at: no shell is the same as any other
  }
}

/** It exits when its descriptor is closed. */
const dismiss = ({ child }: Shell) => child.stdio[3]?.destroy()

function poolFor(place: WarmPlace): Pool {
  const key = `${place.shell}\0${place.cwd}\0${JSON.stringify(place.env)}`
  const known = pools.get(key)
  if (known) return known
  if (pools.size >= mostPools) {
    const [oldest, { ready, refill }] = pools.entries().next().value!
    clearTimeout(refill)
    for (const shell of ready) dismiss(shell)
    pools.delete(oldest)
  }
  const pool: Pool = {
    place,
    ready: [],
    starting: 0,
    running: 0,
    wanted: 0,
    recent: [],
    target: 1,
    coldOnly: false,
    refill: undefined,
  }
  pools.set(key, pool)
  return pool
}

function refillSoon(pool: Pool, afterMs: number): void {
  clearTimeout(pool.refill)
  pool.refill = setTimeout(() => {
    pool.target = Math.min(Math.max(...pool.recent, pool.wanted, 1), mostShells)
    if (pool.running === 0) {
      pool.recent = [...pool.recent.slice(1 - roundsRemembered), pool.wanted]
      pool.wanted = 0
    }
    while (!pool.coldOnly && pool.ready.length + pool.starting < pool.target) startShell(pool)
  }, afterMs)
  pool.refill.unref()
}

function startShell(pool: Pool): void {
  const { shell, cwd, env } = pool.place
  pool.starting++
  let starting = true
  const started = () => {
    if (starting) pool.starting--
    starting = false
  }
  const stamp = stampOf(pool.place)
  let child: ChildProcess
  try {
    child = startGroup({ program: shell, args: ['-lc', waiting], cwd, env, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
  } catch {
    started() // what prevents it will prevent the cold one too, which says so
    return
  }
  const channel = child.stdio[3] as Duplex | undefined
  const gone = () => {
    const at = pool.ready.findIndex((each) => each.child === child)
    if (at >= 0) pool.ready.splice(at, 1)
  }
  child.on('error', gone)
  child.once('exit', gone)
  channel?.on('error', () => {})
  channel?.once('data', (said: Buffer) => {
    started()
    if (said.toString() === 'r') {
      // it may wait for long, beside tools that can look at it
      if (credentialNames.some((name) => env[name])) hideVariables(child.pid!, credentialNames)
      pool.ready.push({ child, stamp })
    } else pool.coldOnly = true
  })
  channel?.once('close', started)
  keepAlive(child, false)
}

/** An idle shell does not keep the process alive; it ends when its descriptor is closed. */
function keepAlive(child: ChildProcess, hold: boolean): void {
  const how = hold ? 'ref' : 'unref'
  child[how]()
  for (const stream of child.stdio) (stream as { ref?(): void; unref?(): void } | null)?.[how]?.()
}

function accepts(child: ChildProcess, command: string): Promise<boolean> {
  const channel = child.stdio[3] as Duplex
  keepAlive(child, true)
  return new Promise((resolve) => {
    const end = (accepted: boolean) => {
      clearTimeout(timer)
      channel.removeListener('data', answered).removeListener('close', closed)
      if (accepted) channel.write('g', () => channel.destroy())
      else {
        channel.destroy() // without the word to go it exits
        signalGroup(child, 'SIGKILL')
      }
      resolve(accepted)
    }
    const timer = setTimeout(end, answerMs, false)
    const answered = (said: Buffer) => end(said.toString() === 'a')
    const closed = () => end(false)
    channel.on('data', answered).on('close', closed)
    channel.write(`${command}\0`)
  })
}

/** How many shells wait there, or anywhere. */
export const warmShells = (place?: WarmPlace): number =>
  (place ? [poolFor(place)] : [...pools.values()]).reduce((sum, { ready }) => sum + ready.length, 0)
