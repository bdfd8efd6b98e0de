/** What nodes and the service say to each other: limits, shapes and signatures. */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'

export const limits = {
  /** Bytes of a request as sent, and when inflated. */
  bodyBytes: 8 * 1024 * 1024,
  inflatedBytes: 48 * 1024 * 1024,
  links: 2000,
  rows: 5000,
  /** The content of a longer row stays on its node. */
  rowBytes: 1024 * 1024,
  bundleBytes: 4 * 1024 * 1024,
  /** How far the clocks of a node and the service may be apart. */
  skewMs: 5 * 60_000,
} as const

/** A link of a node's chain. Hashes and digests are base64. */
export interface WireLink {
  readonly id: number
  readonly session: string
  readonly rows: string
  readonly sessionHash: string
  readonly hash: string
}

/**
 * A row: its table by number, its id, the text that its digest is of, and what was done to the text. `exact`: nothing.
 * `redacted`: secrets were replaced. `erased`: its content was erased on the node. `omitted`: it is too long.
 */
export type WireRow = readonly [table: number, id: number, text: string, state: RowState]
export const rowStates = ['exact', 'redacted', 'erased', 'omitted'] as const
export type RowState = (typeof rowStates)[number]

export interface WireSession {
  readonly id: string
  readonly conversation: string
  readonly startedAt: string
  readonly parent: string | null
  readonly agentId: string | null
  readonly agentType: string | null
  readonly importedFrom: string | null
}

export interface WireConversation {
  readonly id: string
  readonly projectDir: string
  readonly title: string
  readonly phase: string
  readonly createdAt: string
  readonly lastActive: string
}

export interface Batch {
  readonly database: string
  readonly epoch: number
  /** The end of the chain on the node. */
  readonly end: { readonly id: number; readonly hash: string }
  /** The node saw that its chain ends before what the service has; two processes of a node may differ by what they saw. */
  readonly cut: boolean
  readonly links: readonly WireLink[]
  readonly rows: readonly WireRow[]
  /** The last link has more rows, which come with the next batches. */
  readonly more: boolean
  readonly sessions: readonly WireSession[]
  readonly conversations: readonly WireConversation[]
}

export interface Cursor {
  readonly epoch: number
  readonly last: number
  readonly head: string
}

const signedText = (method: string, path: string, time: string, nonce: string, body: Uint8Array): Buffer =>
  Buffer.from(
    `ona fleet 1\n${method}\n${path}\n${time}\n${nonce}\n${createHash('sha256').update(body).digest('hex')}\n`,
  )

export interface Signed {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly time: string
  readonly nonce: string
  readonly body: Uint8Array
}

export const signRequest = (privatePem: string, { method, path, time, nonce, body }: Signed): string =>
  sign(null, signedText(method, path, time, nonce, body), createPrivateKey(privatePem)).toString('base64')

/** Must not throw on what a request holds. */
export function isSigned(publicPem: string, request: Signed, signature: string): boolean {
  const { method, path, time, nonce, body } = request
  try {
    return verify(
      null,
      signedText(method, path, time, nonce, body),
      createPublicKey(publicPem),
      Buffer.from(signature, 'base64'),
    )
  } catch {
    return false
  }
}

export const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest()
