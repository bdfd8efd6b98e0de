/** An authorization server on loopback, for the tests of the login: strict about PKCE, single use and rotation. */
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'

export interface AuthorizationServer {
  readonly env: Record<string, string>
  /** The forms that the token endpoint was sent. */
  readonly forms: Record<string, string>[]
  /** What it answers instead, from now on. */
  answerWith(status: number | undefined): void
  /** The tokens that count at the moment. */
  current(): { accessToken: string; refreshToken: string }
  close(): void
}

export async function authorizationServer({ expiresIn = 3600 } = {}): Promise<AuthorizationServer> {
  const { createServer } = process.getBuiltinModule('node:http')
  const codes = new Map<string, { challenge: string; redirectUri: string }>()
  const forms: Record<string, string>[] = []
  let instead: number | undefined
  let issued = 0
  let tokens = { accessToken: '', refreshToken: '' }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, 'http://127.0.0.1')
    if (url.pathname === '/authorize') {
      const { redirect_uri = '', state = '', code_challenge = '' } = Object.fromEntries(url.searchParams)
      const code = `code-${codes.size}`
      codes.set(code, { challenge: code_challenge, redirectUri: redirect_uri })
      const back = new URL(redirect_uri)
      back.search = new URLSearchParams({ code, state }).toString()
      response.writeHead(302, { location: back.href })
      return response.end()
    }
    const pieces: Buffer[] = []
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece)
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(pieces).toString()))
    forms.push(form)
    const refusal = instead ?? (isRight(form) ? undefined : 400)
    response.setHeader('content-type', 'application/json')
    if (refusal) {
      response.writeHead(refusal, refusal === 307 ? { location: 'http://127.0.0.1:9/' } : {})
      return response.end(JSON.stringify({ error: 'invalid_grant', error_description: 'planted' }))
    }
    issued++
    tokens = { accessToken: `access-token-number-${issued}`, refreshToken: `refresh-token-number-${issued}` }
    response.end(
      JSON.stringify({
        access_token: tokens.accessToken,
        refresh_token: tokens.refreshToken,
        expires_in: expiresIn,
        scope: 'user:inference',
        account: { email_address: 'ada@example.org' },
      }),
    )
  })

  function isRight(form: Record<string, string>): boolean {
    if (form.client_id !== 'client-1') return false
    if (form.grant_type === 'refresh_token') return form.refresh_token === tokens.refreshToken
    const code = codes.get(form.code ?? '')
    codes.delete(form.code ?? '')
    const challenge = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url')
    return code !== undefined && code.challenge === challenge && code.redirectUri === form.redirect_uri
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    env: {
      ONA_OAUTH_AUTHORIZE_URL: `${base}/authorize`,
      ONA_OAUTH_TOKEN_URL: `${base}/token`,
      ONA_OAUTH_CLIENT_ID: 'client-1',
      ONA_OAUTH_BETA: 'oauth-1',
    },
    forms,
    answerWith: (status) => {
      instead = status
    },
    current: () => tokens,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
