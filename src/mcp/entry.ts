import { approvalOf, rememberApproval } from './approval.ts'
import type { ServerConfig, ServerStatus } from './config.ts'
import type { Connection, ConnectionDeps } from './connection.ts'
import type { HubDeps } from './hub-deps.ts'
import { KnownTools, noOffer, type Offer, type ToolsChange } from './known-tools.ts'
import { slugOf } from './names.ts'

export interface Entry {
  readonly slug: string
  readonly config: ServerConfig
  readonly known: KnownTools
  /** Added while the session runs. */
  readonly dynamic?: boolean
  connection?: Connection
  /** The list of an earlier connection stands for it: it may start later. */
  cached?: Offer
  /** Why it is not even started. */
  held?: 'unapproved' | 'disabled'
  problem: string
  /** Its start, once it was asked for. */
  starting?: Promise<void>
}

/** Two names that become one slug would be one server to the model: the second is not started. */
export function entriesOf(servers: readonly ServerConfig[], { projectDir, home, policy, db }: HubDeps): Entry[] {
  const taken = new Map<string, string>()
  return servers.map((config) => {
    const slug = slugOf(config.name)
    const other = taken.get(slug)
    if (other !== undefined) {
      const problem = `its name is too much like that of ${other}; rename one`
      return { slug, config, known: new KnownTools(config, projectDir), held: 'disabled' as const, problem }
    }
    taken.set(slug, config.name)
    const known = new KnownTools(config, projectDir, db)
    const mayStart = known.cached && approvalOf(config, policy, projectDir, home) === 'approved'
    return { slug, config, known, problem: '', ...(mayStart && { cached: known.cached }) }
  })
}

/** What the model is told of the server: what it says now, or the last time as long as it has not answered. */
export const offerOf = ({ connection, cached, held }: Entry): Offer =>
  held ? noOffer : (connection?.offer ?? cached ?? noOffer)

export const statusOf = ({ connection, held }: Entry): ServerStatus | 'unapproved' | 'disabled' =>
  connection?.status ?? held ?? 'pending'

interface Watch {
  changed(): void
  toolsChanged(change: ToolsChange): void
  isClosed(): boolean
}

export async function startEntry(entry: Entry, deps: HubDeps, watch: Watch): Promise<void> {
  if (entry.held) return
  const { config, known } = entry
  const hold = (held: Entry['held'], problem: string) => {
    Object.assign(entry, { held, problem })
    watch.changed()
  }
  let approval = approvalOf(config, deps.policy, deps.projectDir, deps.home)
  if (approval === 'unasked' && deps.approve) {
    const answer = await deps.approve(config)
    if (answer !== undefined) {
      rememberApproval(config, answer, deps.projectDir, deps.home)
      approval = answer ? 'approved' : 'refused'
    }
  }
  if (approval === 'forbidden') return hold('disabled', 'the settings do not allow this server')
  if (approval === 'refused') return hold('disabled', 'you said no to it; ona mcp reset-project-choices asks again')
  if (approval === 'unasked') {
    return hold(
      'unapproved',
      'the project brings it, and you have not approved it; start ona on a terminal, or list it in enabledMcpjsonServers',
    )
  }
  const [{ Connection }, { serverLogin }] = await Promise.all([import('./connection.ts'), import('./oauth.ts')])
  if (watch.isClosed()) return
  const { secrets, openUrl } = deps
  const connection: ConnectionDeps = {
    env: deps.env,
    projectDir: deps.projectDir,
    ...(deps.wrap && { wrap: deps.wrap }),
    roots: deps.roots ?? (() => [deps.projectDir]),
    elicit: deps.elicit ?? (async () => ({ action: 'cancel' as const })),
    ...(deps.sample && { sample: deps.sample }),
    ...(secrets && {
      login: ({ transport }, interactive) =>
        serverLogin(transport as never, secrets, interactive ? openUrl : undefined),
    }),
    ...(entry.cached && { cached: entry.cached }),
    changed() {
      const status = entry.connection?.status
      if (status === 'failed' || status === 'needs-auth') known.unreachable()
      watch.changed()
    },
    offered(offer, identity) {
      if (watch.isClosed()) return
      const change = known.seen(offer, identity)
      if (change) watch.toolsChanged(change)
    },
    version: deps.version,
    startMs: milliseconds(deps.env['MCP_TIMEOUT'], 30_000),
    callMs: milliseconds(deps.env['MCP_TOOL_TIMEOUT'], 120_000),
    backOffMs: deps.backOffMs ?? backOffMs,
  }
  entry.connection = new Connection(config, connection)
}

const backOffMs = [1000, 2000, 4000, 8000, 16_000]

function milliseconds(text: string | undefined, otherwise: number): number {
  const value = Number(text)
  return text !== undefined && Number.isSafeInteger(value) && value > 0 ? value : otherwise
}
