/** What a hub needs from whoever opens it. Apart from the entries: the SDK's types lead here, and must not lead to the protocol's. */
import type { Wrap } from '../sandbox/wrap.ts'
import type { Db } from '../store/open.ts'
import type { ServerPolicy } from './approval.ts'
import type { ServerConfig } from './config.ts'
import type { Elicitation, ElicitationAnswer } from './elicit.ts'
import type { Sampled, Sampling } from './sampling.ts'
import type { SecretStore } from './secrets.ts'

export interface HubDeps {
  readonly env: NodeJS.ProcessEnv
  /** For servers that ask for a sandbox. */
  readonly wrap?: Wrap
  readonly projectDir: string
  readonly home: string
  readonly version: string
  readonly policy: ServerPolicy
  /** Where the lists of earlier connections are kept; without it every start waits for the servers. */
  readonly db?: Db
  /** Folders that servers may work in, the project first. */
  roots?(): readonly string[]
  /** Asks the user about a server that the project brings; undefined: nobody is there, ask another time. */
  approve?(server: ServerConfig): Promise<boolean | undefined>
  elicit?(asked: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>
  /** A reply of the model for a server that asks for one; without it servers cannot ask. */
  sample?(asked: Sampling, signal: AbortSignal): Promise<Sampled>
  readonly secrets?: SecretStore
  /** Shows a page to the user, for signing in. */
  openUrl?(url: string): void | Promise<void>
  readonly backOffMs?: readonly number[]
}
