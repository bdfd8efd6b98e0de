/** A small OpenID provider: discovery, keys, authorization code with PKCE, ID tokens signed with RS256. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export async function oidcServer(t: TestContext, claims: () => Record<string, unknown>) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map<string, { challenge: string; nonce: string }>()
  let issuer = ''
  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, issuer)
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(value))
    }
    if (url.pathname === '/.well-known/openid-configuration')
      return json({
        ...{
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
        },
        ...{
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        },
      })
    if (url.pathname === '/keys')
      return json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' }] })
    if (url.pathname === '/authorize') {
      const code = randomBytes(12).toString('hex')
      const get = (name: string) => url.searchParams.get(name) ?? ''
      codes.set(code, { challenge: get('code_challenge'), nonce: get('nonce') })
      response.writeHead(302, {
        location: `${get('redirect_uri')}?code=${code}&state=${encodeURIComponent(get('state'))}`,
      })
      return response.end()
    }
    let body = ''
    for await (const piece of request) body += piece
    const form = new URLSearchParams(body)
    const known = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (!known || known.challenge !== challenge) return json({ error: 'invalid_grant' }, 400)
    const now = Math.floor(Date.now() / 1000)
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const text = `${encode({ alg: 'RS256', kid: 'k' })}.${encode({ iss: issuer, aud: 'ona', iat: now, exp: now + 300, nonce: known.nonce, ...claims() })}`
    json({
      access_token: 'x',
      token_type: 'bearer',
      id_token: `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`,
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return issuer
}
