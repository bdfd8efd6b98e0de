/** How the dispatcher talks to a host: how to recognise it, how it reads an answer, where a hook is registered. */

export type Json = Record<string, unknown>

export interface Wire {
  /** Ignores unknown keys, so that the dispatcher's own contract can be sent beside the host's keys. */
  readonly ignoresUnknownKeys: boolean
  /** Reads the decision, its reason, the context and new input at the top level as well. */
  readonly readsTopLevel: boolean
  /** Whether an event is this host's, by what is in it and in the environment. */
  isSender(raw: Json, env: NodeJS.ProcessEnv): boolean
  /** The host's own names for events, where they differ from Claude Code's by more than the case of the first letter. */
  readonly eventNames?: Readonly<Record<string, string>>
}

export interface Registration {
  /** The file that holds the dispatcher's hooks, from the root of the repository. */
  readonly file: string
  /** Keys that the file must have beside the hooks. */
  readonly skeleton?: Json
  /** The entry under an event's name. */
  entry(event: string, timeoutSeconds: number): Json
}
