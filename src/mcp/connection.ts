/** One server: connected, watched, and started again when it dies. */
import {
  type Client,
  InsufficientScopeError,
  SdkError,
  SdkErrorCode,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import type { JsonObject } from '../hooks/shape.ts'
import type { Wrap } from '../sandbox/wrap.ts'
import { broke, failed, type ToolOutput } from '../tools/output.ts'
import type { ServerConfig, ServerStatus } from './config.ts'
import { outputOf, resourceOutput } from './content.ts'
import { noOffer, type Offer } from './known-tools.ts'
import type { ServerLogin } from './oauth.ts'
import { answersTo, type ClientDeps, newClient, type ServerRequests } from './server-requests.ts'
import { withTasks } from './tasks.ts'
import { type Way, wayTo } from './transport.ts'

export interface ConnectionDeps extends ClientDeps {
  readonly env: NodeJS.ProcessEnv
  /** For servers that ask for a sandbox. */
  readonly wrap?: Wrap
  readonly projectDir: string
  /** A way to sign in, for servers over HTTP; with `open`, a user's browser is sent there. */
  login?(server: ServerConfig, interactive: boolean): Promise<ServerLogin>
  /** It has just listed what it offers. */
  offered(offer: Offer, identity: string): void
  /** What it offered the last time: stands until it answers. */
  readonly cached?: Offer
  readonly startMs: number
  readonly callMs: number
  /** How long to wait before each new start; after the last, the server is given up. */
  readonly backOffMs: readonly number[]
}

/** A server that ran this long and then died gets all its chances back. */
const steadyMs = 60_000

export class Connection {
  readonly config: ServerConfig
  status: ServerStatus = 'pending'
  problem = ''
  offer: Offer
  private readonly deps: ConnectionDeps
  private readonly requests: ServerRequests
  private client: Client | undefined
  /** The way to a server that has not answered yet. */
  private opening: Way | undefined
  private restarts = 0
  private connectedAt = 0
  /** Starts it now, where a start is planned for later. */
  private planned: (() => void) | undefined
  private closing = false
  /** The start that is under way, or the last one. Never rejects. */
  private started: Promise<void>

  constructor(config: ServerConfig, deps: ConnectionDeps) {
    this.config = config
    this.deps = deps
    this.requests = answersTo(config.name, deps)
    this.offer = deps.cached ?? noOffer
    this.started = this.start()
  }

  /** Until the start that is under way has come to an end. */
  get settled(): Promise<void> {
    return this.started
  }

  /** Opens the user's browser where the server wants a sign-in; then connects again. */
  async signIn(signal: AbortSignal): Promise<boolean> {
    await this.started
    this.started = this.restart(signal)
    await this.started
    return this.status === 'connected'
  }

  /** A start that is planned comes now; one that is under way is waited for. */
  async reconnect(): Promise<boolean> {
    this.restarts = 0
    if (this.planned) this.planned()
    else if (this.status !== 'pending') this.started = this.restart()
    await this.started
    return this.status === 'connected'
  }

  async callTool(
    name: string,
    input: JsonObject,
    signal: AbortSignal,
    progress: (text: string) => void,
  ): Promise<ToolOutput> {
    return this.ask(signal, async (client) => {
      const onprogress = ({ progress: done, total, message }: { progress: number; total?: number; message?: string }) =>
        progress(message ?? (total ? `${done} of ${total}` : String(done)))
      const options = { signal, timeout: this.deps.callMs, maxTotalTimeout: this.deps.callMs, onprogress }
      return outputOf(await client.callTool({ name, arguments: input }, options), this.config.name)
    })
  }

  async readResource(uri: string, signal: AbortSignal): Promise<ToolOutput> {
    return this.ask(signal, async (client) => {
      if (!client.getServerCapabilities()?.resources)
        return failed(`the MCP server ${this.config.name} has no resources`)
      const options = { signal, timeout: this.deps.callMs, cacheMode: 'refresh' as const }
      return resourceOutput((await client.readResource({ uri }, options)).contents)
    })
  }

  async resources(): Promise<readonly JsonObject[]> {
    await this.started
    if (!this.client?.getServerCapabilities()?.resources) return []
    const { resources } = await this.client.listResources(undefined, {
      timeout: this.deps.startMs,
      cacheMode: 'refresh',
    })
    return resources as unknown as JsonObject[]
  }

  /** A prompt's messages as one text, its arguments filled in. */
  async prompt(name: string, args: Record<string, string>, signal: AbortSignal): Promise<ToolOutput> {
    return this.ask(signal, async (client) => {
      const { messages } = await client.getPrompt({ name, arguments: args }, { signal, timeout: this.deps.callMs })
      return outputOf({ content: messages.map((message) => message.content) }, this.config.name)
    })
  }

  async close(): Promise<void> {
    this.closing = true
    this.planned?.()
    this.status = 'closed'
    await (this.opening?.transport ?? this.client)?.close().catch(() => {})
  }

  /** Asks the server something; whatever goes wrong is an error result that says what to do. */
  private async ask(signal: AbortSignal, question: (client: Client) => Promise<ToolOutput>): Promise<ToolOutput> {
    await Promise.race([this.started, aborted(signal)])
    const { client, config, deps } = this
    if (signal.aborted) return broke(`the call to the MCP server ${config.name} was interrupted`)
    if (!client || this.status !== 'connected') {
      return broke(
        `the MCP server ${config.name} is not connected${this.problem && `: ${this.problem}`}; /mcp shows its state`,
      )
    }
    try {
      return await question(client)
    } catch (error) {
      if (signal.aborted) return broke(`the call to the MCP server ${config.name} was interrupted`)
      if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) {
        const name = config.name
        return failed(`the MCP server ${name} wants another sign-in for this; run ona mcp login ${name}, or /mcp`)
      }
      if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
        return broke(`the MCP server ${config.name} did not answer within ${deps.callMs} ms`)
      }
      if (error instanceof SdkError)
        return broke(`the connection to the MCP server ${config.name} broke: ${this.problem || error.message}`)
      return failed(`the MCP server ${config.name} answered with an error: ${(error as Error).message.slice(0, 4096)}`)
    }
  }

  private async restart(signIn?: AbortSignal): Promise<void> {
    const { client } = this
    this.client = undefined // that it ends is no loss
    this.become('pending')
    await client?.close().catch(() => {})
    await this.start(signIn)
  }

  /** `signIn`: a user is there to sign in. */
  private async start(signIn?: AbortSignal): Promise<void> {
    if (this.closing) return
    this.become('pending')
    let login: ServerLogin | undefined
    let way: Way | undefined
    try {
      if (isRemote(this.config)) login = await this.deps.login?.(this.config, signIn !== undefined)
      way = this.opening = await this.wayTo(login)
      if (this.closing) return
      let client = this.newClient()
      try {
        await client.connect(way.transport, { timeout: this.deps.startMs })
      } catch (error) {
        if (!(error instanceof UnauthorizedError) || !signIn || !login || !way.finishAuth) throw error
        const code = await login.code(signIn)
        if (code === undefined) throw error
        await way.finishAuth(code)
        way = this.opening = await this.wayTo(login)
        client = this.newClient()
        await client.connect(way.transport, { timeout: this.deps.startMs })
      }
      let ended = false
      const { cutOff } = way
      client.onclose = () => {
        ended = true
        this.lost(client, cutOff() || 'it ended')
      }
      await this.refresh(client)
      if (this.closing) return void (await client.close())
      if (ended) throw new Error('it ended while it was starting')
      this.client = client
      this.connectedAt = Date.now()
      this.become('connected')
    } catch (error) {
      await way?.transport.close().catch(() => {})
      if (this.closing) return
      if (this.connectedAt === 0) this.offer = noOffer
      if (error instanceof UnauthorizedError) this.become('needs-auth', 'it wants you to sign in; /mcp does that')
      else {
        const said = way?.stderr().split('\n').at(-1)
        const why = `${way?.cutOff() || causes(error).slice(0, 500)}${said ? ` (it said: ${said.slice(0, 500)})` : ''}`
        // a server that once ran is tried again; one that never did needs a user
        if (this.connectedAt > 0) this.startLater(why)
        else this.become('failed', why)
      }
    } finally {
      this.opening = undefined
      login?.close()
    }
  }

  private async wayTo(login: ServerLogin | undefined): Promise<Way> {
    const { env, projectDir, wrap } = this.deps
    const way = await wayTo(this.config, { env, projectDir, ...(login && { login }), ...(wrap && { wrap }) })
    return {
      ...way,
      transport: withTasks(way.transport, this.requests.any),
    }
  }

  private newClient(): Client {
    return newClient(this.config, this.deps, this.requests, (client) => this.refreshAgain(client))
  }

  private async refresh(client: Client): Promise<void> {
    const options = { timeout: this.deps.startMs, cacheMode: 'refresh' as const }
    const can = client.getServerCapabilities()
    const tools = can?.tools ? (await client.listTools(undefined, options)).tools : []
    // a server without usable prompts still has its tools
    const prompts = can?.prompts
      ? await client.listPrompts(undefined, options).catch(() => ({ prompts: [] }))
      : { prompts: [] }
    const offer: Offer = {
      tools: tools as unknown as JsonObject[],
      prompts: prompts.prompts as unknown as JsonObject[],
      instructions: client.getInstructions() ?? '',
    }
    // whoever compares lists finds the same one while nothing has changed
    if (JSON.stringify(offer) !== JSON.stringify(this.offer)) this.offer = offer
    const { name = '', version = '' } = client.getServerVersion() ?? {}
    this.deps.offered(offer, `${name}@${version}`)
  }

  /** What it offered stands when the new list cannot be had. */
  private async refreshAgain(client: Client): Promise<void> {
    await this.refresh(client).catch(() => {})
    this.deps.changed()
  }

  /** The server went away by itself: it gets a few more chances, each later than the last. */
  private lost(client: Client, why: string): void {
    if (this.closing || client !== this.client) return
    this.client = undefined
    if (Date.now() - this.connectedAt > steadyMs) this.restarts = 0
    this.startLater(why)
  }

  private startLater(why: string): void {
    const wait = this.deps.backOffMs[this.restarts++]
    if (wait === undefined) {
      this.become('failed', `${why}, again and again`)
      return
    }
    this.become('pending', `${why}, and is started again`)
    this.started = new Promise((resolve) => {
      const timer = setTimeout(() => this.planned?.(), wait).unref()
      this.planned = () => {
        clearTimeout(timer)
        this.planned = undefined
        void this.start().then(resolve)
      }
    })
  }

  private become(status: ServerStatus, problem = ''): void {
    if (this.closing) return
    this.status = status
    this.problem = problem
    this.deps.changed()
  }
}

/** Only such a server can want a sign-in. */
const isRemote = ({ transport: { type } }: ServerConfig): boolean => type === 'http' || type === 'sse'

/** `fetch failed: connect ECONNREFUSED 127.0.0.1:9`: what went wrong is often in the cause. */
function causes(error: unknown): string {
  const { message, cause } = error as Error
  const deeper = cause instanceof Error ? causes(cause) : ''
  return deeper === '' || message.includes(deeper) ? message : `${message}: ${deeper}`
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
