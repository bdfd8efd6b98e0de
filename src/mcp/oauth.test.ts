import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { after, test } from 'node:test'
import { type GuardedServer, guardedServer } from '../../test/support/guarded-mcp-server.ts'
import { readServers } from './config.ts'
import { connectServers, type McpHub } from './hub.ts'
import type { SecretStore } from './secrets.ts'

const open: { close(): unknown }[] = []
after(async () => {
  for (const each of open) await each.close()
})

async function guarded(metadataAt?: string): Promise<GuardedServer> {
  const server = await guardedServer(metadataAt)
  open.push(server)
  return server
}

function memory(): SecretStore & { kept: Map<string, string> } {
  const kept = new Map<string, string>()
  return {
    kept,
    read: async (key) => kept.get(key),
    write: async (key, value) => void kept.set(key, value),
    remove: async (key) => void kept.delete(key),
  }
}

function hubOf(url: string, secrets: SecretStore, openUrl?: (url: string) => Promise<void>, oauth?: object): McpHub {
  const guarded = { type: 'http', url, ...(oauth && { oauth }) }
  const { servers } = readServers([{ scope: 'user', from: 'test', servers: { guarded } }], {})
  const hub = connectServers(servers, {
    env: process.env,
    projectDir: tmpdir(),
    home: tmpdir(),
    version: '0',
    policy: {},
    secrets,
    ...(openUrl && { openUrl }),
  })
  open.unshift(hub)
  return hub
}

const call = (hub: McpHub) => hub.callTool('mcp__guarded__secret', {}, new AbortController().signal, () => {})

test('a server behind OAuth is signed in to by the user, and later by what was kept', async () => {
  const { url, seen, expire } = await guarded()
  const secrets = memory()
  const browser = async (page: string) => void (await fetch(page)) // follows the redirect back to us, as a browser does
  const hub = hubOf(url, secrets, browser)
  await hub.ready(10_000)
  assert.equal(hub.status()[0]!.status, 'needs-auth')
  assert.equal(seen.includes('authorize'), false) // nobody was sent anywhere unasked

  assert.equal(await hub.signIn('guarded', new AbortController().signal), true, hub.status()[0]!.problem)
  assert.equal((await call(hub)).content, 'the secret')
  assert.deepEqual([...new Set(seen)], ['register', 'authorize', 'authorization_code'])
  assert.equal([...secrets.kept.keys()][0], `mcp ${url}`)

  const later = hubOf(url, secrets)
  await later.ready(10_000)
  assert.equal((await call(later)).content, 'the secret')

  expire()
  const renewed = hubOf(url, secrets)
  await renewed.ready(10_000)
  assert.equal((await call(renewed)).content, 'the secret')
  assert.equal(seen.at(-1), 'refresh_token')
})

test('an authorization server that is not found by itself is named in the settings', async (t) => {
  const past = t.mock.method(console, 'warn', () => {})
  const { url, seen } = await guarded('/meta')
  const browser = async (page: string) => void (await fetch(page))
  const oauth = { clientId: 'ours', authServerMetadataUrl: new URL('/meta', url).href }
  const hub = hubOf(url, memory(), browser, oauth)
  assert.equal(await hub.signIn('guarded', new AbortController().signal), true, hub.status()[0]!.problem)
  assert.equal((await call(hub)).content, 'the secret')
  assert.deepEqual([...new Set(seen)], ['authorize', 'authorization_code'])
  assert.equal(past.mock.callCount(), 0, 'nothing is printed past the screen')

  const elsewhere = hubOf(url, memory(), browser, { authServerMetadataUrl: new URL('/nothing', url).href })
  assert.equal(await elsewhere.signIn('guarded', new AbortController().signal), false)
  assert.match(
    elsewhere.status()[0]!.problem,
    /authServerMetadataUrl .*\/nothing does not describe an authorization server/,
  )
})

test('a sign-in that nobody finishes ends with the signal', async () => {
  const { url } = await guarded()
  const stop = new AbortController()
  const hub = hubOf(url, memory(), async () => stop.abort())
  assert.equal(await hub.signIn('guarded', stop.signal), false)
  assert.equal(hub.status()[0]!.status, 'needs-auth')
})
