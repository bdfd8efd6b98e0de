/** An in-toto statement about a piece of work, in a DSSE envelope: what was planned, tested and signed off, for which commits. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { isSignedBy, keyIdOf, type Signer } from './keys.ts'

export const statementType = 'https://in-toto.io/Statement/v1'
export const predicateType = 'urn:ona:attestation:v1'
export const payloadType = 'application/vnd.in-toto+json'

export interface Predicate {
  readonly conversation: string
  readonly range: { readonly from: string | null; readonly to: string; readonly commits: readonly string[] }
  readonly plan: {
    readonly hash: string
    readonly approvedAt: string | null
    readonly approvedBy: string | null
  } | null
  readonly criteria: readonly {
    readonly id: string
    readonly text: string
    readonly cases: readonly AttestedCase[]
  }[]
  readonly coverage: {
    readonly cases: number
    readonly passed: number
    readonly ready: boolean
    readonly missing: string | null
  }
  readonly signOff: { readonly by: string; readonly at: string } | null
  readonly policy: { readonly sha256: string }
  readonly models: readonly string[]
  readonly chain: { readonly link: number; readonly head: string }
  readonly createdAt: string
}

/** A test case that was written from the criterion, without sight of the code. */
export interface AttestedCase {
  readonly name: string
  readonly state: string
  readonly exitCode: number | null
  readonly ranAt: string | null
  readonly scriptSha256: string
  readonly blind: true
}

export interface Envelope {
  readonly payloadType: string
  readonly payload: string
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[]
}

/** The bytes that are signed. */
export const statementOf = (predicate: Predicate, repository: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      _type: statementType,
      subject: [{ name: repository, digest: { gitCommit: predicate.range.to } }],
      predicateType,
      predicate,
    }),
  )

export function envelope(payload: Buffer, signer: Signer): Envelope {
  const signature = signer.sign(preAuthentication(payload)).toString('base64')
  return { payloadType, payload: payload.toString('base64'), signatures: [{ keyid: signer.keyId, sig: signature }] }
}

/** DSSE's pre-authentication encoding: what is signed binds the type to the payload. */
const preAuthentication = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload])

export type Opened =
  | { readonly ok: true; readonly predicate: Predicate; readonly commit: string }
  | { readonly ok: false; readonly why: string }

/** Checks the signature, then reads the statement. Must not throw, whatever the file holds. */
export function openEnvelope(found: JsonObject, publicPem: string): Opened {
  const no = (why: string): Opened => ({ ok: false, why })
  const [signature] = Array.isArray(found['signatures']) ? found['signatures'].filter(isObject) : []
  if (found['payloadType'] !== payloadType || typeof found['payload'] !== 'string' || !signature)
    return no('it is no DSSE envelope with an in-toto statement')
  let keyId: string
  try {
    keyId = keyIdOf(publicPem)
  } catch {
    return no('the key is no public key in PEM')
  }
  if (signature['keyid'] !== keyId)
    return no(`it was signed with another key (${String(signature['keyid']).slice(0, 16)})`)
  const payload = Buffer.from(found['payload'], 'base64')
  if (!isSignedBy(publicPem, preAuthentication(payload), String(signature['sig'])))
    return no('the signature does not match: it was changed')
  return openStatement(payload)
}

/** Reads a statement whose signature holds. */
export function openStatement(payload: Buffer): Opened {
  const no = (why: string): Opened => ({ ok: false, why })
  const statement = parsed(payload.toString('utf8'))
  const [subject] = Array.isArray(statement['subject']) ? statement['subject'].filter(isObject) : []
  const commit = isObject(subject?.['digest']) ? subject['digest']['gitCommit'] : undefined
  const { predicate } = statement
  if (statement['predicateType'] !== predicateType || !isObject(predicate) || typeof commit !== 'string')
    return no(`it holds no statement of type ${predicateType}`)
  return { ok: true, predicate: predicate as unknown as Predicate, commit }
}

export function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
