/** MCP servers as files and flags declare them: read, expanded and made one list. */
import { join, resolve } from 'node:path'
import { readPlainFile } from '../files/plain-file.ts'
import { credentialPointers, credentialVariables } from '../hooks/secrets/secret-names.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'

export type ServerStatus = 'pending' | 'connected' | 'failed' | 'needs-auth' | 'closed'

export type ServerScope = 'flag' | 'local' | 'project' | 'user' | 'managed'

export interface ServerConfig {
  readonly name: string
  readonly scope: ServerScope
  readonly transport: StdioTransport | HttpTransport | HostTransport
  /** Its command or address as it is written: what stands for a variable may be a secret. */
  readonly written?: string
  /** Its tools are sent to the model from the start, however many there are. */
  readonly alwaysLoad: boolean
}

export interface StdioTransport {
  readonly type: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  /** It runs in the sandbox of the session, or not at all. */
  readonly sandbox?: true
}

export interface HttpTransport {
  readonly type: 'http' | 'sse'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** A command that prints more headers as a JSON object. */
  readonly headersHelper?: string
  readonly oauth?: OAuthSettings
}

/** A server in the process that drives ona; never read from a file. */
export interface HostTransport {
  readonly type: 'sdk'
  /** Opens a transport of the MCP library. */
  connect(): unknown
}

export interface OAuthSettings {
  readonly clientId?: string
  readonly clientSecret?: string
  readonly callbackPort?: number
  /** Where the authorization server describes itself, when it is not found from the server. */
  readonly authServerMetadataUrl?: string
  /** The https address of a document that describes the client; servers that support it need no registration. */
  readonly clientMetadataUrl?: string
  readonly scope?: string
  /** No user signs in: the client itself does, with its secret or a key. */
  readonly grant?: 'client_credentials'
  /** PEM; `algorithm` is ES256 by default. */
  readonly privateKey?: string
  readonly algorithm?: string
  /** Cross-app access: the company's sign-in vouches for the user. */
  readonly identityProvider?: {
    /** Its issuer; `tokenUrl` where it does not describe itself. */
    readonly url: string
    readonly tokenUrl?: string
    readonly clientId: string
    readonly clientSecret?: string
    readonly idToken: string
  }
  /** For servers of the 2025-03-26 revision whose issuer is not their own address. Weakens a check: off by default. */
  readonly acceptIssuerMismatch?: boolean
}

export interface ServerConfigs {
  readonly servers: readonly ServerConfig[]
  /** Each names the server, what is wrong and where. */
  readonly problems: readonly string[]
}

/** Where servers are declared, the weakest first: a later one of the same name takes the place of the earlier. */
export interface Declared {
  readonly scope: ServerScope
  /** The file or flag, for messages. */
  readonly from: string
  readonly servers: unknown
}

/** The command line or address of a server, with variables filled in. */
export const targetOf = (transport: ServerConfig['transport']): string =>
  transport.type === 'stdio'
    ? [transport.command, ...transport.args].join(' ')
    : transport.type === 'sdk'
      ? 'in the program that drives ona'
      : transport.url

/** Makes one list of all that is declared. A server that cannot be read is left out and reported. */
export function readServers(declared: readonly Declared[], env: NodeJS.ProcessEnv): ServerConfigs {
  const byName = new Map<string, ServerConfig>()
  const problems: string[] = []
  for (const { scope, from, servers } of declared) {
    if (servers === undefined) continue
    if (!isObject(servers)) {
      problems.push(`${from}: mcpServers must be an object of servers by name`)
      continue
    }
    for (const [name, entry] of Object.entries(servers)) {
      const read = readServer(name, entry, scope, env)
      if ('why' in read) problems.push(`${from}: mcpServers.${name} ${read.why}`)
      else byName.set(name, read)
    }
  }
  return { servers: [...byName.values()], problems }
}

/** The project's `.mcp.json`, where there is one. */
export function projectServers(projectDir: string): { declared: readonly Declared[]; problems: readonly string[] } {
  return serversFile(join(projectDir, '.mcp.json'), 'project', true)
}

/** Claude Code's own file in the home: the user's servers, and those for one folder. ona reads it and never writes it. */
export function claudeServers(home: string, projectDir: string, env: NodeJS.ProcessEnv): readonly Declared[] {
  const from = join(env['CLAUDE_CONFIG_DIR'] ?? home, '.claude.json')
  let value: unknown
  try {
    value = JSON.parse(readPlainFile(from))
  } catch {
    return [] // no such file, or one that Claude Code itself would reject
  }
  if (!isObject(value)) return []
  const projects = isObject(value.projects) ? value.projects : {}
  const own = isObject(projects[projectDir]) ? (projects[projectDir] as JsonObject) : {}
  return [
    { scope: 'user', from, servers: value.mcpServers },
    { scope: 'local', from, servers: own.mcpServers },
  ]
}

/** `--mcp-config`: a file, or JSON itself. */
export function flagServers(
  value: string,
  cwd: string,
): { declared: readonly Declared[]; problems: readonly string[] } {
  if (!value.trimStart().startsWith('{')) return serversFile(resolve(cwd, value), 'flag', false)
  return parsed(value, '--mcp-config', 'flag')
}

function serversFile(file: string, scope: ServerScope, mayBeMissing: boolean): ReturnType<typeof projectServers> {
  let text: string
  try {
    text = readPlainFile(file)
  } catch (error) {
    const missing = (error as { code?: string }).code === 'ENOENT'
    if (missing && mayBeMissing) return { declared: [], problems: [] }
    return { declared: [], problems: [`${file} cannot be read: ${(error as Error).message}`] }
  }
  return parsed(text, file, scope)
}

function parsed(text: string, from: string, scope: ServerScope): ReturnType<typeof projectServers> {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value)) return { declared: [], problems: [`${from} must be an object with "mcpServers"`] }
    return { declared: [{ scope, from, servers: value.mcpServers ?? {} }], problems: [] }
  } catch (error) {
    return { declared: [], problems: [`${from} is not JSON: ${(error as Error).message}`] }
  }
}

function readServer(
  name: string,
  entry: unknown,
  scope: ServerScope,
  env: NodeJS.ProcessEnv,
): ServerConfig | { why: string } {
  if (!/[A-Za-z0-9]/.test(name) || name.length > 64)
    return { why: 'has a name without letters or digits, or over 64 long' }
  if (!isObject(entry)) return { why: 'must be an object' }
  const missing = new Set<string>()
  const full = expanded(entry, ownSecretsFor(scope) ? env : without(env, ours), missing) as JsonObject
  const withheld = [...missing].filter((each) => ours.includes(each) && env[each] !== undefined)
  if (withheld.length > 0) {
    return { why: `may not use ${withheld.join(', ')}: ona's own credentials are not handed to a project's servers` }
  }
  if (missing.size > 0) {
    return { why: `needs the environment variable ${[...missing].join(', ')}; set it, or write \${NAME:-default}` }
  }
  const transport = readTransport(full)
  if ('why' in transport) return transport
  const written = [entry.url ?? entry.command, ...(isTexts(entry.args) ? entry.args : [])].join(' ')
  return { name, scope, transport, written, alwaysLoad: full.alwaysLoad === true }
}

function readTransport(entry: JsonObject): ServerConfig['transport'] | { why: string } {
  const type = entry.type ?? (entry.url === undefined ? 'stdio' : 'http')
  if (type === 'stdio') {
    const { command, args = [], env = {}, cwd, sandbox = false } = entry
    if (typeof command !== 'string' || command === '')
      return { why: 'needs a command, or a url for a server over HTTP' }
    if (!isTexts(args)) return { why: 'has args that are not a list of strings' }
    if (!isTextMap(env)) return { why: 'has an env that is not an object of strings' }
    if (cwd !== undefined && typeof cwd !== 'string') return { why: 'has a cwd that is not a string' }
    if (typeof sandbox !== 'boolean') return { why: 'has a sandbox that is neither true nor false' }
    return { type, command, args, env, ...(cwd !== undefined && { cwd }), ...(sandbox && { sandbox }) }
  }
  if (type === 'http' || type === 'streamable-http' || type === 'sse') {
    const { url, headers = {}, headersHelper, oauth } = entry
    if (typeof url !== 'string' || !/^https?:$/.test(protocolOf(url)))
      return { why: 'needs a url that starts with http:// or https://' }
    if (!isTextMap(headers)) return { why: 'has headers that are not an object of strings' }
    if (headersHelper !== undefined && typeof headersHelper !== 'string')
      return { why: 'has a headersHelper that is not a command' }
    const wrong = oauth === undefined ? undefined : oauthProblem(oauth)
    if (wrong) return { why: wrong }
    return {
      type: type === 'sse' ? 'sse' : 'http',
      url,
      headers,
      ...(headersHelper !== undefined && { headersHelper }),
      ...(oauth !== undefined && { oauth: oauth as OAuthSettings }),
    }
  }
  return { why: `has the type ${JSON.stringify(type)}; known: stdio, http, sse` }
}

const oauthKeys = [
  ...['clientId', 'clientSecret', 'callbackPort', 'authServerMetadataUrl', 'clientMetadataUrl', 'scope', 'grant'],
  ...['privateKey', 'algorithm', 'identityProvider', 'acceptIssuerMismatch'],
]

function oauthProblem(oauth: unknown): string | undefined {
  if (!isObject(oauth)) return 'has an oauth that is not an object'
  const { clientId = '', clientSecret = '', callbackPort: port = 0, authServerMetadataUrl: url = 'https://x' } = oauth
  if (typeof clientId !== 'string' || typeof clientSecret !== 'string')
    return 'has an oauth.clientId or oauth.clientSecret that is not a string'
  if (!Number.isInteger(port) || Number(port) < 0 || Number(port) > 65_535)
    return 'has an oauth.callbackPort that is not a port'
  const strange = Object.keys(oauth).find((key) => !oauthKeys.includes(key))
  if (strange) return `has an unknown key oauth.${strange}`
  const { grant, privateKey, identityProvider: idp, clientMetadataUrl: document } = oauth
  if (grant !== undefined && grant !== 'client_credentials') return 'has an oauth.grant that is not client_credentials'
  if (grant && (!clientId || !(clientSecret || privateKey)))
    return 'has oauth.grant client_credentials without clientId and clientSecret or privateKey'
  if (idp !== undefined && !(isObject(idp) && isTexts([idp.url, idp.clientId, idp.idToken])))
    return 'has an oauth.identityProvider without url, clientId or idToken'
  if (document !== undefined && !(typeof document === 'string' && /^https:\/\/[^/]+\/./.test(document)))
    return 'has an oauth.clientMetadataUrl that is not an https address with a path'
  const safe = typeof url === 'string' && /^https:\/\/|^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(url)
  return safe && protocolOf(url) !== '' ? undefined : 'has an oauth.authServerMetadataUrl that is not an https address'
}

/** A repository must not be able to send ona's credentials to a server of its choice. */
const ours = [...credentialVariables, ...credentialPointers]
const ownSecretsFor = (scope: ServerScope): boolean => scope !== 'project'
const without = (env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))

/** `${NAME}` and `${NAME:-default}` in every string. */
function expanded(value: unknown, env: NodeJS.ProcessEnv, missing: Set<string>): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
      const found = env[name]
      if (found !== undefined && (found !== '' || fallback === undefined)) return found
      if (fallback === undefined) missing.add(name)
      return fallback ?? ''
    })
  }
  if (Array.isArray(value)) return value.map((each) => expanded(each, env, missing))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expanded(each, env, missing)]))
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')
const isTextMap = (value: unknown): value is Record<string, string> => isObject(value) && isTexts(Object.values(value))

function protocolOf(url: string): string {
  try {
    return new URL(url).protocol
  } catch {
    return ''
  }
}
