/**
 * What a sandboxed command may read, write and reach: one pure function from settings and rules. Nothing is looked up
 * here; `mounts/plan.ts` holds the profile against the files that are there.
 */
import { dirname, join, normalize } from 'node:path'
import { isWithin, type PathPattern, pathPattern } from '../permissions/paths/pattern.ts'
import { type ProtectedPath, protectedPaths, sessionProtectedPaths } from '../permissions/protected-paths.ts'
import type { PermissionSettings } from '../permissions/question.ts'
import { rulesOf } from '../permissions/rules/rules.ts'
import { ignoredKeys, type SandboxSettings } from './settings.ts'

export interface ProfileRequest {
  readonly sandbox: SandboxSettings
  readonly permissions: PermissionSettings
  readonly projectDir: string
  /** Where the command runs: rules written relative to it hold from here up to the project. */
  readonly cwd: string
  readonly home: string
  /** The SQLite file that holds the record. */
  readonly database?: string
  /** The user answered a prompt for this command: ask rules on files no longer stand in its way. */
  readonly approved?: boolean
  /** What only the session protects: files that hooks run. */
  readonly protect?: readonly ProtectedPath[]
  /** There is a user who can be prompted for a host while a command waits. */
  readonly asks?: boolean
}

/** A path or pattern, and the setting or rule that it comes from. */
export interface Named {
  readonly why: string
}
export interface NamedPath extends Named {
  readonly path: string
}
export interface NamedPattern extends Named {
  readonly pattern: PathPattern
  /** Where the pattern starts. */
  readonly from: readonly string[]
  /** Set when the pattern has no wildcard: the paths that it means. */
  readonly paths?: readonly string[]
  /** Folders that it covers with all that is below: held shut also while they are missing. */
  readonly folders?: readonly string[]
  /** From a permission rule: `allowRead` does not open it again. */
  readonly firm?: true
  /** A folder that is there, and empty except for what is opened in it: a program can stand in it. */
  readonly empty?: true
}

export interface Profile {
  /** Folders and files that a command may write, with all that is below. */
  readonly write: readonly NamedPath[]
  /** Below `write`, but read-only. */
  readonly noWrite: readonly NamedPattern[]
  /** Not readable, and therefore not writable. */
  readonly noRead: readonly NamedPattern[]
  /** Whether files that usually hold secrets are unreadable inside the working directories. */
  readonly hideSecrets: boolean
  /** Readable although `hidden` or `filesystem.denyRead` says otherwise; never what a rule denies. */
  readonly read: readonly NamedPath[]
  /** Names that are read-only below every writable folder, and cannot be created there. */
  readonly protect: readonly ProtectedPath[]
  readonly network: NetworkProfile
  /** Settings of the sandbox that have no effect here, each with the reason. */
  readonly ignored: readonly string[]
  /** What a profile cannot express: such a command is prompted for, although it is sandboxed. */
  readonly prompts: readonly string[]
}

export interface NetworkProfile {
  readonly allowed: readonly NamedHost[]
  readonly denied: readonly NamedHost[]
  readonly unixSockets: readonly NamedPath[]
  readonly allUnixSockets: boolean
  readonly localBinding: boolean
  /** The user is prompted for a host that no list mentions. */
  readonly asks: boolean
}
export interface NamedHost extends Named {
  /** `example.com`, `*.example.com` or `*`. */
  readonly host: string
}

export function profileOf(request: ProfileRequest): Profile {
  const { sandbox, permissions, projectDir, database } = request
  const { filesystem = {}, network = {} } = sandbox
  const rules = rulesOf(permissions)
  const managedHosts = network.allowManagedDomainsOnly === true
  const firm = true as const
  const prompts: string[] = []
  const write: NamedPath[] = [
    { path: projectDir, why: 'the project' },
    ...pathsOf(permissions.additionalDirectories, 'permissions.additionalDirectories', request),
    ...pathsOf(filesystem.allowWrite, 'sandbox.filesystem.allowWrite', request),
  ]
  const noWrite = patternsOf(filesystem.denyWrite, 'sandbox.filesystem.denyWrite', request)
  const noRead = patternsOf(filesystem.denyRead, 'sandbox.filesystem.denyRead', request)
  const denied = hostsOf(network.deniedDomains, 'sandbox.network.deniedDomains')
  for (const behavior of ['deny', 'ask'] as const) {
    for (const { tool, specifier, text } of rules[behavior]) {
      const why = `the ${behavior} rule "${text}"`
      if (behavior === 'ask' && request.approved && tool !== 'WebFetch') continue
      const into = tool === 'Read' ? noRead : tool === 'Edit' || tool === 'Write' ? noWrite : undefined
      if (into && specifier.kind === 'path') into.push({ ...placed(specifier.pattern, text, request), firm, why })
      else if (into && specifier.kind === 'any' && behavior === 'ask') prompts.push(`${why} covers every file`)
      else if (into && specifier.kind === 'any')
        into.push(...write.map(({ path }) => ({ ...literal(path), firm, why })))
      else if (tool === 'WebFetch' && specifier.kind === 'domain') denied.push({ host: specifier.host, why })
      else if (tool === 'WebFetch' && specifier.kind === 'any' && behavior === 'deny') denied.push({ host: '*', why })
    }
  }

  return {
    write,
    noWrite,
    noRead,
    hideSecrets: request.approved !== true,
    read: pathsOf(filesystem.allowRead, 'sandbox.filesystem.allowRead', request),
    protect: [...sessionProtectedPaths({ database }), ...(request.protect ?? []), ...protectedPaths].filter(isFenced),
    network: {
      allowed: [
        ...hostsOf(network.allowedDomains, 'sandbox.network.allowedDomains'),
        ...rules.allow.flatMap(({ tool, specifier, text }) =>
          !managedHosts && tool === 'WebFetch' && specifier.kind === 'domain'
            ? [{ host: specifier.host, why: `the allow rule "${text}"` }]
            : [],
        ),
      ],
      denied,
      unixSockets: pathsOf(network.allowUnixSockets, 'sandbox.network.allowUnixSockets', request),
      allUnixSockets: network.allowAllUnixSockets === true,
      localBinding: network.allowLocalBinding === true,
      asks: request.asks === true && !managedHosts && !denied.some(({ host }) => host === '*'),
    },
    ignored: ignoredKeys(sandbox),
    prompts,
  }
}

interface Anchors {
  readonly cwd: string
  readonly projectDir: string
  readonly home: string
}

/** Git writes below `.git`, and Yarn below `.yarn`, in ordinary work; what runs programs in `.git` has rows of its own. */
const isFenced = ({ edit, path }: ProtectedPath): boolean => edit !== 'mode' || (path !== '.git' && path !== '.yarn')

const hostsOf = (list: readonly string[] = [], key: string): NamedHost[] =>
  list.map((host) => ({ host: host.toLowerCase().replace(/\.$/, ''), why: `${key} "${host}"` }))

/** In these lists `/x` is absolute, as in the reference; in rules it is the project's. */
function absolute(text: string, { projectDir, home }: Anchors): string {
  if (text === '~' || text.startsWith('~/')) return normalize(join(home, text.slice(1)))
  if (text.startsWith('/')) return normalize(text.replace(/^\/+/, '/'))
  return normalize(join(projectDir, text))
}

const pathsOf = (list: readonly string[] = [], key: string, places: Anchors): NamedPath[] =>
  list.map((text) => ({ path: trimmed(absolute(text, places)), why: `${key} "${text}"` }))

function patternsOf(list: readonly string[] = [], key: string, places: Anchors): NamedPattern[] {
  return list.map((text) => {
    const why = `${key} "${text}"`
    const anyDepth = !/^[~./]/.test(text) && !text.includes('/')
    if (anyDepth) return { pattern: pathPattern(text, false), from: [places.projectDir], why }
    const path = absolute(text.replace(/\/\*\*$/, '/'), places)
    return wild.test(path)
      ? { pattern: pathPattern(`/${absolute(text, places)}`, false), from: ['/'], why }
      : { ...literal(trimmed(path)), why, ...(wholeFolder.test(text) && { folders: [trimmed(path)] }) }
  })
}

/** `dir/` and `dir/**`. */
const wholeFolder = /\/(?:\*\*)?$/
const wild = /[*?[\\]/
const trimmed = (path: string): string => (path === '/' ? path : path.replace(/\/+$/, ''))
/** One path that must not be read. */
export const closedPath = (path: string, why: string): NamedPattern => ({ ...literal(path), why })

const literal = (path: string) => ({ pattern: pathPattern(`/${path}`, false), from: ['/'], paths: [path] })

/** A rule's pattern with the folders that it starts from. `dir/**` means the folder itself. */
function placed(pattern: PathPattern, text: string, { projectDir, cwd, home }: Anchors): Omit<NamedPattern, 'why'> {
  const { anchor } = pattern
  const from =
    anchor === 'root'
      ? ['/']
      : anchor === 'home'
        ? [home]
        : anchor === 'project'
          ? [projectDir]
          : [...upTo(cwd, projectDir)]
  const inside = text.slice(text.indexOf('(') + 1, -1)
  const plain = inside.replace(/\/\*\*$/, '').replace(/^(?:\/\/|~\/|\.?\/|~$)/, '')
  const anyDepth = anchor === 'cwd' && !plain.includes('/') && !inside.startsWith('./')
  if (wild.test(plain)) return { pattern, from }
  const paths = from.map((folder) => trimmed(join(folder, plain)))
  return { pattern, from, ...(!anyDepth && { paths }), ...(wholeFolder.test(inside) && { folders: paths }) }
}

/** A folder and those above it, up to the project. */
function upTo(cwd: string, projectDir: string): string[] {
  const all = [cwd]
  for (let at = cwd; at !== projectDir && isWithin(at, projectDir); all.push(at)) at = dirname(at)
  return all.includes(projectDir) ? all : [...all, projectDir]
}
