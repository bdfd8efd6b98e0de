/** For tests: an MCP server over HTTP behind OAuth. */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'

export interface GuardedServer {
  readonly url: string
  /** What it was asked for, in order. */
  readonly seen: string[]
  /** The token that was given out is good for nothing from now on. */
  expire(): void
  close(): void
}

const wellKnown = '/.well-known/oauth-authorization-server'

/** A server behind OAuth: discovery, registration, PKCE, refresh; a user who always agrees. */
export async function guardedServer(metadataAt = wellKnown): Promise<GuardedServer> {
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
    if (metadataAt === wellKnown && url.pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json(200, { resource: `${base}/mcp`, authorization_servers: [base] })
    if (url.pathname === metadataAt) {
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
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `${base}/mcp`, seen, expire: () => (token = 'another'), close }
}

const body = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
