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
    /** Managed settings: paths that anybody else opens do not count. */
    readonly allowManagedReadPathsOnly?: boolean
  }
  readonly network?: {
    readonly allowedDomains?: readonly string[]
    readonly deniedDomains?: readonly string[]
    readonly allowUnixSockets?: readonly string[]
    readonly allowAllUnixSockets?: boolean
    readonly allowLocalBinding?: boolean
    /** Managed settings: hosts that anybody else allows do not count. */
    readonly allowManagedDomainsOnly?: boolean
  }
}

const known: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...['enabled', 'failIfUnavailable', 'autoAllowBashIfSandboxed', 'excludedCommands', 'allowUnsandboxedCommands'],
    ...['filesystem', 'network'],
  ],
  'filesystem.': ['allowWrite', 'denyWrite', 'denyRead', 'allowRead', 'allowManagedReadPathsOnly'],
  'network.': [
    ...['allowedDomains', 'deniedDomains', 'allowUnixSockets', 'allowAllUnixSockets', 'allowLocalBinding'],
    'allowManagedDomainsOnly',
  ],
}

/** Keys of the reference that ona leaves alone on purpose. */
const unsupported: Readonly<Record<string, string>> = {
  'network.httpProxyPort': "ona's own proxy is the only way out; name hosts in network.allowedDomains",
  'network.socksProxyPort': "ona's own proxy is the only way out; name hosts in network.allowedDomains",
  'network.allowMachLookup': 'it is a matter of macOS',
  enableWeakerNestedSandbox: 'ona makes no weaker sandbox; where none can be made, failIfUnavailable decides',
  enableWeakerNetworkIsolation: 'ona makes no weaker sandbox; name hosts in network.allowedDomains',
  allowNestedUserNamespaces: 'a command cannot make namespaces; name it in excludedCommands',
  ignoreViolations: 'what a command ran into is always reported',
  credentials: 'the home is not there, and variables with credentials are removed; name files in filesystem.denyRead',
  ripgrep: 'ona searches by itself',
  bwrapPath: 'bubblewrap is looked for in the folders of the system and on the PATH',
  socatPath: 'socat is not needed',
  'filesystem.disabled': 'the files are always part of it',
}

/** Settings that have no effect here: `sandbox.network.httpProxyPort is not supported: …`. */
export function ignoredKeys(settings: SandboxSettings): string[] {
  const parts = Object.keys(known).flatMap((prefix) => {
    const part = prefix === '' ? settings : settings[prefix.slice(0, -1) as 'filesystem' | 'network']
    return Object.keys(part ?? {})
      .filter((key) => !known[prefix]!.includes(key))
      .map((key) => `${prefix}${key}`)
  })
  return parts.map((key) =>
    Object.hasOwn(unsupported, key)
      ? `sandbox.${key} is not supported and has no effect: ${unsupported[key]}`
      : `sandbox.${key} is an unknown key and has no effect`,
  )
}
