/** The `sandbox` settings as the rest of this folder uses them. Their check and schema are with the other settings. */

export interface SandboxSettings {
  readonly enabled?: boolean
  readonly failIfUnavailable?: boolean
  readonly autoAllowBashIfSandboxed?: boolean
  readonly excludedCommands?: readonly string[]
  readonly allowUnsandboxedCommands?: boolean
  readonly filesystem?: {
    readonly allowWrite?: readonly string[]
    readonly denyWrite?: readonly string[]
    readonly denyRead?: readonly string[]
    readonly allowRead?: readonly string[]
  }
  readonly network?: {
    readonly allowedDomains?: readonly string[]
    readonly deniedDomains?: readonly string[]
    readonly allowUnixSockets?: readonly string[]
    readonly allowAllUnixSockets?: boolean
    readonly allowLocalBinding?: boolean
  }
}
