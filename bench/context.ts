/**
 * What many skills and agents add to a request, in bytes, over a request without them. Needs a build:
 * `npm run build && node bench/context.ts`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { report } from './lib/report.ts'

const root = join(import.meta.dirname, '..')
if (!existsSync(join(root, 'dist/main.cjs'))) throw new Error('there is no build; run npm run build first')
const place = mkdtempSync(join(tmpdir(), 'ona-bench-context-'))

let bytes = 0
const server = http.createServer((request, response) => {
  bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  request.on('end', () => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end('{"type":"error","error":{"type":"invalid_request_error","message":"enough"}}')
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function requestBytes(skills: number, agents: number): Promise<number> {
  const home = mkdtempSync(join(place, 'home-'))
  const text = (name: string) =>
    `---\nname: ${name}\ndescription: Use this when ${name} is needed, which is described here\n---\nDo it.\n`
  for (let at = 0; at < skills; at++) {
    const folder = join(home, '.ona/skills', `skill-${at}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'SKILL.md'), text(`skill-${at}`))
  }
  mkdirSync(join(home, '.ona/agents'), { recursive: true })
  for (let at = 0; at < agents; at++) writeFileSync(join(home, '.ona/agents', `agent-${at}.md`), text(`agent-${at}`))
  const env = { PATH: process.env['PATH'], HOME: home, ANTHROPIC_API_KEY: 'bench', ANTHROPIC_BASE_URL: base }
  const words = [join(root, 'bin/ona.mjs'), '-p', 'go']
  const child = spawn(process.execPath, words, { cwd: place, stdio: 'ignore', env: { ...env, ONA_KEYCHAIN: 'off' } })
  await once(child, 'close')
  return bytes
}

const none = await requestBytes(0, 0)
const many = await requestBytes(300, 200)
server.close()
rmSync(place, { recursive: true, force: true })
report('Bytes of the first request of a session, with skills and agents in the project and without.', [
  {
    what: 'request with 300 skills and 200 agents × without',
    value: many / none,
    atMost: 1.5,
    detail: `${many} and ${none} bytes`,
  },
])
