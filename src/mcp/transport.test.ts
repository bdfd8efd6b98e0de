/** How much a server may send at once, whichever way it is reached. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import type { ServerConfig } from './config.ts'
import { wayTo } from './transport.ts'

const mebibyte = 1024 * 1024
const options = { env: process.env, projectDir: process.cwd() }
const named = (transport: object) =>
  ({ name: 'x', scope: 'user', transport, alwaysLoad: false }) as unknown as ServerConfig

test('a child process may send a message of 12 MiB', async () => {
  const print = `console.log(JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { a: 'x'.repeat(12 << 20) } }))`
  const { transport } = await wayTo(
    named({ type: 'stdio', command: process.execPath, args: ['-e', print], env: {} }),
    options,
  )
  const came = new Promise<number>((resolve) => {
    transport.onmessage = (message) => resolve(JSON.stringify(message).length)
  })
  await transport.start()
  assert.ok((await came) > 12 * mebibyte)
  await transport.close()
})

/** Neither ends with its input or at a signal, nor does what it starts, whose process it writes down. */
const stubborn = `trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $$ $! >> "$PIDS"; while :; do sleep 1; done`
const servers: Record<string, readonly string[]> = {
  'that goes on without its input': ['-c', stubborn],
  'in a shell of its own': ['-c', `sh -c "$0"; :`, stubborn],
}
const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

for (const [what, args] of Object.entries(servers))
  for (const isClosed of [true, false])
    test(`a server ${what} ends ${isClosed ? 'when it is closed' : 'with ona'}, and so does what it started`, {
      skip: process.platform !== 'linux',
    }, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'ona-mcp-'))
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      const file = join(folder, 'pids')
      const config = named({ type: 'stdio', command: 'sh', args, env: { PIDS: file } })
      const program = `
        const { existsSync } = await import('node:fs')
        const { wayTo } = await import(${JSON.stringify(import.meta.resolve('./transport.ts'))})
        const { transport } = await wayTo(${JSON.stringify(config)}, { env: process.env, projectDir: '/' })
        await transport.start()
        while (!existsSync(${JSON.stringify(file)})) await new Promise(setImmediate)
        ${isClosed ? 'await transport.close()' : ''}
        process.exit()`
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' })
      assert.deepEqual(await once(child, 'exit'), [0, null])
      const pids = readFileSync(file, 'utf8').trim().split(/\s/).map(Number)
      assert.deepEqual([pids.length, pids.filter(isRunning)], [2, []])
    })

test('a server that is still starting when ona ends, ends too', { skip: process.platform !== 'linux' }, async () => {
  const config = named({ type: 'stdio', command: 'sh', args: ['-c', 'while :; do sleep 1; done'], env: {} })
  const program = `
    const { readFileSync } = await import('node:fs')
    const { wayTo } = await import(${JSON.stringify(import.meta.resolve('./transport.ts'))})
    const { transport } = await wayTo(${JSON.stringify(config)}, { env: process.env, projectDir: '/' })
    void transport.start()
    console.log(readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8'))
    void transport.close()
    process.exit()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = text(child.stdout)
  assert.deepEqual(await once(child, 'exit'), [0, null])
  const pids = (await said).trim().split(/\s/).map(Number)
  assert.deepEqual([pids.length, pids.filter(isRunning)], [1, []])
})

/** What becomes of a request that is answered like this, with a stream of events. */
async function errorOf(t: TestContext, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => {
    response.on('error', () => {}).writeHead(200, { 'content-type': 'text/event-stream' })
    answer(response)
  }).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { transport } = await wayTo(named({ type: 'http', url, headers: {} }), options)
  const failed = new Promise<string>((resolve) => {
    transport.onerror = ({ message }) => resolve(message)
    transport.onmessage = () => resolve('a message came')
  })
  await transport.start()
  await transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const said = await failed
  await transport.close()
  return said
}

/** Writes as much as is taken, until the client has had enough. */
const endlessly = (text: string) => (response: ServerResponse) => {
  const write = () => {
    while (!response.destroyed && response.write(text));
  }
  response.on('drain', write)
  write()
}
const line = `data: ${'x'.repeat(1000)}\n`

for (const [what, text] of [
  ['one line without end', 'x'.repeat(1000)],
  ['one event of lines without end', line.repeat(60)],
  ['one event of lines without end, with carriage returns', line.replace('\n', '\r\n').repeat(60)],
] as const)
  test(`an answer is cut off at its limit: ${what}`, async (t) => {
    assert.match(await errorOf(t, endlessly(text)), /a message of over 16777216 bytes/)
  })

test('events of more than the limit together, each within it, are all read', async (t) => {
  const message = (more: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...more })}\n\n`
  const comment = `: ${'x'.repeat(mebibyte)}\n`
  const said = await errorOf(t, (response) => {
    for (let at = 0; at < 40; at++) response.write(`${comment}${at % 2 ? '\n' : '\r\n'}`)
    response.end(message({ id: 1, result: {} }))
  })
  assert.equal(said, 'a message came')
})
