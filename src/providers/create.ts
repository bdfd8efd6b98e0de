/** A provider, made from its name, its credential and the environment. */
import type { Credential } from '../auth/credential.ts'
import { isObject } from '../hooks/shape.ts'
import { anthropic } from './dialects/anthropic.ts'
import { openai } from './dialects/chat-completions.ts'
import { responses } from './dialects/responses.ts'
import type { Provider } from './model.ts'
import { readListed } from './models/listed-models.ts'
import type { ProviderName } from './models/models.ts'
import type { ListedModel } from './models/spec.ts'
import { exchange, type Line } from './transport/exchange.ts'
import { createClient, type HttpLimits } from './transport/http.ts'
import { type RetryPolicy, usualRetries } from './transport/retry.ts'

export type OpenaiDialect = 'responses' | 'chat_completions'

export interface ProviderOptions {
  readonly provider: ProviderName
  readonly credential: Credential
  readonly env: NodeJS.ProcessEnv
  /** Instead of the one that the environment names. */
  readonly baseUrl?: string
  /** Sent as `anthropic-beta`. */
  readonly betas?: readonly string[]
  /** Which API an OpenAI-compatible server is asked through; Chat Completions unless given. */
  readonly openaiDialect?: OpenaiDialect
  readonly retries?: Partial<RetryPolicy>
  readonly limits?: Partial<HttpLimits>
}

export function createProvider(options: ProviderOptions): Provider {
  const { provider, credential, env, baseUrl, betas = [], openaiDialect, retries, limits } = options
  const base = new URL(baseUrl ?? baseUrlOf(provider, env))
  const { host } = base
  const claude = provider === 'claude_code_subscription'
  const line: Line = {
    dialect: claude
      ? anthropic({ host, betas, headers: customHeaders(env.ANTHROPIC_CUSTOM_HEADERS) })
      : (openaiDialect === 'responses' ? responses : openai)({
          host,
          headers: customHeaders(env.OPENAI_CUSTOM_HEADERS),
        }),
    client: createClient({
      base,
      env,
      socketPath: claude ? env.ANTHROPIC_UNIX_SOCKET || undefined : undefined,
      limits: {
        answerMs: whole(env.API_TIMEOUT_MS) ?? 600_000,
        // Anthropic sends pings; a local model says nothing while it reads a long prompt.
        idleMs: whole(env.CLAUDE_STREAM_IDLE_TIMEOUT_MS) ?? (claude ? 90_000 : 300_000),
        ...limits,
      },
    }),
    credential,
    retries: { ...usualRetries, most: whole(env.CLAUDE_CODE_MAX_RETRIES) ?? usualRetries.most, ...retries },
    host,
  }
  const reply: Provider['reply'] = (request, on) => exchange(line, request, on)
  const list = (signal = AbortSignal.timeout(5000)) => listed(line, signal)
  return {
    reply,
    models: async (signal) => (await list(signal)).map(({ id }) => id),
    list,
    ...(claude && { search: async (request) => (await import('./search.ts')).search(reply, request) }),
  }
}

/** The address that requests of a provider go to; openai_compatible has none until OPENAI_BASE_URL gives one. */
function baseUrlOf(provider: ProviderName, env: NodeJS.ProcessEnv): string {
  if (provider === 'claude_code_subscription') return env.ANTHROPIC_BASE_URL || 'https://api.anthropic.com'
  if (provider === 'openai_compatible') return env.OPENAI_BASE_URL || ''
  return env.LM_STUDIO_BASE_URL || 'http://127.0.0.1:1234/v1'
}

/** The same for users to read and as the name of a cache: an address may carry a name, a password or a key. */
export function shownBaseUrl(provider: ProviderName, env: NodeJS.ProcessEnv): string {
  const url = URL.parse(baseUrlOf(provider, env))
  return url ? `${url.protocol}//${url.host}${url.pathname}` : ''
}

async function listed({ dialect, client, credential }: Line, signal: AbortSignal): Promise<ListedModel[]> {
  const now = await credential.now(signal)
  if ('problem' in now) return []
  let status = 0
  let body = ''
  await client.send(
    { method: 'GET', path: dialect.modelsPath, headers: dialect.headers(now), signal },
    {
      head(code) {
        status = code
      },
      text(piece) {
        body += piece
        return false
      },
    },
  )
  if (status !== 200) return []
  try {
    const page: unknown = JSON.parse(body)
    const data: unknown = isObject(page) ? page.data : undefined
    const found = Array.isArray(data) ? data.filter(isObject).map(readListed) : []
    return found.filter((model) => model !== undefined)
  } catch {
    return [] // a server that lists its models in some other form lists none for us
  }
}

/** `Name: Value` lines. */
function customHeaders(lines = ''): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of lines.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim()
  }
  return headers
}

function whole(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined
}
