/** A TCP proxy that misbehaves as networks do: cuts, delays, goes silent, and sends what it heard a second time. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export type Fault = 'none' | 'cut request' | 'cut answer' | 'slow' | 'half-open' | 'duplicate'

export async function tcpProxy(t: TestContext, port: number) {
  let fault: Fault = 'none'
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    return socket
  }
  const server = createServer((inner) => {
    keep(inner)
    const mine = fault
    const outer = keep(connect(port, '127.0.0.1'))
    const heard: Buffer[] = []
    let sent = 0
    inner.on('data', (piece: Buffer) => {
      sent += piece.length
      heard.push(piece)
      if (mine === 'half-open') return // it is taken, and goes nowhere
      if (mine === 'slow') return void setTimeout(() => outer.write(piece), 50)
      if (mine === 'cut request' && sent > 600) {
        outer.write(piece.subarray(0, Math.floor(piece.length / 2)))
        outer.destroy()
        inner.destroy()
        return
      }
      outer.write(piece)
    })
    outer.on('data', (piece: Buffer) => {
      // the service has done it, and the node never hears of it
      if (mine === 'cut answer') {
        inner.destroy()
        outer.destroy()
        return
      }
      inner.write(piece)
      if (mine === 'duplicate') {
        const again = keep(connect(port, '127.0.0.1'))
        again.on('data', () => again.destroy())
        again.write(Buffer.concat(heard))
      }
    })
    inner.on('close', () => outer.destroy())
    outer.on('close', () => inner.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  )
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** For connections from now on; those that are open are cut. */
    set(next: Fault) {
      fault = next
      for (const socket of sockets) socket.destroy()
    },
  }
}
