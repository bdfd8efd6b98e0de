/**
 * Sandboxes that are made ahead of time: bash waits inside for its command while the model answers, so that the next command
 * does not wait for namespaces and mounts. One is used only for the very profile, folder and environment it was made for.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { lstatSync } from 'node:fs'
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

/** Commands come by this descriptor, and end with a NUL. */
const commandFd = 4
/** bash reads a pipe byte by byte: a longer command is started in a sandbox of its own. */
const longest = 4000
const wait = `IFS= read -r -d "" -u ${commandFd} REPLY || exit 1; exec ${commandFd}<&-; eval "unset REPLY; $REPLY"`
/** A start takes the time of a command that runs: one is made beside it only when the command takes longer than this. */
const restMs = 20
/** Commands that come one right after the other, or at the same time, each find one; more would be memory for nothing. */
const most = 4

export class Spare {
  #key = ''
  #waiting: ChildProcess[] = []
  #wanted = 1
  #timer: NodeJS.Timeout | undefined
  #next: SpareRequest | undefined
  #isClosed = false

  /** Makes as many as are missing: at once, or in a while, if a command runs that should not wait for it. */
  prepare(request: SpareRequest, when: 'now' | 'soon'): void {
    if (this.#isClosed) return
    this.#next = request
    if (this.#timer && when === 'soon') return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#make(), when === 'now' ? 0 : restMs).unref()
  }

  /** The process with the command on its way to it; undefined when there is none of this kind. */
  take(key: string, command: string): ChildProcess | undefined {
    if (this.#key !== key || command.length > longest) return undefined
    const child = this.#live().shift()
    if (!child) {
      this.#wanted = Math.min(this.#wanted + 1, most)
      return undefined
    }
    child.ref()
    for (const stream of child.stdio) (stream as { ref?(): void } | null)?.ref?.()
    const input = child.stdio[commandFd] as NodeJS.WritableStream
    input.on('error', () => {}) // it has just ended: its exit code tells
    input.end(`${command}\0`)
    return child
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
    for (const child of this.#waiting) child.kill('SIGKILL')
    this.#waiting = []
  }

  #live(): ChildProcess[] {
    this.#waiting = this.#waiting.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    return this.#waiting
  }

  #make(): void {
    const { key, launch, cwd, env } = this.#next!
    this.#timer = undefined
    if (this.#key !== key) this.#end()
    this.#key = key
    while (this.#live().length < this.#wanted) {
      const { words, file } = launch(['/bin/bash', '-c', wait, '/bin/bash'], [3, commandFd])
      const stdio: ('ignore' | 'pipe' | number)[] = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe']
      const start = () => spawn(words[0]!, words.slice(1), { cwd, env, detached: true, stdio })
      const child = file ? withFile(stdio, file, start) : start()
      this.#waiting.push(child)
      child.on('error', () => {
        this.#waiting = this.#waiting.filter((each) => each !== child) // the next command starts its own, and says why not
      })
      child.unref()
      for (const stream of child.stdio) (stream as { unref?(): void } | null)?.unref?.()
      if (child.pid === undefined) return
    }
  }
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
