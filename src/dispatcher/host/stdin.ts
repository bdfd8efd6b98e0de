/** Reads the host's JSON from stdin and always comes back: at its end, when it falls silent, or when it is too late. */
import { fstatSync, readFileSync, readSync } from 'node:fs'

export type Stdin = { text: string } | { problem: 'empty' | 'silent' | 'cut-off' | 'too-large' }

/** No host pauses longer than this while it hands over what it has already built. */
const patienceMs = 2500
/** A host that goes on and on is answered before it gives us up, which registered hooks are after 10 s. */
const deadlineMs = 5000
/** A host that leaves the pipe open is known by a whole object followed by silence. */
const quietMs = 60
const limitBytes = 128 * 1024 * 1024

/** At once when all of it is already there, which is the usual case: the host wrote it while Node was starting. */
export function readStdin(): Stdin | Promise<Stdin> {
  const chunks: Buffer[] = []
  let size = 0
  const text = () => (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)).toString('utf8')
  const whole = (): Stdin => (size > 0 ? { text: text() } : { problem: 'empty' })
  const keep = (chunk: Buffer): boolean => {
    chunks.push(chunk)
    size += chunk.length
    return size <= limitBytes
  }
  const pipe = openPipe()
  const at = pipe && process.platform !== 'win32' ? readWaiting(keep) : 'open'
  if (at === 'end') return whole()
  if (at === 'too-large') return { problem: 'too-large' }

  return new Promise((done) => {
    let stop = () => {}
    let quiet: ReturnType<typeof setTimeout> | undefined
    const finish = (answer: Stdin) => {
      clearTimeout(silence)
      clearTimeout(deadline)
      clearTimeout(quiet)
      stop()
      done(answer)
    }
    const giveUp = () => finish(size === 0 ? { problem: 'silent' } : isWhole(text()) ? whole() : { problem: 'cut-off' })
    const silence = setTimeout(giveUp, patienceMs)
    const deadline = setTimeout(giveUp, deadlineMs)
    const awaitQuiet = () => {
      clearTimeout(quiet)
      const last = chunks[chunks.length - 1]
      if (last && endsAnObject(last)) quiet = setTimeout(() => isWhole(text()) && finish({ text: text() }), quietMs)
    }
    const data = (chunk: Buffer) => {
      silence.refresh()
      if (keep(chunk)) awaitQuiet()
      else finish({ problem: 'too-large' })
    }
    awaitQuiet()
    stop = listen(pipe, data, () => finish(whole()))
  })
}

const endsAnObject = (chunk: Buffer): boolean =>
  chunk
    .toString('latin1', chunk.length - 8)
    .trimEnd()
    .endsWith('}')

function isWhole(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** libuv's pipe, as `process.binding` hands it out. */
interface PipeHandle {
  /** These two give an error's number, or 0. */
  open(fd: number): number
  readStart(): number
  close(): void
  onread: (block: ArrayBuffer | undefined) => void
}
type PipeBinding = { Pipe: new (kind: number) => PipeHandle; constants: { SOCKET: number } }
/** Where in the block that `onread` is given the bytes of this read lie: from Node 26 on it is often larger than they are. */
type StreamBinding = { streamBaseState: Int32Array; kReadBytesOrError: number; kArrayBufferOffset: number }
interface Pipe {
  readonly handle: PipeHandle
  readonly bytesOf: (block: ArrayBuffer) => Buffer
}

/**
 * A blocking read could not be given up again (not even by exiting: Node waits for the thread that does it), and
 * `process.stdin` costs a sixth of a start. So: the pipe handle that `process.stdin` itself stands on. Undefined where it is
 * not to be had or stdin is no pipe.
 */
function openPipe(): Pipe | undefined {
  try {
    const kind = fstatSync(0)
    if (!kind.isFIFO() && !kind.isSocket()) return undefined
    const node = process as unknown as { binding<T>(name: string): T }
    const { Pipe, constants } = node.binding<PipeBinding>('pipe_wrap')
    const { streamBaseState: at, kReadBytesOrError, kArrayBufferOffset } = node.binding<StreamBinding>('stream_wrap')
    if (!Number.isInteger(at[kReadBytesOrError]) || !Number.isInteger(at[kArrayBufferOffset])) return undefined
    const handle = new Pipe(constants.SOCKET)
    if (handle.open(0) !== 0) return undefined
    return { handle, bytesOf: (block) => Buffer.from(block, at[kArrayBufferOffset], at[kReadBytesOrError]) }
  } catch {
    return undefined // closed, or not on this platform or this Node
  }
}

/** Reads what is there. Opening the pipe has made it non-blocking, so this never waits. */
function readWaiting(keep: (chunk: Buffer) => boolean): 'end' | 'open' | 'too-large' {
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536)
    try {
      const got = readSync(0, chunk)
      if (got === 0) return 'end'
      if (!keep(chunk.subarray(0, got))) return 'too-large'
    } catch {
      return 'open' // nothing more just now
    }
  }
}

/** Listens on fd 0 and gives a function that stops. */
function listen(pipe: Pipe | undefined, data: (chunk: Buffer) => void, end: () => void): () => void {
  try {
    if (pipe) {
      pipe.handle.onread = (block) => (block ? data(pipe.bytesOf(block)) : end())
      pipe.handle.readStart()
      return () => pipe.handle.close()
    }
    if (fstatSync(0).isFile()) {
      data(readFileSync(0))
      queueMicrotask(end)
      return () => {}
    }
    process.stdin.on('data', data).on('end', end).on('error', end)
    return () => process.stdin.destroy()
  } catch {
    queueMicrotask(end) // stdin is closed
    return () => {}
  }
}
