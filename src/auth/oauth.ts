/** OAuth tokens in use: what the settings say about the server, and how an access token is renewed. */
import { join } from 'node:path'
import { isObject } from '../hooks/shape.ts'
import { keepOut } from '../store/secrets.ts'
import type { Credential, CredentialProblem, Secret } from './credential.ts'
import { exclusively } from './exclusive.ts'
import { forgetLogin, type Login, loginFolder, readLogin, saveLogin } from './login-store.ts'

export interface OAuthSettings {
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly clientId: string
  readonly scopes: readonly string[]
  /** A page of the server's that shows the code to paste, where the browser cannot reach this machine. */
  readonly manualRedirectUrl?: string
  /** What requests with such a token send as `anthropic-beta`. */
  readonly beta?: string
}

/** From the environment first, then from the settings; none is built in. */
export function oauthSettings(setting: unknown, env: NodeJS.ProcessEnv): OAuthSettings | CredentialProblem {
  const stored = isObject(setting) ? setting : {}
  const value = (name: string, variable: string): string => {
    const given = env[variable] || stored[name]
    return typeof given === 'string' ? given : ''
  }
  const authorizeUrl = value('authorizeUrl', 'ONA_OAUTH_AUTHORIZE_URL')
  const tokenUrl = value('tokenUrl', 'ONA_OAUTH_TOKEN_URL')
  const clientId = value('clientId', 'ONA_OAUTH_CLIENT_ID')
  if (!authorizeUrl || !tokenUrl || !clientId) {
    return {
      problem:
        'OAuth is not set up: set ONA_OAUTH_AUTHORIZE_URL, ONA_OAUTH_TOKEN_URL and ONA_OAUTH_CLIENT_ID, or oauth.authorizeUrl, oauth.tokenUrl and oauth.clientId in ~/.ona/settings.json',
    }
  }
  for (const url of [authorizeUrl, tokenUrl]) {
    if (!isSafe(url))
      return { problem: `the OAuth address ${url} must begin with https:// (http:// only on this machine)` }
  }
  const scopes = env['ONA_OAUTH_SCOPES']?.split(/[\s,]+/).filter(Boolean) ?? stored.scopes
  const manualRedirectUrl = value('manualRedirectUrl', 'ONA_OAUTH_MANUAL_REDIRECT_URL')
  const beta = value('beta', 'ONA_OAUTH_BETA')
  return {
    authorizeUrl,
    tokenUrl,
    clientId,
    scopes: Array.isArray(scopes) ? scopes.map(String) : ['user:profile', 'user:inference'],
    ...(manualRedirectUrl && { manualRedirectUrl }),
    ...(beta && { beta }),
  }
}

type OAuthLogin = Extract<Login, { kind: 'oauth' }>

/** The stored login. Its access token is renewed shortly before its end, by one process for all. */
export function oauthCredential(env: NodeJS.ProcessEnv): Credential {
  let login: OAuthLogin | undefined

  const stored = async (): Promise<OAuthLogin | undefined> => {
    const read = await readLogin(env)
    return read?.kind === 'oauth' ? read : undefined
  }
  async function renewed(old: OAuthLogin, signal: AbortSignal): Promise<OAuthLogin | CredentialProblem> {
    return exclusively(join(loginFolder(env), 'login.lock'), async () => {
      const current = await stored()
      if (!current) return { problem: expired }
      // Another process was faster: its token is as good as ours would be.
      if (current.accessToken !== old.accessToken && !endsSoon(current)) return current
      if (!current.refreshToken) return { problem: expired }
      const answer = await askForTokens(
        current.tokenUrl,
        { grant_type: 'refresh_token', refresh_token: current.refreshToken, client_id: current.clientId },
        signal,
      )
      if (!answer.ok) {
        if (answer.refused) await forgetLogin(env)
        return { problem: answer.refused ? expired : `the login could not be renewed: ${answer.problem}` }
      }
      const next: OAuthLogin = {
        ...current,
        ...answer.tokens,
        refreshToken: answer.tokens.refreshToken ?? current.refreshToken,
      }
      await saveLogin(next, env).catch(() => undefined) // a home that cannot be written: it holds for this process
      return next
    })
  }
  async function refresh(old: OAuthLogin, signal: AbortSignal): Promise<OAuthLogin | CredentialProblem> {
    const next = await renewed(old, signal)
    login = 'problem' in next ? undefined : next
    return next
  }

  return {
    class: 'oauth',
    source: 'login',
    whenRefused: 'OAuth token revoked or expired · Please run /login',
    async now(signal): Promise<Secret | CredentialProblem> {
      login ??= await stored()
      if (!login) return { problem: 'Not logged in · Please run /login' }
      const current = endsSoon(login) ? await refresh(login, signal) : login
      if ('problem' in current) return current
      return { bearer: current.accessToken, ...(current.beta && { beta: current.beta }) }
    },
    async renew(signal) {
      login ??= await stored()
      return login ? !('problem' in (await refresh(login, signal))) : false
    },
  }
}

const expired = 'Login expired · Please run /login'

/** Five minutes: longer than a slow request takes to be sent. */
const endsSoon = ({ expiresAt }: OAuthLogin): boolean => expiresAt !== undefined && expiresAt - Date.now() < 300_000

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string
  readonly expiresAt?: number
  readonly scopes: readonly string[]
  readonly account?: string
}

export type TokenAnswer =
  | { readonly ok: true; readonly tokens: Tokens }
  /** `refused`: the server said no, and will say it again. */
  | { readonly ok: false; readonly refused: boolean; readonly problem: string }

/** One request to the token endpoint. The form body is that of RFC 6749 §4.1.3 and §6. */
export async function askForTokens(
  url: string,
  form: Record<string, string>,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const { host } = new URL(url)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(form).toString(),
      redirect: 'error', // a code or token must not travel on to another server
      signal: AbortSignal.any([signal, AbortSignal.timeout(30_000)]),
    })
    const body: unknown = await response.json().catch(() => undefined)
    const fields = isObject(body) ? body : {}
    if (!response.ok || typeof fields.access_token !== 'string') {
      const why = typeof fields.error === 'string' ? fields.error : `status ${response.status}`
      return { ok: false, refused: response.status >= 400 && response.status < 500, problem: `${host} refused: ${why}` }
    }
    keepOut(fields.access_token)
    const refreshToken = typeof fields.refresh_token === 'string' ? fields.refresh_token : undefined
    keepOut(refreshToken)
    const account = isObject(fields.account) ? fields.account.email_address : undefined
    return {
      ok: true,
      tokens: {
        accessToken: fields.access_token,
        scopes: typeof fields.scope === 'string' ? fields.scope.split(' ') : [],
        ...(refreshToken && { refreshToken }),
        ...(typeof fields.expires_in === 'number' && { expiresAt: Date.now() + fields.expires_in * 1000 }),
        ...(typeof account === 'string' && { account }),
      },
    }
  } catch {
    // The network, or our time limit. Its words may hold the address with a code in it, so they are not repeated.
    return { ok: false, refused: false, problem: `${host} could not be reached` }
  }
}

function isSafe(address: string): boolean {
  const url = URL.parse(address)
  return (
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname))
  )
}
