/** The way to a server: a child process, or HTTP. Loaded with the SDK, when a server is configured. */
import { execFile } from 'node:child_process'
import { SSEClientTransport, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { withoutSecrets } from '../auth/child-env.ts'
import { isObject } from '../hooks/shape.ts'
import type { Wrap } from '../sandbox/wrap.ts'
import type { HttpTransport, ServerConfig } from './config.ts'
import { LineBuffer, TooLongError } from './line-buffer.ts'
import type { ServerLogin } from './oauth.ts'
import { bindServer, endServer, serverEnded } from './server-process.ts'

/** No message is longer, whichever way it comes. */
const longestMessage = 16 * 1_048_576
/** More messages at once, and more each second from then on, than any server has to say. */
const mostMessages = 10_000
const steadyMessages = 1000

export interface Way {
  readonly transport: Transport
  /** The end of what a child process wrote to stderr. */
  stderr(): string
  /** What the server did that ended the way from our side. */
  cutOff(): string
  /** Ends the authorization that a user has given in the browser. */
  finishAuth?(code: string): Promise<void>
}

export interface WayOptions {
  readonly env: NodeJS.ProcessEnv
  readonly projectDir: string
  readonly login?: ServerLogin
  /** For servers that ask for a sandbox. */
  readonly wrap?: Wrap
}

export async function wayTo({ transport: config }: ServerConfig, options: WayOptions): Promise<Way> {
  if (config.type === 'sdk') return { ...watched(config.connect() as Transport), stderr: () => '' }
  return config.type === 'stdio' ? await childProcess(config, options) : await overHttp(config, options)
}

async function childProcess(
  config: Extract<ServerConfig['transport'], { type: 'stdio' }>,
  { env, projectDir, wrap }: WayOptions,
): Promise<Way> {
  const cwd = config.cwd ?? projectDir
  const plain = {
    words: [config.command, ...config.args],
    env: { ...withoutSecrets(env), CLAUDE_PROJECT_DIR: projectDir, ...config.env },
  }
  if (config.sandbox && !wrap) throw new Error('it must run in a sandbox, and none is enabled (sandbox.enabled)')
  const { words, env: inside } = config.sandbox ? await wrap!(plain.words, { cwd, env: plain.env }) : plain
  const transport = new StdioClientTransport({
    command: words[0]!,
    args: words.slice(1),
    env: inside as Record<string, string>,
    cwd,
    stderr: 'pipe',
  })
  Object.assign(transport, { _readBuffer: new LineBuffer(longestMessage) })
  let tail = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString('utf8')).slice(-4096)
  })
  let pid: number | null = null
  const start = async () => {
    const started = transport.start()
    pid = transport.pid // at once: whoever closes it while it starts must know what to end
    if (pid !== null) bindServer(pid)
    await started
  }
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= pid === null ? transport.close() : endServer(pid, () => transport.close())
    return closing
  }
  const ended = () => {
    if (pid !== null) serverEnded(pid)
    pid = null
  }
  return { ...watched(transport, { start, close, ended }), stderr: () => tail.trim() }
}

async function overHttp(config: HttpTransport, { env, login }: WayOptions): Promise<Way> {
  const headers = { ...config.headers, ...(config.headersHelper ? await helpedHeaders(config.headersHelper, env) : {}) }
  const options = {
    requestInit: { headers },
    fetch: boundedFetch,
    ...(login && { authProvider: login.provider }),
    ...(config.oauth?.acceptIssuerMismatch && { skipIssuerMetadataValidation: true }),
  }
  const url = new URL(config.url)
  const transport =
    config.type === 'sse' ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options)
  return { ...watched(transport), stderr: () => '', finishAuth: (code) => transport.finishAuth(code) }
}

/** What a way does besides the library's. */
interface Own extends Pick<Transport, 'start' | 'close'> {
  ended(): void
}

/** Closes the way when the server floods it, and stays quiet about single frames that are no messages. */
function watched(transport: Transport, own: Partial<Own> = {}): Pick<Way, 'transport' | 'cutOff'> {
  const { start = () => transport.start(), close = () => transport.close() } = own
  let last = performance.now()
  let count = 0
  let cutOff = ''
  // by what is left over, not by the second: on a slow machine a flood is never more than we can read
  const tooMany = (): boolean => {
    const now = performance.now()
    count = Math.max(0, count - ((now - last) / 1000) * steadyMessages) + 1
    last = now
    return count > mostMessages
  }
  const flooded = () => {
    cutOff = `it sent over ${mostMessages} messages at once`
    void close()
  }
  const guard: Transport = {
    start,
    send: (message, options) => transport.send(message, options),
    close,
    setProtocolVersion: (version) => transport.setProtocolVersion?.(version),
    get sessionId() {
      return transport.sessionId
    },
    ...('hasPerRequestStream' in transport && { hasPerRequestStream: transport.hasPerRequestStream }),
  }
  transport.onclose = () => {
    own.ended?.()
    guard.onclose?.()
  }
  transport.onerror = (error) => {
    if (error instanceof TooLongError) cutOff = `it sent ${error.message}`
    if (tooMany()) flooded()
    guard.onerror?.(error)
  }
  transport.onmessage = (message, extra) => {
    if (tooMany()) flooded()
    else guard.onmessage?.(message, extra)
  }
  return { transport: guard, cutOff: () => cutOff }
}

/** Fetch whose answers cannot fill the memory: a body, or one event of a stream, has a limit. */
const boundedFetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
  const response = await fetch(url, init)
  if (!response.body) return response
  const isStream = response.headers.get('content-type')?.includes('text/event-stream')
  const openBytes = isStream ? ofOpenEvent() : ofAll()
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (openBytes(chunk) > longestMessage) controller.error(new Error(`a message of over ${longestMessage} bytes`))
      else controller.enqueue(chunk)
    },
  })
  return new Response(response.body.pipeThrough(limit), response)
}

function ofAll(): (chunk: Uint8Array) => number {
  let all = 0
  return (chunk) => {
    all += chunk.length
    return all
  }
}

/** How much has come of the event that has not ended: an empty line ends it. */
function ofOpenEvent(): (chunk: Uint8Array) => number {
  let event = 0
  let line = 0
  let last = 0
  return (chunk) => {
    let from = 0
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      line += at - from
      const before = at > 0 ? chunk[at - 1] : last
      event = line === 0 || (line === 1 && before === carriageReturn) ? 0 : event + line + 1
      line = 0
      from = at + 1
    }
    line += chunk.length - from
    last = chunk.at(-1) ?? last
    return event + line
  }
}
const newline = 10
const carriageReturn = 13

function helpedHeaders(command: string, env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  return new Promise((resolve, reject) => {
    execFile('/bin/sh', ['-c', command], { env, timeout: 10_000, maxBuffer: 65_536 }, (error, stdout) => {
      if (error) return reject(new Error(`the headersHelper failed: ${error.message.split('\n')[0]}`))
      try {
        const value: unknown = JSON.parse(stdout)
        if (isObject(value) && Object.values(value).every((each) => typeof each === 'string')) {
          return resolve(value as Record<string, string>)
        }
      } catch {
        // reported below, without the output: it may hold a secret
      }
      reject(new Error('the headersHelper must print a JSON object of strings'))
    })
  })
}
