/** Signing in to a server over HTTP: the SDK speaks OAuth, the browser comes back to us on loopback, tokens are kept safe. */
import type {
  AuthProvider,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { isObject } from '../hooks/shape.ts'
import { keepOut } from '../store/secrets.ts'
import type { HttpTransport } from './config.ts'
import { machineLogin } from './machine-login.ts'
import type { SecretStore } from './secrets.ts'

export interface ServerLogin {
  readonly provider: OAuthClientProvider | AuthProvider
  /** Waits for the browser to come back; undefined when it does not in time, or the user said no. */
  code(signal: AbortSignal): Promise<string | undefined>
  close(): void
}

interface Kept {
  /** What a tool needs and the tokens do not cover: the next sign-in requests it. */
  wantedScope?: string
  tokens?: StoredOAuthTokens
  client?: StoredOAuthClientInformation
}

const longestWait = 300_000

/** What a server's tokens are kept under. */
export const secretKey = (url: string): string => `mcp ${new URL(url).origin}${new URL(url).pathname}`

/** Without `open`, kept tokens are used and renewed, and nobody is asked to sign in. */
export async function serverLogin(
  { url, oauth = {} }: HttpTransport,
  secrets: SecretStore,
  open?: (url: string) => void | Promise<void>,
): Promise<ServerLogin> {
  const key = secretKey(url)
  const kept = parsed(await secrets.read(key))
  for (const token of [kept.tokens?.access_token, kept.tokens?.refresh_token]) keepOut(token)
  const save = async (change: Partial<Kept>) => {
    Object.assign(kept, change)
    for (const token of [kept.tokens?.access_token, kept.tokens?.refresh_token]) keepOut(token)
    await secrets.write(key, JSON.stringify(kept))
  }
  const state = process.getBuiltinModule('node:crypto').randomBytes(24).toString('base64url')
  const callback = open ? await listen(state, oauth.callbackPort ?? 0) : undefined
  // where nobody is there to come back, a server that wants a sign-in just says so
  const redirectUrl = callback?.url ?? 'http://127.0.0.1/callback'
  let verifier = ''
  let discovered: OAuthDiscoveryState | undefined
  const known = oauth.clientId && {
    client_id: oauth.clientId,
    ...(oauth.clientSecret && { client_secret: oauth.clientSecret }),
  }
  const provider: OAuthClientProvider = {
    get redirectUrl() {
      return redirectUrl
    },
    get clientMetadata() {
      return {
        client_name: 'ona',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        ...(oauth.scope && { scope: oauth.scope }),
        token_endpoint_auth_method: oauth.clientSecret ? 'client_secret_post' : 'none',
      }
    },
    ...(oauth.clientMetadataUrl && { clientMetadataUrl: oauth.clientMetadataUrl }),
    state: () => state,
    clientInformation: () => known || kept.client,
    // a client that the settings name is nobody's to change; the SDK would say of it that it bears no mark of its issuer
    ...(!known && { saveClientInformation: (client: StoredOAuthClientInformation) => save({ client }) }),
    // Tokens that do not cover what a tool needs would be taken for enough.
    tokens: () => (open && kept.wantedScope ? undefined : kept.tokens),
    saveTokens: async (tokens) => {
      delete kept.wantedScope
      await save({ tokens })
    },
    redirectToAuthorization: async (to) => {
      const scope = to.searchParams.get('scope') ?? ''
      if (!open) return save({ wantedScope: scope })
      const wanted = new Set(
        [...scope.split(' '), ...(kept.wantedScope ?? '').split(' ')].filter((each) => each !== ''),
      )
      if (wanted.size > 0) to.searchParams.set('scope', [...wanted].join(' '))
      await open(to.href)
    },
    saveCodeVerifier: (value) => {
      verifier = value
    },
    codeVerifier: () => verifier,
    // the code is only ever given to the authorization server that the sign-in began with
    saveDiscoveryState: (state) => {
      discovered = state
    },
    discoveryState: async () => {
      if (oauth.authServerMetadataUrl) discovered ??= await described(oauth.authServerMetadataUrl)
      return discovered
    },
    invalidateCredentials: async (scope) => {
      if (scope === 'all' || scope === 'client') delete kept.client
      if (scope === 'all' || scope === 'tokens') delete kept.tokens
      await save({})
    },
  }
  const machine = machineLogin(oauth)
  const nobody: AuthProvider = { token: async () => undefined }
  return {
    provider: machine ?? (open || kept.tokens ? provider : nobody),
    code: async (signal) => await callback?.code(AbortSignal.any([signal, AbortSignal.timeout(longestWait)])),
    close: () => callback?.close(),
  }
}

/** The authorization server as it describes itself at an address that the settings name. */
async function described(url: string): Promise<OAuthDiscoveryState> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(30_000), headers: { accept: 'application/json' } })
  const metadata: unknown = answer.ok ? await answer.json().catch(() => undefined) : undefined
  const needed = ['issuer', 'authorization_endpoint', 'token_endpoint'] as const
  if (!isObject(metadata) || needed.some((key) => typeof metadata[key] !== 'string'))
    throw new Error(`oauth.authServerMetadataUrl ${url} does not describe an authorization server`)
  return {
    authorizationServerUrl: metadata.issuer as string,
    authorizationServerMetadata: metadata as unknown as NonNullable<OAuthDiscoveryState['authorizationServerMetadata']>,
  }
}

/** A page on loopback that takes the code, once, and only with the state that we gave out. */
async function listen(state: string, port: number) {
  const { createServer } = process.getBuiltinModule('node:http')
  let answer: (code: string | undefined) => void = () => {}
  const answered = new Promise<string | undefined>((resolve) => {
    answer = resolve
  })
  const server = createServer((request, response) => {
    const asked = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (asked.pathname !== '/callback' || asked.searchParams.get('state') !== state) {
      response
        .writeHead(404, { 'content-type': 'text/plain' })
        .end('This page belongs to a sign-in that is not under way.')
      return
    }
    const code = asked.searchParams.get('code') ?? undefined
    response.writeHead(200, { 'content-type': 'text/plain', connection: 'close' })
    response.end(code ? 'Signed in. You can close this page.' : 'Not signed in. You can close this page.')
    answer(code)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  server.unref()
  const { port: taken } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${taken}/callback`,
    code: (signal: AbortSignal) => {
      if (signal.aborted) answer(undefined)
      signal.addEventListener('abort', () => answer(undefined), { once: true })
      server.ref() // a command that has nothing else to do waits for the user
      return answered.finally(() => server.unref())
    },
    close: () => server.close(),
  }
}

function parsed(text: string | undefined): Kept {
  try {
    return JSON.parse(text ?? '{}') as Kept
  } catch {
    return {} // damaged: sign in again
  }
}
