/** What a server asks of us: the folders it may work in, a question for the user, a reply of the model. */
import { pathToFileURL } from 'node:url'
import { Client, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client'
import type { JsonObject } from '../hooks/shape.ts'
import type { ServerConfig } from './config.ts'
import type { Elicitation, ElicitationAnswer } from './elicit.ts'
import { readSampling, type Sampled, type Sampling, samplingResult } from './sampling.ts'

export interface ClientDeps {
  readonly version: string
  /** Folders that the server is given as its roots. */
  roots(): readonly string[]
  elicit(asked: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>
  /** A reply of the model for the server; without it the capability is not offered. */
  sample?(asked: Sampling, signal: AbortSignal): Promise<Sampled>
  /** Something about the server is different: its state, its tools, prompts or resources. */
  changed(): void
}

export interface ServerRequests {
  roots(): { roots: { uri: string; name: string }[] }
  elicit(params: JsonObject, signal: AbortSignal): Promise<ElicitationAnswer>
  sample(params: JsonObject, signal: AbortSignal): Promise<ReturnType<typeof samplingResult>>
  /** Any of them by its method: with a task, requests come as data. */
  any(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
}

export function answersTo(server: string, deps: ClientDeps): ServerRequests {
  const requests: ServerRequests = {
    roots: () => ({
      roots: deps.roots().map((path) => ({
        uri: pathToFileURL(path).href,
        name: path.slice(path.lastIndexOf('/') + 1),
      })),
    }),

    elicit({ message, mode, url, elicitationId, requestedSchema }, signal) {
      const asked =
        mode === 'url'
          ? { mode: 'url' as const, url: String(url), id: String(elicitationId) }
          : { mode: 'form' as const, schema: requestedSchema as JsonObject }
      return deps.elicit({ server, message: String(message), ...asked }, signal)
    },

    /** A refusal is an error of the protocol: the server must not take it for an answer. */
    async sample(params, signal) {
      const asked = readSampling(server, params)
      if ('problem' in asked) throw new ProtocolError(ProtocolErrorCode.InvalidParams, asked.problem)
      const answer = await deps.sample?.(asked, signal)
      if (answer?.ok) return samplingResult(answer)
      throw new ProtocolError(-1, `the request for a reply of the model was refused: ${answer?.why ?? 'not supported'}`)
    },

    async any(method, params, signal) {
      if (method === 'elicitation/create') return { ...(await requests.elicit(params, signal)) }
      if (method === 'sampling/createMessage') return { ...(await requests.sample(params, signal)) }
      if (method === 'roots/list') return requests.roots()
      throw new Error(`it asks for ${method}, which ona does not answer`)
    },
  }
  return requests
}

/** A client that offers what we answer, and hears of changed lists. */
export function newClient(
  { transport }: ServerConfig,
  deps: ClientDeps,
  requests: ServerRequests,
  refresh: (client: Client) => Promise<void>,
): Client {
  const client = new Client(
    { name: 'ona', version: deps.version },
    {
      capabilities: {
        roots: { listChanged: true },
        elicitation: { form: { applyDefaults: true }, url: {} },
        ...(deps.sample && { sampling: {} }),
      },
      // a 2026 server is recognised over HTTP; over stdio, asking first would start every server twice
      versionNegotiation: { mode: transport.type === 'http' ? 'auto' : 'legacy' },
      // the model reads what a tool gives: checking it against the server's own schema protects nobody
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
      listChanged: {
        tools: { autoRefresh: false, onChanged: () => void refresh(client) },
        prompts: { autoRefresh: false, onChanged: () => void refresh(client) },
        resources: { autoRefresh: false, onChanged: () => deps.changed() },
      },
    },
  )
  client.setRequestHandler('roots/list', () => requests.roots())
  client.setRequestHandler('elicitation/create', async ({ params }, context) => {
    const answer = await requests.elicit(params as unknown as JsonObject, context.mcpReq.signal)
    return answer as { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> }
  })
  if (deps.sample)
    client.setRequestHandler('sampling/createMessage', ({ params }, context) =>
      requests.sample(params as unknown as JsonObject, context.mcpReq.signal),
    )
  client.onerror = () => {} // single bad frames; what matters shows in the call or by the connection closing
  return client
}
