/** One warm shell as this process holds it, and what it was started from. */
import type { ChildProcess } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { Env } from '../handler.ts'

export interface WarmPlace {
  readonly shell: string
  readonly cwd: string
  readonly env: Env
}

export interface WarmShell {
  readonly child: ChildProcess
  /** Starts its command, or ends it. */
  release(): void
  dismiss(): void
  /** Whether it took the word to go, once it has ended. */
  readonly began: Promise<boolean>
}

export interface Shell extends WarmShell {
  /** Of what it started from. */
  readonly stamp: string
}

/** What bash reads at a login, and the folder it starts in. */
export function stampOf({ cwd, env }: WarmPlace): string {
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

/** Around a bash that was started with a waiting script. */
export function warmShell(child: ChildProcess, stamp: string): Shell {
  const channel = child.stdio[3] as Duplex
  let unread = false
  channel.on('error', () => {
    unread = true // EPIPE, or ECONNRESET: it ended with the word in its queue
  })
  const began = new Promise<boolean>((resolve) => {
    channel.once('close', () => resolve(!unread))
  })
  const release = () => {
    keepAlive(child, true)
    channel.write('g')
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
