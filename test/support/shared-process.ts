/**
 * A process that runs the program again and again, each time as `node bin/ona.mjs` would in a process of its own: the modules of
 * the bundle anew, and the command line, the environment, the folder and stdin that it is told. What remains is what a start
 * costs: Node itself and the compiling of the bundle. Use `runProgram` of run-program.ts.
 *
 * A run ends as a process does: when nothing is left to wait for, or by `process.exit`, which ends this process as well. One that
 * leaves a descriptor open, or a step of a script that has loaded modules of the project, is the last of its process.
 *
 *   node shared-process.ts BUNDLE PROGRAM FIFO
 *
 * Descriptor 3: a line of JSON per run. Descriptor 4: a line of JSON when it has ended. Both of stdout and stderr end with `mark`.
 */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Script, constants as vm } from 'node:vm'

export interface Job {
  readonly words: readonly string[]
  readonly cwd: string
  readonly env: Record<string, string>
  readonly input: string
  /** The next run may find other modules in the project than this one. */
  readonly isStep: boolean
}

export interface Ended {
  readonly code: number
  /** Whether another run may follow. */
  readonly isClean: boolean
}

/** What no program prints, at the end of what a run has printed. */
export const mark = '\0end of run\0'

/** What `input` may have: a pipe that nobody reads yet holds as much. */
export const mostInput = 60_000

if (process.argv[1] === import.meta.filename) serve(process.argv.slice(2) as [string, string, string])

function serve([bundle, program, fifo]: [string, string, string]): void {
  execFileSync('mkfifo', [fifo])
  closeSync(0)
  let stdin: Socket | undefined
  // what Node makes of a pipe, which it would make only once
  const makeStdin = () => new Socket({ fd: 0, readable: true, writable: false, manualStart: true } as object)
  Object.defineProperty(process, 'stdin', { get: () => (stdin ??= makeStdin()) })
  const { emitWarning } = process
  // the one about `import()` in a function that vm compiled is ours, not the program's
  process.emitWarning = (...args: unknown[]) =>
    String(args[0]).startsWith('vm.') ? undefined : Reflect.apply(emitWarning, process, args)
  const timers = recordTimers()
  const ends = recordEnds()
  const hasProjectModules = recordProjectModules()
  process.on('exit', () => {
    rmSync(fifo, { force: true })
    for (const keep of kept) keep()
  })
  let open = new Set<string>()
  let isStep = false

  process.on('beforeExit', () => {
    if (open.size === 0) return begin()
    const code = Number(process.exitCode ?? 0)
    for (const listener of process.rawListeners('exit')) if (!own.includes(listener)) listener.call(process, code)
    for (const close of ends.splice(0)) close()
    stdin?.destroy()
    stdin = undefined
    // what was destroyed closes first
    setImmediate(() => setImmediate(() => end(code)))
  })
  const own = process.eventNames().flatMap((name) => process.rawListeners(name))

  function begin(): void {
    const job = nextJob()
    isStep = job.isStep
    for (const name of Object.keys(process.env)) if (!(name in job.env)) delete process.env[name]
    Object.assign(process.env, job.env)
    process.chdir(job.cwd)
    process.argv = [process.execPath, program, ...job.words]
    openStdin(fifo, job.input)
    open = descriptors()
    setImmediate(() => loader()(bundle))
  }

  function end(code: number): void {
    for (const timer of timers.splice(0)) clearTimeout(timer)
    for (const name of process.eventNames())
      for (const listener of process.rawListeners(name))
        if (!own.includes(listener)) process.removeListener(name, listener as () => void)
    process.exitCode = undefined
    const left = [...descriptors()].filter((each) => !open.has(each))
    const isClean = left.length === 0 && !process.stdout.destroyed && !(isStep && hasProjectModules())
    closeSync(0)
    open = new Set()
    for (const fd of [1, 2]) writeSync(fd, mark)
    writeSync(4, `${JSON.stringify({ code, isClean } satisfies Ended)}\n`)
    if (!isClean) process.exit(0)
  }
}

/** Waits for it without an event loop, in which the run before could go on. */
function nextJob(): Job {
  const pieces: Buffer[] = []
  while (pieces.at(-1)?.at(-1) !== 10) {
    const piece = Buffer.alloc(1 << 16)
    const length = readSync(3, piece)
    if (length === 0) process.exit(0)
    pieces.push(piece.subarray(0, length))
  }
  return JSON.parse(Buffer.concat(pieces).toString())
}

/** Makes descriptor 0 a pipe that ends after this input. */
function openStdin(fifo: string, input: string): void {
  const zero = openSync('/dev/null', 'r')
  const writer = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK)
  closeSync(zero)
  openSync(fifo, 'r')
  writeSync(writer, input)
  closeSync(writer)
}

/** Which pipes, sockets and files are open, each by its descriptor and what it is. */
function descriptors(): Set<string> {
  const all = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [`${fd} ${readlinkSync(`/proc/self/fd/${fd}`)}`]
    } catch {
      return [] // that of the folder itself
    }
  })
  // /dev/null is no one's, and the others are of Node's loop
  return new Set(all.filter((each) => !/ (?:\/dev\/null|anon_inode:)/.test(each)))
}

/** Timers that keep no process alive outlive their run. */
function recordTimers(): NodeJS.Timeout[] {
  const timers: NodeJS.Timeout[] = []
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const real = globalThis[name] as unknown as (...args: unknown[]) => NodeJS.Timeout
    const recorded = (...args: unknown[]) => {
      const timer = real(...args)
      timers.push(timer)
      return timer
    }
    globalThis[name] = Object.defineProperties(recorded, Object.getOwnPropertyDescriptors(real)) as never
  }
  return timers
}

const ours = pathToFileURL(join(import.meta.dirname, '../../')).href

/** Whether a run has loaded modules of a project, such as roles and hooks: Node does not load them again. */
function recordProjectModules(): () => boolean {
  let isLoaded = false
  registerHooks({
    load(url, context, next) {
      isLoaded ||= url.startsWith('file:') && !url.startsWith(ours)
      return next(url, context)
    },
  })
  return () => isLoaded
}

/** What closes connections and the pipes of children, as the end of a process does. */
function recordEnds(): (() => void)[] {
  const ends: (() => void)[] = []
  for (const name of ['net.client.socket', 'net.server.socket'])
    subscribe(name, (message) => ends.push(() => (message as { socket: Socket }).socket.destroy()))
  subscribe('child_process', (message) => {
    const { process } = message as { process: ChildProcess }
    ends.push(() => {
      for (const stream of process.stdio ?? []) (stream as Socket | null)?.destroy()
    })
  })
  return ends
}

interface Compiled {
  run(...args: unknown[]): void
  readonly outside: NodeJS.Require
}

const compiled = new Map<string, Compiled>()
/** What the next process does not have to compile: what this one has. */
const kept: (() => void)[] = []
const keptIn = join(import.meta.dirname, '../../node_modules/.cache/ona-test-bundle')
const mostKept = 2000

function compile(file: string): Compiled {
  const source = readFileSync(file, 'utf8')
  const cache = join(keptIn, `${process.version}-${createHash('sha1').update(source).digest('hex')}`)
  const cachedData = existsSync(cache) ? readFileSync(cache) : undefined
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: file,
    importModuleDynamically: vm.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData && { cachedData }),
  })
  if (cachedData === undefined || script.cachedDataRejected)
    kept.push(() => replaceFile(cache, script.createCachedData()))
  return { run: script.runInThisContext(), outside: createRequire(file) }
}

/** At once, since other processes read it. Each build that differs adds its own: after many the folder begins anew. */
function replaceFile(path: string, content: Buffer): void {
  if (existsSync(keptIn) && readdirSync(keptIn).length > mostKept) rmSync(keptIn, { recursive: true, force: true })
  mkdirSync(keptIn, { recursive: true })
  writeFileSync(`${path}.${process.pid}`, content)
  renameSync(`${path}.${process.pid}`, path)
}

/** Loads modules of the bundle: each once, compiled once for all loaders. */
function loader(): (file: string) => unknown {
  const modules = new Map<string, { exports: object }>()
  return function load(file) {
    const known = modules.get(file)
    if (known) return known.exports
    const module = { exports: {} }
    modules.set(file, module)
    const { run, outside } = compiled.get(file) ?? compile(file)
    compiled.set(file, { run, outside })
    const require = (id: string) => (id.startsWith('.') ? load(join(dirname(file), id)) : outside(id))
    run.call(module.exports, module.exports, Object.assign(require, outside), module, file, dirname(file))
    return module.exports
  }
}
