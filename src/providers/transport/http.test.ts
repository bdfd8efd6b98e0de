import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { wireServer } from '../../../test/support/model/wire-server.ts'
import { createClient, type HttpOutcome } from './http.ts'

const signal = new AbortController().signal

async function get(base: string, env: NodeJS.ProcessEnv): Promise<[HttpOutcome['kind'], string]> {
  let text = ''
  const client = createClient({ base: new URL(base), env, limits: { answerMs: 5000 } })
  const outcome = await client.send(
    { method: 'GET', path: '/models', headers: {}, signal },
    {
      head: () => {},
      text(piece) {
        text += piece
        return false
      },
    },
  )
  client.close()
  return [outcome.kind, text]
}

test('a proxy is used where the environment names one, but not for this machine', async () => {
  const server = await wireServer((response) => response.end('straight'))
  const { createServer } = process.getBuiltinModule('node:http')
  const proxy = createServer((request, response) => response.end(`proxied ${request.url}`))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const env = { HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, NO_PROXY: 'other.invalid' }
  assert.deepEqual(await get('http://model.invalid/v1', env), ['done', 'proxied http://model.invalid/v1/models'])
  assert.deepEqual(await get(server.url, env), ['done', 'straight'])
  assert.equal((await get('http://other.invalid', env))[0], 'network')
  proxy.close()
  proxy.closeAllConnections()
  await server.close()
})

test('what no header can carry is an outcome, not an exception', async () => {
  const client = createClient({ base: new URL('http://127.0.0.1:9'), env: {} })
  const headers = { authorization: 'Bearer planted\nsecret' }
  const outcome = await client.send(
    { method: 'GET', path: '/', headers, signal },
    { head: () => {}, text: () => false },
  )
  assert.equal(outcome.kind, 'network')
  assert.doesNotMatch(JSON.stringify(outcome), /planted/)
})
