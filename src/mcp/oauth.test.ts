import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { after, test } from 'node:test'
import { readServers } from './config.ts'
import { connectServers, type McpHub } from './hub.ts'
import type { SecretStore } from './oauth.ts'

const open: { close(): unknown }[] = []
after(async () => {
  for (const each of open) await each.close()
})

/** A server behind OAuth: discovery, registration, PKCE, refresh; a person who always agrees. */
async function guarded(): Promise<{ url: string; seen: string[]; expire(): void }> {
  const seen: string[] = []
  const codes = new Map<string, string>()
  const refreshTokens = new Set<string>()
  let token = ''
  let base = ''
  const grant = () => {
    token = `access-${randomUUID()}`
    const refresh_token = `refresh-${randomUUID()}`
    refreshTokens.add(refresh_token)
    return { access_token: token, token_type: 'Bearer', expires_in: 3600, refresh_token }
  }
  const server: Server = createServer(async (request, response) => {
    const url = new URL(request.url!, base)
    const json = (status: number, value: unknown, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json(200, { resource: `${base}/mcp`, authorization_servers: [base] })
    if (url.pathname === '/.well-known/oauth-authorization-server') {
      return json(200, {
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        registration_endpoint: `${base}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      })
    }
    if (url.pathname === '/register') {
      seen.push('register')
      return json(201, { ...JSON.parse(await body(request)), client_id: 'client-1' })
    }
    if (url.pathname === '/authorize') {
      seen.push('authorize')
      const code = randomUUID()
      codes.set(code, url.searchParams.get('code_challenge')!)
      const to = new URL(url.searchParams.get('redirect_uri')!)
      to.searchParams.set('code', code)
      to.searchParams.set('state', url.searchParams.get('state')!)
      return response.writeHead(302, { location: to.href }).end()
    }
    if (url.pathname === '/token') {
      const form = new URLSearchParams(await body(request))
      seen.push(form.get('grant_type')!)
      if (form.get('grant_type') === 'refresh_token') {
        return refreshTokens.has(form.get('refresh_token')!)
          ? json(200, grant())
          : json(400, { error: 'invalid_grant' })
      }
      const challenge = createHash('sha256').update(form.get('code_verifier')!).digest('base64url')
      return codes.get(form.get('code')!) === challenge ? json(200, grant()) : json(400, { error: 'invalid_grant' })
    }
    if (url.pathname !== '/mcp') return json(404, {})
    if (token === '' || request.headers.authorization !== `Bearer ${token}`) {
      return json(
        401,
        {},
        { 'www-authenticate': `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"` },
      )
    }
    if (request.method !== 'POST') return json(405, {})
    const { id, method } = JSON.parse(await body(request))
    if (id === undefined) return response.writeHead(202).end()
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'guarded', version: '0' },
      },
      'tools/list': { tools: [{ name: 'secret', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'the secret' }] },
    }
    return results[method]
      ? json(200, { jsonrpc: '2.0', id, result: results[method] })
      : json(200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  open.push({ close: () => server.closeAllConnections() }, server)
  return { url: `${base}/mcp`, seen, expire: () => (token = 'another') }
}

const body = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
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

function hubOf(url: string, secrets: SecretStore, openUrl?: (url: string) => Promise<void>): McpHub {
  const { servers } = readServers([{ scope: 'user', from: 'test', servers: { guarded: { type: 'http', url } } }], {})
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

test('a server behind OAuth is signed in to by the person, and later by what was kept', async () => {
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

test('a sign-in that nobody finishes ends with the signal', async () => {
  const { url } = await guarded()
  const stop = new AbortController()
  const hub = hubOf(url, memory(), async () => stop.abort())
  assert.equal(await hub.signIn('guarded', stop.signal), false)
  assert.equal(hub.status()[0]!.status, 'needs-auth')
})
