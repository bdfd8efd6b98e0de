/** Users sign in with OpenID Connect: in their browser, and the token arrives at the command that asked, on their machine. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import * as client from 'openid-client'
import { Problem } from '../../files/problem.ts'
import { Refused } from './request.ts'
import type { UserRole } from './user-access.ts'

export interface OidcOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | undefined
  /** `groups=auditors:reader`, `email=ada@example.com:admin` */
  readonly roles: readonly string[]
  /** The address that browsers see. */
  readonly publicUrl: string
}

interface Grant {
  readonly claim: string
  readonly value: string
  readonly role: Exclude<UserRole, 'telemetry'>
}

interface Pending {
  readonly nonce: string
  readonly verifier: string
  readonly port: number
  readonly challenge: string
  readonly until: number
}

interface Issued {
  readonly actor: string
  readonly role: UserRole
  readonly challenge: string
  readonly until: number
}

export interface Oidc {
  /** Where the browser goes to sign in. */
  begin(port: number, challenge: string): Promise<string>
  /** Where the browser goes when it has. */
  end(url: URL): Promise<string>
  /** Who holds the code, once. */
  redeem(code: string, verifier: string): Issued | undefined
}

const minutes = 10
const strength = { reader: 1, publisher: 2, admin: 3 } as const

export function readGrants(words: readonly string[]): Grant[] {
  return words.map((word) => {
    const [, claim, value, role] = /^([\w.-]+)=(.+):(reader|publisher|admin)$/.exec(word) ?? []
    if (role === undefined)
      throw new Problem(`--oidc-role ${word}: write CLAIM=VALUE:ROLE, as in groups=auditors:reader`)
    return { claim: claim!, value: value!, role: role as Grant['role'] }
  })
}

export async function openOidc(options: OidcOptions): Promise<Oidc> {
  const grants = readGrants(options.roles)
  if (grants.length === 0) throw new Problem('nobody would have a role: give --oidc-role CLAIM=VALUE:ROLE')
  const issuer = URL.parse(options.issuer)
  if (!issuer) throw new Problem(`--oidc-issuer ${options.issuer} is not an address`)
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(issuer.hostname)
  if (issuer.protocol !== 'https:' && !isHere) throw new Problem(`${options.issuer} must be an https address`)
  const config = await client
    .discovery(issuer, options.clientId, options.clientSecret, undefined, {
      ...(isHere && { execute: [client.allowInsecureRequests] }),
      timeout: 10,
    })
    .catch((cause: Error) => {
      const why = (cause.cause as Error | undefined)?.message || cause.message
      throw new Problem(`--oidc-issuer ${options.issuer}: ${why}; is it the issuer's address, and reachable from here?`)
    })
  const pending = new Map<string, Pending>()
  const issued = new Map<string, Issued>()
  const redirect = new URL('/login/callback', options.publicUrl).href
  return {
    async begin(port, challenge) {
      forget(pending)
      const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()]
      pending.set(state, { nonce, verifier, port, challenge, until: Date.now() + minutes * 60_000 })
      return client.buildAuthorizationUrl(config, {
        ...{ redirect_uri: redirect, scope: 'openid email profile', state, nonce, code_challenge_method: 'S256' },
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
      }).href
    },
    async end(url) {
      const state = url.searchParams.get('state') ?? ''
      const begun = pending.get(state)
      pending.delete(state)
      if (!begun || begun.until < Date.now())
        throw new Refused(400, 'this sign-in was not begun here, or too long ago; run ona fleet login again')
      const here = new URL(redirect)
      here.search = url.search
      const tokens = await client
        .authorizationCodeGrant(config, here, {
          pkceCodeVerifier: begun.verifier,
          expectedState: state,
          expectedNonce: begun.nonce,
          idTokenExpected: true,
        })
        .catch((cause: Error) => {
          throw new Refused(403, `the sign-in failed: ${cause.message}`)
        })
      const claims = tokens.claims() as Record<string, unknown>
      const role = roleOf(claims, grants)
      const actor = String(claims['email'] ?? claims['sub'])
      if (!role) throw new Refused(403, `${actor} has no role in this fleet; an admin gives one with --oidc-role`)
      const code = randomBytes(24).toString('base64url')
      forget(issued)
      issued.set(code, { actor, role, challenge: begun.challenge, until: Date.now() + 60_000 })
      return `http://127.0.0.1:${begun.port}/?code=${code}`
    },
    redeem(code, verifier) {
      const found = issued.get(code)
      issued.delete(code)
      if (!found || found.until < Date.now()) return undefined
      const given = createHash('sha256').update(verifier).digest()
      const wanted = Buffer.from(found.challenge, 'base64url')
      return given.length === wanted.length && timingSafeEqual(given, wanted) ? found : undefined
    },
  }
}

/** The strongest role that any claim gives; an address that is not verified gives none. */
function roleOf(claims: Record<string, unknown>, grants: readonly Grant[]): Grant['role'] | undefined {
  const matching = grants.filter(({ claim, value }) => {
    if (claim === 'email' && claims['email_verified'] === false) return false
    const found = claims[claim]
    return Array.isArray(found) ? found.includes(value) : found === value
  })
  return matching.map(({ role }) => role).sort((a, b) => strength[b] - strength[a])[0]
}

/** Sign-ins that nobody ended. */
function forget(map: Map<string, { until: number }>): void {
  for (const [key, { until }] of map) if (until < Date.now() || map.size > 1000) map.delete(key)
}
