/**
 * A network namespace that the commands of a session share. One process in it opens a port and hands the listening socket
 * to us, so that connections made inside arrive at the proxy out here; nothing else leads out.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Server } from 'node:net'
import { type ProxyOptions, serveProxy } from './proxy.ts'

export interface Network {
  /** Where the proxy listens, inside. */
  readonly port: number
  /** The words that enter the namespace. */
  readonly enter: readonly string[]
  close(): void
}

/** Runs inside: listens, hands the socket out, and keeps the namespace alive until we are gone. */
const keeper = `
const server = require('node:net').createServer()
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address()
  process.send({ port, pid: process.pid }, server, () => server.close())
})
process.on('disconnect', () => process.exit())
setInterval(() => {}, 1 << 30)
`
const startMs = 20_000

export function openNetwork(
  { bwrap, nsenter, env }: { bwrap: string; nsenter: string; env: NodeJS.ProcessEnv },
  options: ProxyOptions,
): Promise<Network> {
  const child = spawn(
    bwrap,
    [
      '--unshare-user',
      '--unshare-net',
      '--die-with-parent',
      '--dev-bind',
      '/',
      '/',
      '--',
      process.execPath,
      '-e',
      keeper,
    ],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env: { PATH: env['PATH'] } },
  )
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr!.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-2000)
    })
    const fail = (why: string) => {
      child.kill('SIGKILL')
      reject(new Error(`the network of the sandbox could not be opened: ${said.trim() || why}`))
    }
    const timer = setTimeout(fail, startMs, 'it took too long')
    child.once('error', (error) => fail(error.message))
    child.once('exit', () => fail('it ended'))
    child.once('message', (message: { port: number; pid: number }, server) => {
      clearTimeout(timer)
      child.removeAllListeners('exit')
      resolve(opened(child, message, server as unknown as Server, nsenter, options))
    })
  })
}

function opened(
  child: ChildProcess,
  { port, pid }: { port: number; pid: number },
  server: Server,
  nsenter: string,
  options: ProxyOptions,
): Network {
  const proxy = serveProxy(server, options)
  server.unref()
  child.unref()
  child.channel?.unref()
  ;(child.stderr as { unref?(): void } | null)?.unref?.()
  return {
    port,
    enter: [nsenter, '--target', String(pid), '--user', '--net', '--preserve-credentials', '--'],
    close() {
      proxy.close()
      child.kill('SIGKILL')
    },
  }
}
