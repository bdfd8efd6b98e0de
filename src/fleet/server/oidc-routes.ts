/** The addresses of a sign-in with OpenID Connect. */
import type { Oidc } from './oidc.ts'
import { type Answer, field, jsonOf, Refused } from './request.ts'
import { forAnyone, ok, type Route } from './route.ts'
import { addToken, logAccess } from './user-access.ts'

const needed = (oidc: Oidc | undefined): Oidc => {
  if (!oidc)
    throw new Refused(404, 'this service has no OpenID Connect; use a token: ona fleet login URL --token TOKEN')
  return oidc
}

const redirectTo = (location: string): Answer => ({ status: 302, headers: { location }, text: '', type: 'text/plain' })

export const oidcRoutes: readonly Route[] = [
  forAnyone('GET /login', async ({ oidc }, { url }) => {
    const port = Number(url.searchParams.get('port'))
    const challenge = url.searchParams.get('challenge') ?? ''
    if (!Number.isInteger(port) || port < 1024 || port > 65_535 || !/^[\w-]{43}$/.test(challenge))
      throw new Refused(400, 'begin with ona fleet login')
    return redirectTo(await needed(oidc).begin(port, challenge))
  }),
  forAnyone('GET /login/callback', async ({ oidc }, { url }) => redirectTo(await needed(oidc).end(url))),
  forAnyone('POST /v1/login', async ({ oidc, fleet }, asked) => {
    const body = await jsonOf(asked)
    const found = needed(oidc).redeem(field.text(body, 'code', 100), field.text(body, 'verifier', 200))
    if (!found) throw new Refused(403, 'the code is unknown, used or expired; run ona fleet login again')
    const { actor, role } = found
    const token = await fleet.as('service', undefined, async (sql) => {
      await logAccess(sql, { actor, role, action: 'sign in', address: asked.address })
      return addToken(sql, { actor, role, via: 'oidc', hours: 12, by: 'OpenID Connect' })
    })
    return ok({ token, actor, role })
  }),
]
