/**
 * Signing without a key of one's own: Sigstore gives a certificate for the identity of a CI job or a user, and keeps the
 * signature in a public log. Needs a network to sign; verifying is offline where the trusted root is at hand.
 */
import { bundleFromJSON } from '@sigstore/bundle'
import { TrustedRoot } from '@sigstore/protobuf-specs'
import { getTrustedRoot } from '@sigstore/tuf'
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify'
import { attest } from 'sigstore'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { type Opened, openStatement, payloadType } from './attestation.ts'

/** As GitHub Actions provides it, or `SIGSTORE_ID_TOKEN`; other servers than the public ones by the other variables. */
export async function sigstoreBundle(statement: Buffer, env: NodeJS.ProcessEnv): Promise<object> {
  const { SIGSTORE_ID_TOKEN: identityToken, SIGSTORE_FULCIO_URL: fulcioURL, SIGSTORE_REKOR_URL: rekorURL } = env
  return await attest(statement, payloadType, {
    ...(identityToken && { identityToken }),
    ...(fulcioURL && { fulcioURL }),
    ...(rekorURL && { rekorURL }),
  })
}

export interface Expected {
  /** Whom the certificate must name: an address, or the URL of a workflow. */
  readonly identity: string
  /** Who vouched for it, such as https://token.actions.githubusercontent.com. */
  readonly issuer: string
  /** The trusted root as JSON; without it the public one is fetched. */
  readonly trustedRoot?: string
}

/** Must not throw, whatever the file holds. */
export async function openBundle(bundle: JsonObject, { identity, issuer, trustedRoot }: Expected): Promise<Opened> {
  try {
    const root = trustedRoot === undefined ? await getTrustedRoot() : TrustedRoot.fromJSON(JSON.parse(trustedRoot))
    const verifier = new Verifier(toTrustMaterial(root), { tlogThreshold: 1, ctlogThreshold: 1 })
    verifier.verify(toSignedEntity(bundleFromJSON(bundle as never)), {
      subjectAlternativeName: exactly(identity),
      extensions: { issuer },
    })
  } catch (cause) {
    return { ok: false, why: `Sigstore: ${(cause as Error).message}` }
  }
  const envelope = isObject(bundle['dsseEnvelope']) ? bundle['dsseEnvelope'] : {}
  if (envelope['payloadType'] !== payloadType) return { ok: false, why: 'it holds no in-toto statement' }
  return openStatement(Buffer.from(String(envelope['payload']), 'base64'))
}

/** The verifier takes a regular expression: only the whole name will do. */
const exactly = (name: string): string => `^${name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`
