/** Reads the host's JSON from stdin and always comes back: at its end, when it falls silent, or when it is too late. */
import { fstatSync, readFileSync } from 'node:fs'

export type Stdin = { text: string } | { problem: 'empty' | 'silent' | 'too-large' }

/** No host is slower than this to hand over what it has already built. */
const patienceMs = 2500
/** A host that leaves the pipe open is known by a whole object followed by silence. */
const quietMs = 60
const limitBytes = 128 * 1024 * 1024

export function readStdin(): Promise<Stdin> {
  return new Promise((done) => {
    let chunks: Buffer[] = []
    let size = 0
    let stop = () => {}
    const finish = (answer: Stdin) => {
      clearTimeout(deadline)
      clearTimeout(quiet)
      stop()
      chunks = []
      done(answer)
    }
    const text = () => Buffer.concat(chunks, size).toString('utf8')
    const end = () => finish(size > 0 ? { text: text() } : { problem: 'empty' })
    const deadline = setTimeout(() => finish(size > 0 ? { text: text() } : { problem: 'silent' }), patienceMs)
    let quiet: ReturnType<typeof setTimeout> | undefined
    const data = (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > limitBytes) return finish({ problem: 'too-large' })
      clearTimeout(quiet)
      if (endsAnObject(chunk)) quiet = setTimeout(() => isWhole(text()) && finish({ text: text() }), quietMs)
    }
    stop = listen(data, end)
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
  open(fd: number): void
  readStart(): number
  close(): void
  onread: (chunk: ArrayBuffer | undefined) => void
}
type Binding = { Pipe: new (kind: number) => PipeHandle; constants: { SOCKET: number } }

/**
 * Listens on fd 0 and gives a function that stops. A blocking read could not be given up again (not even by exiting: Node
 * waits for the thread that does it), and `process.stdin` costs a sixth of a start. So: the pipe handle that
 * `process.stdin` itself stands on, and `process.stdin` where that is not to be had or stdin is no pipe.
 */
function listen(data: (chunk: Buffer) => void, end: () => void): () => void {
  try {
    const kind = fstatSync(0)
    if (kind.isFile()) {
      data(readFileSync(0))
      queueMicrotask(end)
      return () => {}
    }
    if (kind.isFIFO() || kind.isSocket()) {
      const { Pipe, constants } = (process as unknown as { binding(name: string): Binding }).binding('pipe_wrap')
      const pipe = new Pipe(constants.SOCKET)
      pipe.open(0)
      pipe.onread = (chunk) => (chunk ? data(Buffer.from(chunk)) : end())
      pipe.readStart()
      return () => pipe.close()
    }
  } catch {} // not on this platform or this Node: the long way round
  try {
    process.stdin.on('data', data).on('end', end).on('error', end)
    return () => process.stdin.destroy()
  } catch {
    queueMicrotask(end) // stdin is closed
    return () => {}
  }
}
