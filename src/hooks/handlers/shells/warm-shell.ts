/**
 * Login shells that have read the profile already and hold their command, so that a hook waits neither for the profile nor
 * for an exchange: one byte starts it.
 *
 * A warm shell has the same working directory, environment, stdin, stdout and stderr as `bash -lc` would have. It has
 * acknowledged its command before it can be given the word to go, and one that ended before it took that word has run
 * nothing: a hook that finds no shell, or such a one, runs cold, and none is skipped or run twice. Where the profile sets a
 * trap, hooks run cold. A shell that was started before a profile was changed, or in a folder that another has replaced, is
 * not used.
 */
import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { hideVariables } from '../../../files/hide-variables.ts'
import type { Env } from '../../handler.ts'
import { bindGroup } from '../../process/bound-groups.ts'
import { signalGroup, startGroup } from '../../process/process-group.ts'
import { credentialNames } from '../../secrets/secret-names.ts'
import { envText } from '../hook-env.ts'
import { type HasLogin, learn, learnAgain, learnInHaste, refresh } from './pool-login.ts'
import { afterLogin, waitingScript } from './shell-script.ts'
import {
  keepAlive,
  longestLoginMs,
  type Shell,
  stampOf,
  type WarmPlace,
  type WarmShell,
  warmShell,
} from './waiting-shell.ts'

/** Of all commands in one place, and of one command, which sub-agents may need at once. */
const mostShells = 16
const mostOfOne = 4
/** In bytes: the script of its shell has the command twice, once with escapes, and Linux takes 128 KiB as one argument. */
const longestCommand = 32 * 1024
/** What cannot be an argument, and what `bash -lc` takes for an option. */
const runsCold = /\0|^[-+]/
/** A shell that is being started was started before a cold one could be: worth waiting for, if it comes at all. */
const waitMs = 1000
/** After a round of hooks, while the model replies; during one that takes longer, for those that others ask beside it. */
const refillAfterMs = 25
const refillDuringMs = 1000
const roundsRemembered = 20

/** The shells of one command. */
interface Stock {
  readonly command: string
  readonly ready: Shell[]
  /** Shells on their way, queued ones included. */
  starting: number
  readonly waiters: Set<() => void>
  /** How many were wanted since the last refill. */
  wanted: number
  /** As many as any of the last rounds wanted. */
  recent: readonly number[]
  /** Its shell ended before it could wait: the profile ends it, or makes read-only what it sets. */
  unfit: boolean
}

interface Pool extends HasLogin {
  readonly stocks: Map<string, Stock>
  readonly queue: Stock[]
  /** Hooks at work, in a warm shell or a cold one. */
  running: number
  coldOnly: boolean
  /** False once one was waited for in vain. */
  waits: boolean
  /** Hooks come without a pause in which shells could be started: several calls in one answer, or a model that takes no time. */
  rushed: boolean
  /** When the last hook ended. */
  endedAt: number
  /** The stamp of this moment. */
  stampNow: string | undefined
  refill: NodeJS.Timeout | undefined
}

const pools = new Map<string, Pool>()
/** The one used last by the very environment: its text is long. */
const poolsIn = new WeakMap<Env, Pool>()
/** Sessions move between folders, and each plugin's hooks have an environment of their own; an old pool's shells end with it. */
const mostPools = 16
const mostInAll = 48

/** A hook with this command is likely to be asked soon: shells are started for it, off the way. */
export function expectCommand(command: string, place: WarmPlace): void {
  const pool = poolFor(command, place)
  if (!pool) return
  stockFor(pool, command)
  refillSoon(pool, 0)
}

/**
 * Runs a command by `run`, with a shell that has yet to be released, or without one: then it runs cold. Shells that were used
 * are replaced when the round of hooks is over, not while its hooks compete with them; where there is no pause between rounds,
 * one beside each hook.
 */
export async function withWarmShell<T>(
  command: string,
  place: WarmPlace,
  run: (shell: WarmShell | undefined) => Promise<T>,
): Promise<T> {
  const pool = poolFor(command, place)
  if (!pool) return run(undefined)
  const stock = stockFor(pool, command)
  stock.wanted++
  if (pool.running === 0 && performance.now() - pool.endedAt >= refillAfterMs) pool.rushed = false
  pool.running++
  try {
    const shell = takeShell(pool, stock) ?? (await nextShell(pool, stock))
    const running = run(shell)
    refillSoon(pool, refillDuringMs)
    if (pool.rushed) {
      startAhead(pool)
      void learnInHaste(pool)
    }
    return await running
  } finally {
    pool.running--
    pool.endedAt = performance.now()
    if (pool.running === 0) refillSoon(pool, refillAfterMs)
  }
}

function takeShell(pool: Pool, { ready }: Stock): Shell | undefined {
  if (ready.length === 0) return undefined
  const stamp = stampNow(pool)
  for (let shell = ready.shift(); shell; shell = ready.shift()) {
    if (shell.stamp === stamp) return shell
    shell.dismiss()
  }
  return undefined
}

/** Parallel hooks are released in one go, and the files are looked at once for all of them. */
function stampNow(pool: Pool): string {
  pool.stampNow ??= stampOf(pool.place)
  queueMicrotask(() => {
    pool.stampNow = undefined
  })
  return pool.stampNow
}

async function nextShell(pool: Pool, stock: Stock): Promise<Shell | undefined> {
  if (!pool.waits || pool.stocks.get(stock.command) !== stock) return undefined
  if (stock.starting <= stock.waiters.size) {
    pool.rushed = true
    refresh(pool)
    if (typeof pool.login !== 'object') return undefined
    order(pool, stock) // it need not read the profile, which a cold one would
  }
  const came = await new Promise<boolean>((resolve) => {
    const end = (came: boolean) => {
      clearTimeout(timer)
      stock.waiters.delete(wake)
      resolve(came)
    }
    const wake = () => end(true)
    const timer = setTimeout(end, waitMs, false)
    stock.waiters.add(wake)
  })
  if (!came) pool.waits = false
  return takeShell(pool, stock)
}

/** Starts one of the command that was asked longest ago, of those that have none: the next in turn. */
function startAhead(pool: Pool): void {
  const next = [...pool.stocks.values()].find(({ ready, starting, unfit }) => !unfit && ready.length + starting === 0)
  if (next && size(pool) < mostShells) order(pool, next)
}

function order(pool: Pool, stock: Stock): void {
  stock.starting++
  pool.queue.unshift(stock)
  startNext(pool)
}

/** Undefined where the command must run cold. */
function poolFor(command: string, place: WarmPlace): Pool | undefined {
  if (place.env.ONA_WARM_SHELLS === '0' || Buffer.byteLength(command) > longestCommand) return undefined
  if (runsCold.test(command)) return undefined
  const pool = poolIn(place)
  return pool.coldOnly || pool.stocks.get(command)?.unfit ? undefined : pool
}

function poolIn(place: WarmPlace): Pool {
  const last = poolsIn.get(place.env)
  if (last && !last.dropped && last.place.cwd === place.cwd && last.place.shell === place.shell) return last
  const key = `${place.shell}\0${place.cwd}\0${envText(place.env)}`
  const pool = pools.get(key) ?? newPool(key, place)
  poolsIn.set(place.env, pool)
  return pool
}

function newPool(key: string, place: WarmPlace): Pool {
  while (pools.size >= mostPools || warmShells() >= mostInAll) dropOldest()
  const pool: Pool = {
    place,
    stocks: new Map(),
    queue: [],
    running: 0,
    login: 'unknown',
    stamp: '',
    coldOnly: false,
    dropped: false,
    waits: true,
    rushed: false,
    endedAt: 0,
    stampNow: undefined,
    refill: undefined,
  }
  pools.set(key, pool)
  return pool
}

function dropOldest(): void {
  const [key, pool] = pools.entries().next().value!
  pool.queue.length = 0
  for (const { ready } of pool.stocks.values()) for (const shell of ready.splice(0)) shell.dismiss()
  pool.stocks.clear()
  learnAgain(pool)
  pool.dropped = true
  pools.delete(key)
}

/** The one used last is the last in the map. */
function stockFor({ stocks }: Pool, command: string): Stock {
  const known = stocks.get(command)
  const stock = known ?? {
    ...{ command, ready: [], starting: 0, waiters: new Set(), wanted: 0, recent: [], unfit: false },
  }
  if (!known && stocks.size >= mostShells) {
    const oldest = [...stocks.values()].find(({ wanted, recent }) => Math.max(wanted, ...recent) === 0)
    if (!oldest) return stock // all are asked in these rounds: in turn they would all lose their shells
    for (const shell of oldest.ready.splice(0)) shell.dismiss()
    stocks.delete(oldest.command)
  }
  stocks.delete(command)
  stocks.set(command, stock)
  return stock
}

function refillSoon(pool: Pool, afterMs: number): void {
  clearTimeout(pool.refill)
  pool.refill = setTimeout(fill, afterMs, pool)
  pool.refill.unref()
}

const size = ({ stocks }: Pool): number =>
  [...stocks.values()].reduce((sum, { ready, starting }) => sum + ready.length + starting, 0)

function fill(pool: Pool): void {
  for (const stock of pool.stocks.values()) {
    const target = Math.min(Math.max(...stock.recent, stock.wanted, 1), mostOfOne)
    if (pool.running === 0) {
      stock.recent = [...stock.recent.slice(1 - roundsRemembered), stock.wanted]
      stock.wanted = 0
    }
    while (!stock.unfit && stock.ready.length + stock.starting < target && size(pool) < mostShells) {
      stock.starting++
      pool.queue.push(stock)
    }
  }
  startNext(pool)
}

/** One at a time, so that an answer of the model's is not kept waiting; none until it is known what a login takes. */
function startNext(pool: Pool): void {
  if (pool.queue.length === 0) return
  refresh(pool)
  if (pool.login === 'unknown') void learn(pool).then(() => startNext(pool))
  if (pool.login === 'learning') return
  const stock = pool.queue.shift()!
  if (pool.coldOnly) ready(stock)
  else startShell(pool, stock)
  setImmediate(startNext, pool)
}

/** A shell of the stock is there, or will not come. */
function ready(stock: Stock): void {
  stock.starting--
  const [wake] = stock.waiters
  wake?.()
}

function startShell(pool: Pool, stock: Stock): void {
  const { shell: program, cwd, env } = pool.place
  const stamp = stampOf(pool.place)
  const restored = typeof pool.login === 'object' && (pool.login.isSlow || pool.rushed) ? pool.login : undefined
  const script = waitingScript(restored?.begin ?? afterLogin, stock.command)
  const stdio = ['pipe', 'pipe', 'pipe', 'pipe', ...(restored ? [restored.fd] : [])] as const
  let child: ChildProcess
  try {
    child = startGroup({ program, args: [...(restored?.args ?? []), '-lc', script], cwd, env, stdio })
  } catch {
    ready(stock) // what prevents it will prevent the cold one too, which says so
    return
  }
  if (child.pid === undefined) {
    child.on('error', () => ready(stock))
    return
  }
  let isStarting = true
  const release = bindGroup(child)
  const limit = setTimeout(() => {
    pool.coldOnly = true
    signalGroup(child, 'SIGKILL')
  }, longestLoginMs).unref()
  const started = () => {
    if (!isStarting) return
    isStarting = false
    clearTimeout(limit)
    release()
    ready(stock)
  }
  const shell = warmShell(child, stamp)
  const gone = () => {
    const at = stock.ready.indexOf(shell)
    if (at >= 0) stock.ready.splice(at, 1)
    if (isStarting) stock.unfit = true
    started()
  }
  child.once('exit', gone)
  ;(child.stdio[3] as Duplex | undefined)?.once('data', (said: Buffer) => {
    if (said.toString() === 'r') {
      // it may wait for long, beside tools that can look at it
      if (credentialNames.some((name) => env[name])) hideVariables(child.pid!, credentialNames)
      pool.waits = true
      if (pool.stocks.get(stock.command) === stock) stock.ready.push(shell)
      else shell.dismiss() // its stock has been dropped meanwhile
    } else {
      pool.coldOnly = true
      shell.dismiss()
    }
    started()
  })
  keepAlive(child, false)
}

/** How many shells wait there, or anywhere; for one command, or for any. */
export const warmShells = (place?: WarmPlace, command?: string): number =>
  [...pools.values()]
    .filter((pool) => place === undefined || pool.place.cwd === place.cwd)
    .filter(({ place: { env } }) => place === undefined || envText(env) === envText(place.env))
    .flatMap(({ stocks }) => [...stocks.values()])
    .filter((stock) => command === undefined || stock.command === command)
    .reduce((sum, { ready }) => sum + ready.length, 0)
