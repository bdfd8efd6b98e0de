/**
 * Sandboxes that are made ahead of time: bash waits inside for its command while the model answers, so that the next command
 * does not wait for namespaces and mounts. One is used only for the very profile, folder and environment it was made for.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { startsAlike, waits } from '../hooks/handlers/shells/command-script.ts'
import { keepAlive, type WarmShell, warmShell } from '../hooks/handlers/shells/waiting-shell.ts'
import { withFile } from '../hooks/process/process-group.ts'
import type { Launcher } from './kernel/available.ts'
import type { Mount } from './mounts/table.ts'

export interface SpareRequest {
  /** Everything that the sandbox is made of. */
  readonly key: string
  readonly launch: Launcher
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** bash reads a socket byte by byte: a longer command is started in a sandbox of its own. */
const longest = 4000
/** A shell that does not acknowledge its command by then was stopped while it was idle, and is ended: it has run nothing. */
const acknowledgeMs = 2000
const bash = '/bin/bash'
/** A start takes the time of a command that runs: one is made beside it only when the command takes longer than this. */
const restMs = 20
/** Commands that come one right after the other, or at the same time, each find one; more would be memory for nothing. */
const most = 4

export class Spare {
  #key = ''
  #waiting: WarmShell[] = []
  #wanted = 1
  #timer: NodeJS.Timeout | undefined
  #next: SpareRequest | undefined
  #isClosed = false

  /** Makes as many as are missing: at once, or in a while, if a command runs that should not wait for it. */
  prepare(request: SpareRequest, when: 'now' | 'soon'): void {
    if (this.#isClosed || !startsAlike(request.env)) return
    this.#next = request
    if (this.#timer && when === 'soon') return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#make(), when === 'now' ? 0 : restMs).unref()
  }

  /** One that waits for its command; undefined when there is none of this kind. */
  take(key: string, command: string): WarmShell | undefined {
    if (this.#key !== key || command.length > longest) return undefined
    const shell = this.#live().shift()
    if (!shell) {
      this.#wanted = Math.min(this.#wanted + 1, most)
      return undefined
    }
    const release = (word: string) => {
      shell.release(word)
      endUnlessBegun(shell.child)
    }
    return { ...shell, release }
  }

  get isReady(): boolean {
    return this.#live().length === this.#wanted
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#end()
  }

  #end(): void {
    for (const { child } of this.#waiting) child.kill('SIGKILL')
    this.#waiting = []
  }

  #live(): WarmShell[] {
    this.#waiting = this.#waiting.filter(({ child }) => child.exitCode === null && child.signalCode === null)
    return this.#waiting
  }

  #make(): void {
    const { key, launch, cwd, env } = this.#next!
    this.#timer = undefined
    if (this.#key !== key) this.#end()
    this.#key = key
    while (this.#live().length < this.#wanted) {
      const { words, file } = launch([bash, '-c', waits, bash], [3])
      const stdio: ('ignore' | 'pipe' | number)[] = ['ignore', 'pipe', 'pipe', 'pipe']
      const start = () => spawn(words[0]!, words.slice(1), { cwd, env, detached: true, stdio })
      const child = file ? withFile(stdio, file, start) : start()
      child.on('error', () => {}) // the next command starts its own, and says why not
      if (child.pid === undefined) return
      this.#waiting.push(warmShell(child, key))
      keepAlive(child, false)
    }
  }
}

/** It cannot be woken from outside, since it leads a session of its own. */
function endUnlessBegun(child: ChildProcess): void {
  let late: NodeJS.Immediate | undefined
  const limit = setTimeout(() => {
    // where this process itself was held up, the acknowledgement is there and is read in this turn of the event loop
    late = setImmediate(() => child.kill('SIGKILL'))
  }, acknowledgeMs)
  const clear = () => {
    clearTimeout(limit)
    clearImmediate(late)
  }
  child.stdio[3]?.once('data', clear)
  child.once('exit', clear)
}

/** Which files the mounts lie on now: one that was replaced since is not covered by an older sandbox. */
export function stampOf(mounts: readonly Mount[]): string {
  return mounts
    .map(({ at }) => {
      const stat = lstatSync(at, { throwIfNoEntry: false })
      return stat ? `${stat.dev}:${stat.ino}` : '-'
    })
    .join(' ')
}
