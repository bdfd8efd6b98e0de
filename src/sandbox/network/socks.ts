/** SOCKS5 (RFC 1928): a greeting without authentication, and CONNECT. */
import type { Socket } from 'node:net'

/** The host and port that the client asks for; undefined when it asks for anything else. */
export async function readSocks(socket: Socket): Promise<{ host: string; port: number } | undefined> {
  const read = reader(socket)
  const greeting = await read(2)
  if (greeting?.[0] !== 5 || !(await read(greeting[1]!))?.includes(0)) return undefined
  socket.write(Buffer.from([5, 0]))
  const head = await read(4)
  if (head?.[0] !== 5 || head[1] !== 1) return undefined
  const host = await readHost(head[3]!, read)
  const port = await read(2)
  return host === undefined || !port ? undefined : { host, port: port.readUInt16BE(0) }
}

async function readHost(kind: number, read: Read): Promise<string | undefined> {
  if (kind === 1) return (await read(4))?.join('.')
  if (kind === 3) {
    const length = await read(1)
    return length && (await read(length[0]!))?.toString('latin1')
  }
  const bytes = kind === 4 ? await read(16) : undefined
  if (!bytes) return undefined
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':')
}

type Read = (count: number) => Promise<Buffer | undefined>

/** Exactly so many bytes; undefined when the connection ends first. */
const reader =
  (socket: Socket): Read =>
  (count) =>
    new Promise((resolve) => {
      if (count === 0) return resolve(Buffer.alloc(0))
      const done = (bytes: Buffer | undefined) => {
        socket.removeListener('readable', take)
        socket.removeListener('close', end)
        socket.removeListener('end', end)
        resolve(bytes)
      }
      const take = () => {
        const bytes = socket.read(count) as Buffer | null
        if (bytes?.length === count) done(bytes)
        else if (bytes) done(undefined)
      }
      const end = () => done(undefined)
      socket.on('readable', take)
      socket.once('close', end)
      socket.once('end', end)
      take()
    })

const codes = { ok: 0, 'not-allowed': 2, unreachable: 4 } as const
export const socksAnswer = (what: keyof typeof codes): Buffer => Buffer.from([5, codes[what], 0, 1, 0, 0, 0, 0, 0, 0])
