/**
 * Runs the program to its end. By default the runs of a test file share a process (shared-process.ts), one after another, since a
 * start takes ten times as long as most of what is asked; with ONA_TEST_FULL=1 each has a process of its own.
 */
import { spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isFull } from './campaign-size.ts'
import { compileCache } from './compile-cache.ts'
import { type Ended, type Job, mark, mostInput } from './shared-process.ts'

const root = join(import.meta.dirname, '../..')
const bundle = join(root, 'dist/main.cjs')
const program = join(root, 'bin/ona.mjs')

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Invocation {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly input?: string
  readonly timeoutMs?: number
  /** As this user, and in a process of its own. */
  readonly uid?: number
  /** A step of a shell script: LC_ALL is for the programs that it starts, and the next step may find other modules in the project. */
  readonly isStep?: boolean
  /** In a process of its own, for what is about the process. */
  readonly alone?: boolean
  /** Hears stderr as it comes; in a process of its own. */
  onStderr?(text: string): void
}

export function runProgram(words: readonly string[], invocation: Invocation): Promise<Ran> {
  if (!mayShare(invocation)) return runAlone(words, invocation)
  shared ??= startShared()
  return shared.isFree() ? shared.run(words, invocation) : runAlone(words, invocation)
}

/** Not with what Node or the system's libraries read when a process starts. */
const mayShare = ({ env, input = '', alone = false, uid, onStderr, isStep = false }: Invocation): boolean =>
  !isFull &&
  !alone &&
  !onStderr &&
  uid === undefined &&
  existsSync(bundle) &&
  Buffer.byteLength(input) <= mostInput &&
  !Object.keys(env).some((name) => /^(?:NODE_|LD_|SSL_|LC_|TZ$)/.test(name) && !(isStep && name === 'LC_ALL'))

function runAlone(
  words: readonly string[],
  { cwd, env, uid, input = '', timeoutMs = 60_000, onStderr }: Invocation,
): Promise<Ran> {
  const limit = { timeout: timeoutMs, killSignal: 'SIGKILL' } as const
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...words], {
      cwd,
      env,
      ...limit,
      ...(uid !== undefined && { uid }),
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (piece) => {
      stdout += piece
    })
    child.stderr.setEncoding('utf8').on('data', (piece) => {
      stderr += piece
      onStderr?.(stderr)
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    child.stdin.on('error', () => {}) // it may end without reading us
    child.stdin.end(input)
  })
}

interface Shared {
  run(words: readonly string[], invocation: Invocation): Promise<Ran>
  isFree(): boolean
  end(): Promise<void>
}

let shared: Shared | undefined
let count = 0

/** Its CPU time counts as that of this process only when it has ended. */
export const endShared = async (): Promise<void> => shared?.end()
process.on('beforeExit', endShared)

interface Running {
  readonly stdout: Buffer[]
  readonly stderr: Buffer[]
  resolve(ran: Ran): void
}

function startShared(): Shared {
  const fifo = join(tmpdir(), `ona-stdin-${process.pid}-${count++}`)
  const words = [compileCache, join(import.meta.dirname, 'shared-process.ts'), bundle, program, fifo]
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  })
  const [, stdout, stderr, jobs, results] = child.stdio as unknown as [null, ...Socket[]]
  let running: Running | undefined
  let ended: Ended | undefined
  jobs!.on('error', () => {}) // it has ended, which is said below
  for (const [name, stream] of [
    ['stdout', stdout!],
    ['stderr', stderr!],
  ] as const)
    stream.on('data', (piece: Buffer) => {
      running?.[name].push(piece)
      settle()
    })
  results!.on('data', (line) => {
    ended = JSON.parse(String(line))
    if (!ended!.isClean) leave()
    settle()
  })
  const closed = new Promise<void>((resolve) =>
    child.on('close', (code) => {
      leave()
      rmSync(fifo, { force: true })
      running?.resolve({ code, ...printed(running) })
      resolve()
    }),
  )
  hold(false)

  function leave(): void {
    if (shared === self) shared = undefined
  }

  /** Keeps the process of the tests alive while a run goes on, and only then. */
  function hold(isHeld: boolean): void {
    const change = isHeld ? 'ref' : 'unref'
    child[change]()
    for (const stream of [stdout, stderr, jobs, results]) stream![change]()
  }

  function settle(): void {
    if (!running || !ended) return
    const { stdout, stderr } = printed(running)
    if (!stdout.endsWith(mark) || !stderr.endsWith(mark)) return
    const { resolve } = running
    const { code } = ended
    running = ended = undefined
    hold(false)
    resolve({ code, stdout: stdout.slice(0, -mark.length), stderr: stderr.slice(0, -mark.length) })
  }

  const self: Shared = {
    isFree: () => running === undefined,
    run(words, { cwd, env, input = '', timeoutMs = 60_000, isStep = false }) {
      hold(true)
      const limit = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
      const { promise, resolve } = Promise.withResolvers<Ran>()
      running = { stdout: [], stderr: [], resolve }
      jobs!.write(`${JSON.stringify({ words, cwd, env: env as Job['env'], input, isStep } satisfies Job)}\n`)
      return promise.finally(() => clearTimeout(limit))
    },
    end() {
      hold(true)
      jobs!.end()
      return closed
    },
  }
  return self
}

const printed = ({ stdout, stderr }: Running) => ({
  stdout: Buffer.concat(stdout).toString(),
  stderr: Buffer.concat(stderr).toString(),
})
