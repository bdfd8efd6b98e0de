/** One warm shell as this process holds it, and what it was started from. */
import type { ChildProcess } from 'node:child_process'
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Duplex } from 'node:stream'
import type { Env } from '../../handler.ts'
import { wakeGroup } from '../../process/process-group.ts'

export interface WarmPlace {
  readonly shell: string
  readonly cwd: string
  readonly env: Env
}

export interface WarmShell {
  readonly child: ChildProcess
  /** Starts its command, or ends it. The word is the one that its script waits for. */
  release(word?: string): void
  dismiss(): void
  /** Whether it took the word to go, once it has ended. */
  readonly began: Promise<boolean>
}

export interface Shell extends WarmShell {
  /** Of what it started from. */
  readonly stamp: string
}

/** A profile that takes longer is one that does not end. */
export const longestLoginMs = 30_000

const loginFiles = ['.bash_profile', '.bash_login', '.profile', '.bashrc']
const watched = new WeakMap<WarmPlace, readonly string[]>()

/** What bash reads at a login, and the folder it starts in. On the way of every hook: it does as little as it can. */
export function stampOf(place: WarmPlace): string {
  let paths = watched.get(place)
  if (!paths) {
    const home = homeOf(place)
    paths = ['/etc/profile', ...loginFiles.map((name) => join(home, name))]
    watched.set(place, paths)
  }
  try {
    const folder = statSync(place.cwd, absent)
    let stamp = `${folder?.dev} ${folder?.ino} ${folder?.mode}`
    for (const path of paths) {
      const file = statSync(path, absent)
      stamp += file ? ` ${file.ino} ${file.mode} ${file.mtimeMs} ${file.size}` : ' -'
    }
    return stamp
  } catch {
    return crypto.randomUUID() // it may not be looked at: no shell is the same as any other
  }
}

/** As bash finds it. */
function homeOf({ cwd, env: { HOME } }: WarmPlace): string {
  if (HOME !== undefined) return resolve(cwd, HOME || '/')
  try {
    return process.getBuiltinModule('node:os').userInfo().homedir
  } catch {
    return '/' // a user without an entry
  }
}

const absent = { throwIfNoEntry: false } as const

/** Around a bash that was started with a waiting script. */
export function warmShell(child: ChildProcess, stamp: string): Shell {
  const channel = child.stdio[3] as Duplex
  let acknowledged = false
  channel.on('error', () => {}) // EPIPE, or ECONNRESET: it ended with the word in its queue
  const began = new Promise<boolean>((resolve) => {
    channel.once('close', () => resolve(acknowledged))
  })
  // what the profile left running may hold the other end; what the shell said is there with its exit, one turn later
  child.once('exit', () => setImmediate(setImmediate, () => channel.destroy()))
  const release = (word = 'g') => {
    channel.once('data', () => {
      acknowledged = true
    })
    wakeGroup(child) // before the command, which may have a trap for it
    channel.write(word) // before all else: it works while this process prepares to hear it
    keepAlive(child, true)
  }
  const dismiss = () => {
    channel.destroy()
  }
  return { child, stamp, release, dismiss, began }
}

/** An idle shell does not keep the process alive; it ends when its descriptor is closed. */
export function keepAlive(child: ChildProcess, hold: boolean): void {
  const how = hold ? 'ref' : 'unref'
  child[how]()
  for (const stream of child.stdio) (stream as { ref?(): void; unref?(): void } | null)?.[how]?.()
}
