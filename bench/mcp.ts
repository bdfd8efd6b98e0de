/**
 * How much later the first request goes out with ten MCP servers than with none: on the first start ever, and once their
 * tools are known. Needs a build: `npm run build && node bench/mcp.ts [rounds]`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './lib/processes.ts'
import { report } from './lib/report.ts'

const root = join(import.meta.dirname, '..')
if (!existsSync(join(root, 'dist/main.cjs'))) throw new Error('there is no build; run npm run build first')
const rounds = Number(process.argv[2] ?? 7)
const place = mkdtempSync(join(tmpdir(), 'ona-bench-mcp-'))
const tools = Array.from({ length: 8 }, (_, at) => ({
  name: `tool${at}`,
  description: 'Does one thing, and tells what it did. '.repeat(4),
  inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'Where' } } },
}))
const list = join(place, 'list.json')
writeFileSync(list, JSON.stringify({ version: '1', tools }))
const fixture = join(root, 'src/mcp/fixtures/listed.mjs')
if (!existsSync(fixture)) throw new Error(`there is no ${fixture}`) // servers that fail are not waited for
const entry = { command: process.execPath, args: [fixture, list, join(place, 'log')] }
const ten = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`server${at}`, entry]))

let arrived = (_: number) => {}
const server = http.createServer((request, response) => {
  arrived(performance.now())
  request.resume().on('end', () => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end('{"type":"error","error":{"type":"invalid_request_error","message":"enough"}}')
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** Milliseconds from the start of the process to the first request. */
async function firstRequest(servers: object, home: string): Promise<number> {
  const begin = performance.now()
  const request = new Promise<number>((resolve) => {
    arrived = resolve
  })
  const words = [join(root, 'bin/ona.mjs'), '-p', 'go', '--mcp-config', JSON.stringify({ mcpServers: servers })]
  const env = { PATH: process.env['PATH'], HOME: home, ANTHROPIC_API_KEY: 'bench', ANTHROPIC_BASE_URL: base }
  const child = spawn(process.execPath, words, { cwd: place, stdio: 'ignore', env: { ...env, ONA_KEYCHAIN: 'off' } })
  const at = await request
  await once(child, 'close')
  return at - begin
}

const none: number[] = []
const first: number[] = []
const known: number[] = []
for (let round = 0; round < rounds; round++) {
  const home = mkdtempSync(join(place, 'home-'))
  await firstRequest({}, home) // makes the database
  none.push(await firstRequest({}, home))
  first.push(await firstRequest(ten, home))
  known.push(await firstRequest(ten, home))
}
server.close()
rmSync(place, { recursive: true, force: true })
const over = (times: number[]) => median(times.map((time, at) => time / none[at]!))
const ms = (times: number[]) => `${median(times).toFixed(0)} and ${median(none).toFixed(0)} ms`
report('Wall time from the start of ona to its first request to the model, in turns; medians.', [
  { what: 'first request, ten new MCP servers × none', value: over(first), detail: ms(first) },
  { what: 'first request, ten known MCP servers × none', value: over(known), atMost: 1.3, detail: ms(known) },
])
