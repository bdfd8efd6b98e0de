/** One server: connected, watched, and started again when it dies. */
import {
  Client,
  InsufficientScopeError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import type { JsonObject } from '../hooks/shape.ts'
import type { Wrap } from '../sandbox/wrap.ts'
import { broke, failed, type ToolOutput } from '../tools/output.ts'
import type { ServerConfig, ServerStatus } from './config.ts'
import { outputOf, resourceOutput } from './content.ts'
import type { Elicitation, ElicitationAnswer } from './elicit.ts'
import { noOffer, type Offer } from './known-tools.ts'
import type { ServerLogin } from './oauth.ts'
import { readSampling, type Sampled, type Sampling, samplingResult } from './sampling.ts'
import { withTasks } from './tasks.ts'
import { type Way, wayTo } from './transport.ts'

export interface ConnectionDeps {
  readonly env: NodeJS.ProcessEnv
  /** For servers that ask for a sandbox. */
  readonly wrap?: Wrap
  readonly projectDir: string
  /** Folders that the server is given as its roots. */
  roots(): readonly string[]
  elicit(asked: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>
  /** A reply of the model for the server; without it the capability is not offered. */
  sample?(asked: Sampling, signal: AbortSignal): Promise<Sampled>
  /** A way to sign in, for servers over HTTP; with `open`, a user's browser is sent there. */
  login?(server: ServerConfig, interactive: boolean): Promise<ServerLogin>
  /** Something about the server is different: its state, its tools, prompts or resources. */
  changed(): void
  /** It has just listed what it offers. */
  offered(offer: Offer, identity: string): void
  /** What it offered the last time: stands until it answers. */
  readonly cached?: Offer
  readonly version: string
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
  private client: Client | undefined
  /** The way to a server that has not answered yet. */
  private opening: Way | undefined
  private restarts = 0
  private connectedAt = 0
  private timer: NodeJS.Timeout | undefined
  private closing = false
  /** The start that is under way, or the last one. Never rejects. */
  private started: Promise<void>

  constructor(config: ServerConfig, deps: ConnectionDeps) {
    this.config = config
    this.deps = deps
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
    this.started = this.start(signal)
    await this.started
    return this.status === 'connected'
  }

  async reconnect(): Promise<boolean> {
    this.restarts = 0
    await this.client?.close().catch(() => {})
    this.started = this.start()
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
    clearTimeout(this.timer)
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
        return broke(`the connection to the MCP server ${config.name} broke: ${error.message}`)
      return failed(`the MCP server ${config.name} answered with an error: ${(error as Error).message.slice(0, 4096)}`)
    }
  }

  /** `signIn`: a user is there to sign in. */
  private async start(signIn?: AbortSignal): Promise<void> {
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
      client.onclose = () => {
        ended = true
        this.lost(client)
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
        const why = `${causes(error).slice(0, 500)}${said ? ` (it said: ${said.slice(0, 500)})` : ''}`
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
      transport: withTasks(way.transport, (method, params, signal) => this.input(method, params, signal)),
    }
  }

  /** A request of the server's, whether it came by itself or with a task. */
  private async input(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    if (method === 'elicitation/create') return { ...(await this.elicited(params, signal)) }
    if (method === 'sampling/createMessage') return { ...(await this.sampled(params, signal)) }
    if (method === 'roots/list') return this.rootsList()
    throw new Error(`it asks for ${method}, which ona does not answer`)
  }

  private rootsList() {
    return {
      roots: this.deps.roots().map((path) => ({ uri: fileUri(path), name: path.slice(path.lastIndexOf('/') + 1) })),
    }
  }

  private elicited(params: JsonObject, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { message, mode, url, elicitationId, requestedSchema } = params
    const isUrl = mode === 'url'
    return this.deps.elicit(
      {
        server: this.config.name,
        message: String(message),
        mode: isUrl ? 'url' : 'form',
        ...(isUrl && { url: String(url), id: String(elicitationId) }),
        ...(!isUrl && { schema: requestedSchema as JsonObject }),
      },
      signal,
    )
  }

  /** A refusal is an error of the protocol: the server must not take it for an answer. */
  private async sampled(params: JsonObject, signal: AbortSignal) {
    const asked = readSampling(this.config.name, params)
    if ('problem' in asked) throw new ProtocolError(ProtocolErrorCode.InvalidParams, asked.problem)
    const answer = await this.deps.sample?.(asked, signal)
    if (answer?.ok) return samplingResult(answer)
    throw new ProtocolError(-1, `the request for a reply of the model was refused: ${answer?.why ?? 'not supported'}`)
  }

  private newClient(): Client {
    const client = new Client(
      { name: 'ona', version: this.deps.version },
      {
        capabilities: {
          roots: { listChanged: true },
          elicitation: { form: { applyDefaults: true }, url: {} },
          ...(this.deps.sample && { sampling: {} }),
        },
        // a 2026 server is recognised over HTTP; over stdio, asking first would start every server twice
        versionNegotiation: { mode: this.config.transport.type === 'http' ? 'auto' : 'legacy' },
        // the model reads what a tool gives: checking it against the server's own schema protects nobody
        jsonSchemaValidator: {
          getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
        },
        listChanged: {
          tools: { autoRefresh: false, onChanged: () => void this.refreshAgain(client) },
          prompts: { autoRefresh: false, onChanged: () => void this.refreshAgain(client) },
          resources: { autoRefresh: false, onChanged: () => this.deps.changed() },
        },
      },
    )
    client.setRequestHandler('roots/list', () => this.rootsList())
    client.setRequestHandler('elicitation/create', async ({ params }, context) => {
      const answer = await this.elicited(params as unknown as JsonObject, context.mcpReq.signal)
      return answer as { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> }
    })
    if (this.deps.sample)
      client.setRequestHandler('sampling/createMessage', ({ params }, context) =>
        this.sampled(params as unknown as JsonObject, context.mcpReq.signal),
      )
    client.onerror = () => {} // single bad frames; what matters shows in the call or by the connection closing
    return client
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
  private lost(client: Client): void {
    if (this.closing || client !== this.client) return
    this.client = undefined
    if (Date.now() - this.connectedAt > steadyMs) this.restarts = 0
    this.startLater('it ended')
  }

  private startLater(why: string): void {
    const wait = this.deps.backOffMs[this.restarts++]
    if (wait === undefined) {
      this.become('failed', `${why}, again and again`)
      return
    }
    this.become('pending', `${why}, and is started again`)
    this.started = new Promise((resolve) => {
      this.timer = setTimeout(() => void this.start().then(resolve), wait)
      this.timer.unref()
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

const fileUri = (path: string): string => process.getBuiltinModule('node:url').pathToFileURL(path).href
