/** Signing in without a user: a client's own secret or key, or an identity that the company's sign-in vouches for. */
import {
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client'
import { keepOut } from '../store/secrets.ts'
import type { OAuthSettings } from './config.ts'

/** Undefined where a user signs in with a browser. */
export function machineLogin(oauth: OAuthSettings): OAuthClientProvider | undefined {
  const { grant, clientId = '', clientSecret = '', privateKey, algorithm = 'ES256', scope, identityProvider } = oauth
  for (const secret of [clientSecret, privateKey, identityProvider?.clientSecret, identityProvider?.idToken])
    if (secret) keepOut(secret)
  const shared = { clientId, clientName: 'ona', ...(scope && { scope }) }
  if (identityProvider) return crossApp({ clientId, clientSecret }, identityProvider)
  if (grant !== 'client_credentials') return undefined
  return privateKey
    ? new PrivateKeyJwtProvider({ ...shared, privateKey, algorithm })
    : new ClientCredentialsProvider({ ...shared, clientSecret })
}

/** The identity provider exchanges the user's ID token for a grant, which the server's authorization server accepts. */
function crossApp(
  client: { readonly clientId: string; readonly clientSecret: string },
  { url, tokenUrl, clientId, clientSecret, idToken }: NonNullable<OAuthSettings['identityProvider']>,
): OAuthClientProvider {
  return new CrossAppAccessProvider({
    ...client,
    clientName: 'ona',
    assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
      const exchange = {
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken,
        clientId,
        ...(clientSecret && { clientSecret }),
        ...(scope && { scope }),
        fetchFn,
      }
      const granted = tokenUrl
        ? await requestJwtAuthorizationGrant({ ...exchange, tokenEndpoint: tokenUrl })
        : await discoverAndRequestJwtAuthGrant({ ...exchange, idpUrl: url })
      return granted.jwtAuthGrant
    },
  })
}
