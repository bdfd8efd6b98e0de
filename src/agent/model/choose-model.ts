/** Which model a session talks to: what was requested, made into a provider that can be called. */
import { anthropicSource, credentialFor, unusedCredentials } from '../../auth/sources.ts'
import { createProvider, type OpenaiDialect, shownBaseUrl } from '../../providers/create.ts'
import type { Provider } from '../../providers/model.ts'
import { specOf } from '../../providers/models/catalogue.ts'
import { isStale, listedModels, saveListed } from '../../providers/models/listed-models.ts'
import { type ModelChoice, resolveModel, settle } from '../../providers/models/resolve.ts'
import type { ModelSpec } from '../../providers/models/spec.ts'
import { mostOfReply } from '../context/window.ts'
import type { ActiveModel, ModelProblem, Runtime } from '../session/runtime.ts'
import type { StartOptions } from '../session/start-options.ts'
import { ownSpecs } from './own-specs.ts'

interface Place {
  readonly settings: Runtime['settings']
  readonly env: NodeJS.ProcessEnv
  readonly trusted: boolean
  readonly closers: (() => void)[]
  readonly hasFallback: boolean
}

export async function modelFor(name: string, options: StartOptions, place: Place): Promise<ActiveModel | ModelProblem> {
  const { settings, env, trusted } = place
  const bare = options.bare === true
  const auth = { settings, env, bare, trusted }
  const resolved = resolveModel({
    settings,
    env,
    anthropic: anthropicSource(auth),
    unused: unusedCredentials(auth),
    listed: listedModels(shownBaseUrl('claude_code_subscription', env), env),
    rehearsalByDefault: options.rehearsalByDefault === true,
    ...(name && { flag: name }),
  })
  if (!resolved.ok)
    return { problem: resolved.problem, ...(resolved.authentication && { error: 'authentication_failed' }) }
  let { choice } = resolved
  let baseUrl: string | undefined
  if (choice.rehearsal) {
    if (!options.startRehearsal) return { problem: 'the rehearsal model cannot be started here' }
    const server = await options.startRehearsal()
    place.closers.push(() => server.close())
    baseUrl = server.baseUrl
  }
  const credential = await credentialFor(choice.provider, auth)
  if ('problem' in credential) return { ...credential, error: 'authentication_failed' }
  const own = ownSpecs(settings)
  const listed = listedModels(shownBaseUrl(choice.provider, env), env).find(({ id }) => id === choice.wireModel)
  const known = specOf(choice.provider, choice.wireModel ?? '', own[choice.wireModel ?? ''], listed)
  const provider = createProvider({
    provider: choice.provider,
    credential,
    env,
    ...(baseUrl && { baseUrl }),
    openaiDialect: dialectFor(choice.provider, choice.wireModel ?? '', place),
    ...(choice.longContext && known.contextWindow < MILLION && { betas: [longContextBeta] }),
    // With another model to switch to, an overloaded one is not waited for long.
    ...(place.hasFallback && { retries: { most: 2 } }),
  })
  if (choice.wireModel === undefined || choice.unlisted) {
    const settled = settle(choice, await provider.models())
    if (!settled.ok) return { problem: settled.problem }
    choice = settled.choice
  }
  const wireModel = choice.wireModel!
  const spec = specOf(choice.provider, wireModel, own[wireModel], listed)
  const window = choice.longContext ? MILLION : spec.contextWindow
  if (options.maxBudgetUsd && !spec.price && choice.provider !== 'lm_studio_local')
    return { problem: unpriced(wireModel) }
  return {
    provider: choice.alias ? listing(provider, place, name !== '' || options.rehearsalByDefault === true) : provider,
    providerName: choice.provider,
    modelId: choice.modelId,
    wireModel,
    ...(spec.name && { displayName: spec.name }),
    window,
    maxOutput: Number(env['CLAUDE_CODE_MAX_OUTPUT_TOKENS']) || own[wireModel]?.maxOutput || roomForReply(spec, window),
    thinking: spec.thinking,
    efforts: spec.efforts,
    ...(spec.price && { price: spec.price }),
    ...(choice.alias && { alias: choice.alias }),
    why: choice.why,
    rehearsal: choice.rehearsal === true,
  }
}

/** Many servers reject a request whose text and room for the reply do not fit the window together. */
const roomForReply = ({ maxOutput }: ModelSpec, window: number): number =>
  maxOutput > window / 2 ? mostOfReply(window) : maxOutput

/** OpenAI's own reasoning models use Responses; other servers may not have it. */
function dialectFor(provider: ModelChoice['provider'], wireModel: string, { settings, env }: Place): OpenaiDialect {
  if (provider !== 'openai_compatible') return 'chat_completions'
  if (settings.openaiDialect) return settings.openaiDialect
  const isOpenai = URL.parse(env['OPENAI_BASE_URL'] ?? '')?.hostname === 'api.openai.com'
  return isOpenai && specOf(provider, wireModel).thinking !== 'none' ? 'responses' : 'chat_completions'
}

const MILLION = 1_000_000
const longContextBeta = 'context-1m-2025-08-07'

const unpriced = (wireModel: string): string =>
  `--max-budget-usd cannot be held: no price is known for ${wireModel}; set models."${wireModel}".price in the settings, or leave the flag out`

/** Keeps what the server lists. `refresh`: an old list is refreshed beside the first request, until the session ends. */
function listing(provider: Provider, { env, closers }: Place, refresh: boolean): Provider {
  const address = shownBaseUrl('claude_code_subscription', env)
  const end = new AbortController()
  closers.push(() => end.abort())
  const list = async (signal?: AbortSignal) => {
    const listed = (await provider.list?.(signal)) ?? []
    saveListed(address, listed, env)
    return listed
  }
  let due = refresh && !env['CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC'] && isStale(address, env)
  return {
    ...provider,
    list,
    reply(request, on) {
      const reply = provider.reply(request, on)
      if (due) void list(end.signal)
      due = false
      return reply
    },
  }
}
