/** The MCP servers of a session: which there are, and how they reach the user and the hooks. */
import { join } from 'node:path'
import { visible } from '../../hooks/text/visible.ts'
import type { ServerPolicy } from '../../mcp/approval.ts'
import {
  claudeServers,
  type Declared,
  flagServers,
  projectServers,
  readServers,
  type ServerConfig,
  targetOf,
} from '../../mcp/config.ts'
import { connectServers, type McpHub } from '../../mcp/hub.ts'
import { version } from '../../package-root.ts'
import type { Wrap } from '../../sandbox/wrap.ts'
import type { Db } from '../../store/open.ts'
import type { Settings } from '../../store/settings/settings-shape.ts'
import type { User } from '../events.ts'
import type { ServerOwner } from './runtime.ts'

export interface McpRequest {
  readonly settings: Settings
  readonly trusted: boolean
  readonly cwd: string
  readonly home: string
  readonly db: Db
  readonly env: NodeJS.ProcessEnv
  readonly user: User
  /** `--mcp-config`, `--strict-mcp-config`, `--bare`. */
  readonly flags: readonly string[]
  readonly strict: boolean
  readonly bare: boolean
  /** `--setting-sources`; all by default. */
  readonly sources?: readonly string[] | undefined
  session(): ServerOwner | undefined
  openUrl?(url: string): void | Promise<void>
  /** For servers that ask for a sandbox. */
  readonly wrap?: Wrap
}

export interface Declaration {
  readonly servers: readonly ServerConfig[]
  readonly problems: readonly string[]
}

/** Flags over the user's settings over the project's file; nothing of a folder that nobody has trusted. */
export function declaredServers({
  settings,
  trusted,
  cwd,
  home,
  env,
  flags,
  strict,
  bare,
  sources,
}: McpRequest): Declaration {
  const given = flags.map((flag) => flagServers(flag, cwd))
  const project = strict || bare ? { declared: [], problems: [] } : projectOf(cwd, trusted)
  const own: Declared[] = strict || bare ? [] : [{ scope: 'user', from: 'settings', servers: settings.mcpServers }]
  const claude = strict || bare || sources?.includes('user') === false ? [] : claudeServers(home, cwd, env)
  const declared = [...claude, ...project.declared, ...own, ...given.flatMap((each) => each.declared)]
  const { servers, problems } = readServers(declared, env)
  return { servers, problems: [...project.problems, ...given.flatMap((each) => each.problems), ...problems] }
}

function projectOf(cwd: string, trusted: boolean): ReturnType<typeof projectServers> {
  const found = projectServers(cwd)
  if (trusted || found.declared.length === 0) return found
  const why = `${join(cwd, '.mcp.json')}: this folder is not trusted, so its MCP servers are not started; ona --trust trusts it`
  return { declared: [], problems: [why] }
}

/** Starts them beside the session; undefined where there are none. */
export function openMcp(request: McpRequest, { servers }: Declaration, evenIfNone = false): McpHub | undefined {
  if (servers.length === 0 && !evenIfNone) return undefined
  const { settings, cwd, home, db, env, user } = request
  return connectServers(servers, {
    env,
    db,
    projectDir: cwd,
    home,
    version: version(),
    policy: settings as ServerPolicy,
    roots: () => [...(request.session()?.workingDirectories ?? [cwd])],
    approve: (server) => approve(server, user),
    async elicit(asked, signal) {
      const session = request.session()
      if (!session) return { action: 'cancel' }
      const { elicit } = await import('../../mcp/elicit.ts')
      const { plane } = session.runtime
      const fields = { message: `${asked.server} asks: ${asked.message}`, notification_type: 'elicitation_dialog' }
      const answer = await elicit(asked, {
        plane,
        scope: session.scope(undefined, signal),
        async ask() {
          await session.raise('Notification', () => fields, signal)
          return user.elicit(asked, signal)
        },
      })
      return answer
    },
    async sample(asked, signal) {
      const session = request.session()
      if (!session) return { ok: false, why: 'there is no session' }
      return (await import('./sample.ts')).sample(session, asked, signal)
    },
    secrets: lazySecrets(env),
    ...(request.wrap && { wrap: request.wrap }),
    ...(request.openUrl && { openUrl: request.openUrl }),
  })
}

async function approve({ name, transport }: ServerConfig, user: User): Promise<boolean | undefined> {
  const what = targetOf(transport)
  const question = `This project's .mcp.json brings the MCP server "${visible(name)}": ${visible(what)}. Start it?`
  const options = [
    { label: 'Start it', description: 'Now and from now on, as long as it is declared like this.' },
    { label: 'Do not start it', description: 'ona mcp reset-project-choices asks again.' },
  ]
  const answers = await user.questions(
    [{ question, header: 'MCP server', options, multiSelect: false, closed: true }],
    new AbortController().signal,
  )
  const answer = answers?.[question]
  return answer === 'Start it' ? true : answer === 'Do not start it' ? false : undefined
}

/** The keychain's library is loaded when a server over HTTP wants a token. */
function lazySecrets(env: NodeJS.ProcessEnv) {
  const store = async () => (await import('../../mcp/secrets.ts')).secretStore(env)
  return {
    read: async (key: string) => (await store()).read(key),
    write: async (key: string, value: string) => (await store()).write(key, value),
    remove: async (key: string) => (await store()).remove(key),
  }
}
