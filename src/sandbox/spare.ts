/**
 * A sandbox that is made ahead of time: bash waits inside for its command while the model thinks, so that the next command
 * does not wait for namespaces and mounts. It is used only for the very profile, folder and environment it was made for.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { lstatSync } from 'node:fs'
import type { Mount } from './mounts/plan.ts'

export interface SpareRequest {
  /** Everything that the sandbox is made of. */
  readonly key: string
  /** The words that run these words inside. */
  argv(words: readonly string[]): string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Commands come by this descriptor, and end with a NUL. */
export const commandFd = 4
/** bash reads a pipe byte by byte: a longer command is started in a sandbox of its own. */
const longest = 4000
const wait = `IFS= read -r -d "" -u ${commandFd} REPLY || exit 1; exec ${commandFd}<&-; eval "unset REPLY; $REPLY"`
const restMs = 20

export class Spare {
  #waiting: { readonly key: string; readonly child: ChildProcess } | undefined
  #timer: NodeJS.Timeout | undefined

  /** Makes one soon, unless there is one already. */
  prepare(request: SpareRequest): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#make(request), restMs).unref()
  }

  /** The process with the command on its way to it; undefined when there is none of this kind. */
  take(key: string, command: string): ChildProcess | undefined {
    const spare = this.#waiting
    if (spare?.key !== key || command.length > longest || spare.child.exitCode !== null) return undefined
    this.#waiting = undefined
    spare.child.ref()
    for (const stream of spare.child.stdio) (stream as { ref?(): void } | null)?.ref?.()
    const input = spare.child.stdio[commandFd] as NodeJS.WritableStream
    input.on('error', () => {}) // it has just ended: its exit code tells
    input.end(`${command}\0`)
    return spare.child
  }

  get isReady(): boolean {
    return this.#waiting !== undefined
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#waiting?.child.kill('SIGKILL')
    this.#waiting = undefined
  }

  #make({ key, argv, cwd, env }: SpareRequest): void {
    if (this.#waiting?.key === key && this.#waiting.child.exitCode === null) return
    this.#waiting?.child.kill('SIGKILL')
    const [program, ...args] = argv(['/bin/bash', '-c', wait, '/bin/bash'])
    const child = spawn(program!, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] })
    this.#waiting = { key, child }
    child.on('error', () => {
      if (this.#waiting?.child === child) this.#waiting = undefined // the next command starts its own, and says why not
    })
    child.unref()
    for (const stream of child.stdio) (stream as { unref?(): void } | null)?.unref?.()
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
