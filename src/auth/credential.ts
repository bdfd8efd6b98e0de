/** A credential in use: where it came from, and the secret only when a request is about to be sent. */

export type CredentialClass = 'api_key' | 'auth_token' | 'api_key_helper' | 'oauth' | 'proxy' | 'local'

/** Secrets live in closures, so that no dump, log or JSON of a credential holds one. */
export interface Credential {
  readonly class: CredentialClass
  /** `ANTHROPIC_API_KEY`, `apiKeyHelper`, `login`. */
  readonly source: string
  /** The message for users when the server rejects it. */
  readonly whenRefused: string
  /** What to send with the next request; renewed first when it is near its end. */
  now(signal: AbortSignal): Promise<Secret | CredentialProblem>
  /** The server answered 401: true when there is something newer to try. */
  renew(signal: AbortSignal): Promise<boolean>
}

export interface Secret {
  /** Sent as `x-api-key`. */
  readonly key?: string
  /** Sent as `Authorization: Bearer`. */
  readonly bearer?: string
  /** Sent as `anthropic-beta`. */
  readonly beta?: string
}

/** For users; never holds a secret. */
export interface CredentialProblem {
  readonly problem: string
}

/** A secret that stays as it is for the whole session. */
export function fixed(
  about: { class: CredentialClass; source: string; whenRefused: string },
  secret: Secret,
): Credential {
  return { ...about, now: async () => secret, renew: async () => false }
}

/** Enough to tell two keys apart, and no more; of a short one nothing. */
export const lastFour = (secret: string): string => (secret.length >= 12 ? `…${secret.slice(-4)}` : '…')
