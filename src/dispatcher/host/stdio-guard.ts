/**
 * What is taken from modules before the first one is loaded: stdout, stderr and the power to end the process. The host
 * must read our one object and nothing else, so whatever they print goes to the trace log.
 */
import { dirname } from 'node:path'
import { late } from '../lazy-builtins.ts'
import { sleep } from '../session/lock.ts'

/** Not imported: the bundler would wrap a default import in a copy, and what we replace must be the real thing. */
const fs = late('node:fs')
const writeSync = fs.writeSync
const { exit, reallyExit } = process as typeof process & { reallyExit: (code: number) => never }
const rotateAtBytes = 1024 * 1024

/** Fd 2 becomes the trace log: for us, for modules and for the children they start. */
export function turnStderrIntoTrace(traceFile: string): void {
  try {
    fs.closeSync(2)
  } catch {} // the host gave us none
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = fs.constants
  const adding = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK // a pipe in its place is not waited for
  for (const attempt of [() => {}, () => fs.mkdirSync(dirname(traceFile), { recursive: true })]) {
    try {
      attempt()
      if (fs.openSync(traceFile, adding, 0o644) === 2) break
    } catch {} // no folder yet, or not writable
  }
  try {
    if (fs.fstatSync(2).size < rotateAtBytes) return
    fs.renameSync(traceFile, `${traceFile}.1`)
    fs.closeSync(2)
    fs.openSync(traceFile, adding, 0o644)
  } catch {
    try {
      fs.fstatSync(2)
    } catch {
      fs.openSync(late('node:os').devNull, 'w') // without it the next file opened would be taken for stderr
    }
  }
}

/** Begins with the time as events.jsonl has it: a date in words would cost every event the reading of the time zone. */
export function trace(line: string): void {
  try {
    writeSync(2, `${Date.now()} ${process.pid} ${line.replaceAll('\n', ' ')}\n`)
  } catch {} // best effort: disk full
}

/** A host that takes nothing for this long has given us up; registered hooks have no more than this. */
const patienceMs = 15_000

/** Writes the answer, whole, whatever kind of pipe stdout is and however slowly it is read. */
export function answer(text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0, stuckMs = 0; at < bytes.length && stuckMs < patienceMs; ) {
    try {
      at += writeSync(1, bytes, at)
      stuckMs = 0
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EAGAIN') return // nobody is reading
      sleep(1)
      stuckMs++
    }
  }
}

/** The real way out; `process.exit` is an error for modules. */
export function leave(): never {
  if (process.env['ONA_DISPATCHER_WARM']) {
    Object.assign(process, { reallyExit })
    exit(0)
  }
  return reallyExit.call(process, 0) // past exit handlers: those of modules are not waited for
}

const printed = (chunk: unknown, ...rest: unknown[]): boolean => {
  trace(
    `printed: ${typeof chunk === 'string' ? chunk : chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : ''}`,
  )
  const done = rest.find((item) => typeof item === 'function') as (() => void) | undefined
  if (done) queueMicrotask(done)
  return true
}

/** Enough of a stream for console and for what a module may call on it. */
const stream = new Proxy(
  { fd: 2, isTTY: false, writable: true, write: printed, end: printed } as Record<string, unknown>,
  {
    get: (own, key) => (typeof key === 'string' && key in own ? own[key] : key === 'then' ? undefined : () => stream),
  },
)

/** For modules that came with us this is enough: they print nothing, and it costs nothing. */
export function takeStreams(): void {
  for (const name of ['stdout', 'stderr'] as const) Object.defineProperty(process, name, { get: () => stream })
  for (const name of ['exit', 'reallyExit', 'abort']) {
    const refuse = () => {
      throw new Error(`a module called process.${name}()`)
    }
    Object.assign(process, { [name]: refuse })
  }
}

/** For modules of the user's own: also fd 1 itself, and the children they start. */
export function takeDescriptors(): void {
  const outputs: readonly unknown[] = [1, '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']
  const isOutput = (to: unknown) => outputs.includes(to)
  /** What is called on stdout is called with these in its place. */
  const redirect = (home: object, names: readonly string[], instead: (...rest: unknown[]) => unknown[]) => {
    const calls = home as Record<string, (...given: unknown[]) => unknown>
    for (const name of names) {
      const real = calls[name]!
      calls[name] = (to, ...rest) => real.call(home, ...(isOutput(to) ? instead(...rest) : [to, ...rest]))
    }
  }
  const sync = ['writeSync', 'writevSync', 'writeFileSync', 'appendFileSync']
  redirect(fs, ['write', 'writev', 'writeFile', 'appendFile', ...sync], (...rest) => [2, ...rest])
  // opened to be added to: the trace log is a file, which "w" would empty
  const adding = (flags: unknown, ...rest: unknown[]) => [
    '/dev/fd/2',
    'a',
    ...(typeof flags === 'function' ? [flags] : rest),
  ]
  redirect(fs, ['open', 'openSync'], adding)
  redirect(fs.promises, ['open'], adding)
  redirect(fs.promises, ['writeFile', 'appendFile'], (data) => ['/dev/fd/2', data, { flag: 'a' }])
  const children = late('node:child_process')
  const quieted = (options: { stdio?: unknown }) => {
    const { stdio } = options
    if (stdio === 'inherit') return { ...options, stdio: ['inherit', 2, 2] }
    if (!Array.isArray(stdio)) return options
    return {
      ...options,
      stdio: stdio.map((to, fd) => (isOutput(to) || (fd === 1 && to === 'inherit') ? 2 : to)),
    }
  }
  const proto = children.ChildProcess.prototype as unknown as { spawn(options: object): unknown }
  const spawn = proto.spawn
  proto.spawn = function (options) {
    return spawn.call(this, quieted(options))
  }
  for (const name of ['spawnSync', 'execSync', 'execFileSync'] as const) {
    const real = children[name] as (...given: unknown[]) => unknown
    Object.assign(children, {
      [name]: (...given: unknown[]) =>
        real(
          ...given.map((item) => (typeof item === 'object' && item !== null && 'stdio' in item ? quieted(item) : item)),
        ),
    })
  }
  late('node:module').syncBuiltinESMExports()
}
