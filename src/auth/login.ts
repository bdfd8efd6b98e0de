/** Logging in: OAuth with an authorization code and PKCE (RFC 7636, RFC 8252), or a key that was pasted. */
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { operatorProblem } from '../store/operator.ts'
import type { CredentialProblem } from './credential.ts'
import { type LoginNote, loginFolder, saveLogin } from './login-store.ts'
import { askForTokens, type OAuthSettings, type TokenAnswer } from './oauth.ts'

/** The one who logs in. */
export interface LoginTalk {
  /** Shows the address, and opens it where there is a browser. */
  visit(url: string, manualUrl: string): void
  /** Waits for what the user pastes; never resolves where nothing can be pasted. */
  paste(signal: AbortSignal): Promise<string>
}

export async function loginWithOAuth(
  settings: OAuthSettings,
  talk: LoginTalk,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<LoginNote | CredentialProblem> {
  const held = notOperator(env)
  if (held) return held
  const { randomBytes, createHash } = process.getBuiltinModule('node:crypto')
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const over = new AbortController()
  const patience = AbortSignal.any([signal, over.signal, AbortSignal.timeout(600_000)])
  const loopback = await listen(state, patience)
  try {
    const manual = settings.manualRedirectUrl ?? loopback.redirectUri
    const address = (redirectUri: string) => authorizeUrl(settings, { redirectUri, challenge, state })
    talk.visit(address(loopback.redirectUri), address(manual))
    const came = await Promise.race([
      loopback.code.then((code) => ({ ...code, redirectUri: loopback.redirectUri })),
      pasted(talk, state, patience).then((code) => ({ ...code, redirectUri: manual })),
      ended(patience),
    ])
    if ('problem' in came) return { problem: came.problem }
    const answer = await askForTokens(
      settings.tokenUrl,
      {
        grant_type: 'authorization_code',
        code: came.code,
        redirect_uri: came.redirectUri,
        client_id: settings.clientId,
        code_verifier: verifier,
        state,
      },
      signal,
    )
    return keep(answer, settings, env)
  } finally {
    over.abort()
    loopback.close()
  }
}

/** Without a browser: turns a given refresh token into a login. */
export async function loginWithRefreshToken(
  settings: OAuthSettings,
  refreshToken: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<LoginNote | CredentialProblem> {
  const held = notOperator(env)
  if (held) return held
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: settings.clientId }
  const answer = await askForTokens(settings.tokenUrl, form, signal)
  if (!answer.ok) return keep(answer, settings, env)
  return keep({ ...answer, tokens: { refreshToken, ...answer.tokens } }, settings, env)
}

export async function loginWithKey(given: string, env: NodeJS.ProcessEnv): Promise<LoginNote | CredentialProblem> {
  const held = notOperator(env)
  if (held) return held
  const key = given.trim()
  if (key === '') return { problem: 'no key was given' }
  if (!/^[\x21-\x7e]{8,16384}$/.test(key)) return { problem: 'that is no key: one word of printable characters' }
  return saveLogin({ kind: 'api_key', key }, env)
}

function notOperator(env: NodeJS.ProcessEnv): CredentialProblem | undefined {
  const problem = operatorProblem('logging in', { home: dirname(loginFolder(env)) })
  return problem === undefined ? undefined : { problem }
}

async function keep(
  answer: TokenAnswer,
  settings: OAuthSettings,
  env: NodeJS.ProcessEnv,
): Promise<LoginNote | CredentialProblem> {
  if (!answer.ok) return { problem: `OAuth error: ${answer.problem}` }
  const { tokenUrl, clientId, beta } = settings
  return saveLogin({ kind: 'oauth', ...answer.tokens, tokenUrl, clientId, ...(beta && { beta }) }, env)
}

function authorizeUrl(
  { authorizeUrl, clientId, scopes }: OAuthSettings,
  { redirectUri, challenge, state }: { redirectUri: string; challenge: string; state: string },
): string {
  const url = new URL(authorizeUrl)
  const query = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state,
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}

type Came = { readonly code: string } | CredentialProblem

/** Waits on loopback for the browser to come back. A request with another state is not ours and changes nothing. */
async function listen(
  state: string,
  signal: AbortSignal,
): Promise<{ redirectUri: string; code: Promise<Came>; close(): void }> {
  const { createServer } = process.getBuiltinModule('node:http')
  let settle: (came: Came) => void = () => {}
  const code = new Promise<Came>((resolve) => {
    settle = resolve
  })
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const came = url.pathname === '/callback' ? answerOf(url.searchParams, state) : undefined
    const done = came !== undefined && !('problem' in came && came.problem === foreign)
    response.writeHead(done ? 200 : 400, { 'content-type': 'text/html; charset=utf-8', connection: 'close' })
    response.end(
      done ? page('You can close this window and go back to the terminal.') : page('This page is not for you.'),
    )
    if (done) settle(came)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  signal.addEventListener('abort', close, { once: true })
  return { redirectUri: `http://localhost:${(server.address() as AddressInfo).port}/callback`, code, close }
}

/** A code alone could be another user's: `code#state` or the whole address is required. */
async function pasted(talk: LoginTalk, state: string, signal: AbortSignal): Promise<Came> {
  const text = (await talk.paste(signal)).trim()
  const url = URL.parse(text)
  if (url) return answerOf(url.searchParams, state)
  const [code = '', given = ''] = text.split('#')
  return answerOf(new URLSearchParams({ code, state: given }), state)
}

const foreign = 'OAuth error: the answer belongs to another login (its state differs); run ona login again'

function answerOf(query: URLSearchParams, state: string): Came {
  if (query.get('state') !== state) return { problem: foreign }
  const error = query.get('error')
  if (error) return { problem: `OAuth error: ${error.slice(0, 100)}` }
  const code = query.get('code')
  return code ? { code } : { problem: 'OAuth error: Invalid code. Please make sure the full code was copied' }
}

const ended = (signal: AbortSignal): Promise<CredentialProblem> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ problem: 'the login was cancelled' }), { once: true })
  })

const page = (text: string) => `<!doctype html><meta charset="utf-8"><title>ona</title><p>${text}</p>\n`
