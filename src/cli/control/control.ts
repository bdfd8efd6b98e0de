/** What a control request is answered from, and with. */
import type { Session } from '../../agent/session/session.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import type { HostServers } from './host-servers.ts'
import type { Pipe } from './pipe.ts'

export interface Host {
  readonly session: Session
  readonly pipe: Pipe
  readonly servers: HostServers
  /** The mode bypassPermissions may be chosen while the session runs. */
  readonly mayBypass: boolean
  stamp(): { uuid: string; session_id: string }
  /** Puts files back to where they were when a prompt came in. */
  rewind(messageId: string, dryRun: boolean): JsonObject
}

export type Answer = JsonObject | { readonly error: string }
export type Control = (host: Host, request: JsonObject) => Promise<Answer> | Answer
