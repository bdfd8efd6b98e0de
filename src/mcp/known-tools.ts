/**
 * What is known of a server's tools from earlier connections: the list, so that the first request need not wait for the
 * server, and a digest of each definition as it was when its use was first allowed.
 */
import type { JsonObject } from '../hooks/shape.ts'
import { visible } from '../hooks/text/visible.ts'
import { sha256 } from '../store/chain/sha256.ts'
import { forgetOffer, knownServers, readKnownServer, writeKnownServer } from '../store/mcp-servers.ts'
import type { Db } from '../store/open.ts'
import { storable } from '../store/secrets.ts'
import type { ServerConfig } from './config.ts'

/** What a server offers, as it says. */
export interface Offer {
  readonly tools: readonly JsonObject[]
  readonly prompts: readonly JsonObject[]
  readonly instructions: string
}

export const noOffer: Offer = { tools: [], prompts: [], instructions: '' }

/** How a list differs from the last one; tools by their own names. */
export interface ToolsChange {
  readonly server: string
  /** Name and version, as the server gives them. */
  readonly before: string
  readonly after: string
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Another description, schema or annotation. */
  readonly changed: readonly string[]
}

export class KnownTools {
  /** The last list, where the last connection succeeded. */
  readonly cached: Offer | undefined
  /** Tools whose definition is not the one that was accepted. Replaced when it changes. */
  unaccepted: ReadonlySet<string> = new Set()
  private readonly config: ServerConfig
  private readonly db: Db | undefined
  private readonly key: string
  private accepted: Record<string, string> = {}
  private digests: Record<string, string> = {}
  private identity = ''
  private stored = ''

  /** Without a database, what is known is known to this process only. */
  constructor(config: ServerConfig, projectDir: string, db?: Db) {
    this.config = config
    this.db = config.transport.type === 'sdk' ? undefined : db
    this.key = this.db ? keyOf(config, projectDir) : ''
    const row = this.db && readKnownServer(this.db, this.key)
    if (!row) return
    this.accepted = JSON.parse(row.accepted)
    this.identity = row.identity
    if (row.offer === null) return
    this.stored = row.offer
    const { digests, ...offer } = JSON.parse(row.offer) as Partial<Offer> & { digests: Record<string, string> }
    if (offer.tools) this.cached = offer as Offer
    this.digests = digests
    this.compare()
  }

  /** A list that the server has just given. The difference to the last one, where there is one to report. */
  seen(offer: Offer, identity: string): ToolsChange | undefined {
    const digests = Object.fromEntries(offer.tools.map((tool) => [nameOf(tool), digestOf(tool)]))
    const isFirst = this.identity === ''
    const before = { ...this.accepted, ...this.digests }
    const names = Object.keys(digests)
    const change: ToolsChange = {
      server: this.config.name,
      before: this.identity,
      after: identity,
      added: names.filter((name) => !Object.hasOwn(before, name)),
      removed: Object.keys(this.digests).filter((name) => !Object.hasOwn(digests, name)),
      changed: names.filter((name) => Object.hasOwn(before, name) && before[name] !== digests[name]),
    }
    const sameIdentity = identity === this.identity
    this.digests = digests
    this.identity = identity
    // a tool that comes back after it was gone is still held to what was accepted of it
    this.accepted = { ...digests, ...this.accepted }
    const text = this.db ? this.storedText(offer) : ''
    if (text === this.stored && sameIdentity) this.compare()
    else {
      this.stored = text
      this.write()
    }
    return !isFirst && change.added.length + change.removed.length + change.changed.length > 0 ? change : undefined
  }

  /** Without the list where that cannot be stored: then the next session waits for the server. */
  private storedText(offer: Offer): string {
    const { digests, config } = this
    const texts = [{ ...offer, digests }, { digests }].map((each) => JSON.stringify(each))
    return texts.find((text) => text.length <= longestOffer && !holdsSecret(text, config)) ?? ''
  }

  /** The user has allowed the tool as it is now. */
  accept(tool: string): void {
    const digest = this.digests[tool]
    if (digest === undefined || this.accepted[tool] === digest) return
    this.write({ [tool]: digest })
  }

  /** It could not be connected: the next session waits for it, and reports. What was accepted stays. */
  unreachable(): void {
    if (this.db && this.stored !== '') forgetOffer(this.db, this.key)
    this.stored = ''
  }

  /** Another process may have accepted something in between. */
  private write(accepted: Record<string, string> = {}): void {
    const { db, key, identity, config } = this
    const merged = (row?: { accepted: string }) => ({
      ...this.accepted,
      ...(row && JSON.parse(row.accepted)),
      ...accepted,
    })
    if (!db) this.accepted = merged()
    db?.transaction(() => {
      this.accepted = merged(readKnownServer(db, key))
      const row = { key, server: config.name, identity: storable(identity), offer: this.stored || null }
      writeKnownServer(db, { ...row, accepted: JSON.stringify(this.accepted) })
    })
    this.compare()
  }

  private compare(): void {
    const names = Object.keys(this.digests).filter((name) => this.accepted[name] !== this.digests[name])
    if (names.join('\0') !== [...this.unaccepted].join('\0')) this.unaccepted = new Set(names)
  }
}

/** Accepts every tool of a server as it was last listed; gives their names. Undefined: no such server was ever connected. */
export function acceptTools(db: Db, server: string): string[] | undefined {
  const rows = knownServers(db, server)
  if (rows.length === 0) return undefined
  const names = rows.flatMap((row) => {
    const { digests } = JSON.parse(row.offer ?? '{"digests":{}}') as { digests: Record<string, string> }
    const accepted = JSON.parse(row.accepted) as Record<string, string>
    const changed = Object.keys(digests).filter((name) => accepted[name] !== digests[name])
    if (changed.length > 0) writeKnownServer(db, { ...row, accepted: JSON.stringify({ ...accepted, ...digests }) })
    return changed.map((name) => visible(name))
  })
  return [...new Set(names)]
}

/** A longer list is not cached. */
const longestOffer = 4 * 1_048_576

/** Whether it repeats a secret that we know, or a value of the declaration that may be one. */
function holdsSecret(text: string, { transport }: ServerConfig): boolean {
  const values =
    transport.type === 'stdio'
      ? Object.values(transport.env)
      : transport.type === 'sdk'
        ? []
        : [transport.url, ...Object.values(transport.headers).map((header) => header.replace(/^\w+ /, ''))]
  const inJson = (value: string) => JSON.stringify(value).slice(1, -1)
  return storable(text) !== text || values.some((value) => value.length >= leastSecret && text.includes(inJson(value)))
}

/** A shorter value would be found in ordinary text by chance. */
const leastSecret = 12

/** The declaration; values of env and headers count by the digest. A process also depends on the folder it runs in. */
function keyOf({ name, transport }: ServerConfig, projectDir: string): string {
  return digest(JSON.stringify([name, transport, transport.type === 'stdio' ? projectDir : '']))
}

const nameOf = (tool: JsonObject): string => String(tool['name'])
const digestOf = ({ description, inputSchema, annotations, title }: JsonObject): string =>
  digest(JSON.stringify([title, description, inputSchema, annotations]))
const digest = (text: string): string => Buffer.from(sha256(Buffer.from(text))).toString('hex')
