/** Which model a session talks to, and why. Nothing here touches the network. */
import { newestOf } from './listed-models.ts'
import { aliases, firstModel, models, overriddenWire, type ProviderName, providerNames, wireModelOf } from './models.ts'
import type { ListedModel } from './spec.ts'

export interface ModelChoice {
  readonly provider: ProviderName
  /** One of the documented ids; any other wire name stands under its provider's first id. */
  readonly modelId: string
  /** Undefined until the server has listed its models (`settle`). */
  readonly wireModel: string | undefined
  /** For the banner: `--model opus`, `ANTHROPIC_API_KEY is set`. */
  readonly why: string
  /** The built-in rehearsal model: its server must be started, and gives the address. */
  readonly rehearsal?: true
  /** The server must list this name before it is used. */
  readonly unlisted?: true
  /** `opus`, `sonnet`, `haiku`: another model of the family may take its place. */
  readonly alias?: string
  /** `NAME[1m]`: with a context of a million tokens. */
  readonly longContext?: true
}

export type Resolved =
  | { readonly ok: true; readonly choice: ModelChoice }
  /** `authentication`: no credential was found, as against: the name or the settings are wrong. */
  | { readonly ok: false; readonly problem: string; readonly authentication?: true }

export interface ResolveInput {
  readonly settings: { readonly model_config?: unknown; readonly model?: unknown; readonly availableModels?: unknown }
  readonly env: NodeJS.ProcessEnv
  /** `--model`, or what was typed after `/model`. */
  readonly flag?: string
  /** Where Anthropic credentials would come from (`anthropicSource`), undefined when there are none. */
  readonly anthropic: string | undefined
  /** Anthropic credentials that are there and do not count here (`unusedCredentials`). */
  readonly unused?: readonly string[]
  /** What Anthropic's server listed last. */
  readonly listed?: readonly ListedModel[]
  /** On a terminal, without any credential, the rehearsal model is used. */
  readonly rehearsalByDefault?: boolean
}

export const rehearsalModel = 'rehearsal'

export function resolveModel(input: ResolveInput): Resolved {
  const { settings, env, flag } = input
  const choose = (name: string, why: string) => permitted(named(name, why, input), name, settings)
  if (flag && flag !== 'default') return choose(flag, `--model ${flag}`)
  if (settings.model_config !== undefined) return stored(settings.model_config, env)
  if (env.ANTHROPIC_MODEL) return choose(env.ANTHROPIC_MODEL, 'ANTHROPIC_MODEL')
  if (typeof settings.model === 'string' && settings.model !== 'default')
    return choose(settings.model, `the setting model: ${settings.model}`)
  return available(input)
}

/** `availableModels` limits what may be chosen by name; what is used without choosing is not a choice. */
function permitted(resolved: Resolved, name: string, { availableModels }: ResolveInput['settings']): Resolved {
  if (!resolved.ok || !Array.isArray(availableModels)) return resolved
  const { modelId, wireModel, alias } = resolved.choice
  const isDocumented = wireModel !== undefined && models[resolved.choice.provider][modelId] === wireModel
  const names = [name, wireModel, alias, ...(isDocumented || alias ? [modelId] : [])]
  const listed = availableModels.flatMap((each) => [String(each), aliases[String(each)]])
  if (names.some((each) => each !== undefined && listed.includes(each))) return resolved
  return wrong(`the settings do not allow the model "${name}"; availableModels has ${availableModels.join(', ')}`)
}

/** Every id that may be typed, with its provider. */
function knownIds(): { provider: ProviderName; modelId: string }[] {
  return providerNames.flatMap((provider) => Object.keys(models[provider]).map((modelId) => ({ provider, modelId })))
}

/** Lets the server's own list decide what the documented ids do not: a name that is new to us, or none at all. */
export function settle(choice: ModelChoice, listed: readonly string[]): Resolved {
  const { wireModel, provider } = choice
  if (wireModel === undefined) {
    const first = listed[0]
    return first
      ? { ok: true, choice: { ...choice, wireModel: first } }
      : wrong(`${provider}: the server lists no model; load one, or set LM_STUDIO_MODEL`)
  }
  if (!choice.unlisted || listed.includes(wireModel)) return { ok: true, choice: { ...choice, unlisted: undefined } }
  const names = listed.length > 0 ? `it lists ${listed.slice(0, 20).join(', ')}` : 'it lists none'
  return wrong(`${provider}: the server has no model "${wireModel}"; ${names}`)
}

/** `model_config` of the settings of record: two keys, both from closed lists. */
function stored(config: unknown, env: NodeJS.ProcessEnv): Resolved {
  if (typeof config !== 'object' || config === null) return wrong('model_config must be an object')
  const { provider, model_id: modelId, ...others } = config as Record<string, unknown>
  const extra = Object.keys(others)
  if (extra.length > 0)
    return wrong(`model_config.${extra[0]} is an unknown key; only provider and model_id are allowed`)
  if (!isProvider(provider)) return wrong(`model_config.provider must be one of ${providerNames.join(', ')}`)
  if (typeof modelId !== 'string' || !Object.hasOwn(models[provider], modelId)) {
    const given = typeof modelId === 'string' ? `"${modelId}" is no model of ${provider}` : 'is missing'
    return wrong(`model_config.model_id ${given}; it has ${Object.keys(models[provider]).join(', ')}`)
  }
  return complete(provider, modelId, `model_config: ${provider}, ${modelId}`, env)
}

/** An id, an alias, a wire name, or PROVIDER/NAME. `[1m]` after a Claude model asks for the long context. */
function named(given: string, why: string, input: ResolveInput): Resolved {
  if (given === rehearsalModel) return rehearsal(why)
  const name = given.replace(/\[1m\]$/i, '')
  const resolved = withoutSuffix(name, why, input)
  if (name === given || !resolved.ok) return resolved
  if (resolved.choice.provider !== 'claude_code_subscription') return wrong(`${given}: only Claude models take [1m]`)
  return { ok: true, choice: { ...resolved.choice, longContext: true } }
}

function withoutSuffix(name: string, why: string, input: ResolveInput): Resolved {
  const { env, listed = [] } = input
  const slash = name.indexOf('/')
  const prefix = name.slice(0, Math.max(0, slash))
  if (isProvider(prefix)) return ofProvider(prefix, name.slice(slash + 1), why, input)
  if (Object.hasOwn(aliases, name)) return ofFamily(name, why, input)
  for (const { provider, modelId } of knownIds()) {
    if (name === modelId || wireModelOf(provider, modelId, env) === name) return complete(provider, modelId, why, env)
  }
  if (listed.some(({ id }) => id === name)) return ofProvider('claude_code_subscription', name, why, input)
  const inUse = available(input)
  const other =
    inUse.ok && !inUse.choice.rehearsal && inUse.choice.provider !== 'claude_code_subscription' && inUse.choice.provider
  if (other) return ofProvider(other, name, why, input)
  if (name.startsWith('claude-')) return ofProvider('claude_code_subscription', name, why, input)
  if (/^(?:gpt-|chatgpt-|codex-|o\d)/.test(name)) return ofProvider('openai_compatible', name, why, input)
  return wrong(
    `there is no model "${name}"; known: ${knownIds()
      .map(({ modelId }) => modelId)
      .join(', ')}, ${Object.keys(aliases).join(', ')}, ${rehearsalModel}; PROVIDER/NAME takes any name of a provider`,
  )
}

/** The newest of the family that the server lists; the documented one while no list is known. */
function ofFamily(alias: string, why: string, { env, listed = [] }: ResolveInput): Resolved {
  const modelId = aliases[alias]!
  const newest = overriddenWire(modelId, env) ?? newestOf(alias, listed)
  const provider = 'claude_code_subscription'
  if (newest === undefined || newest === models[provider][modelId]) {
    const documented = complete(provider, modelId, why, env)
    return documented.ok ? { ok: true, choice: { ...documented.choice, alias } } : documented
  }
  return withEndpoint({ provider, modelId, wireModel: newest, why, alias }, env)
}

function ofProvider(provider: ProviderName, name: string, why: string, input: ResolveInput): Resolved {
  const { env } = input
  if (provider === 'claude_code_subscription' && Object.hasOwn(aliases, name)) return ofFamily(name, why, input)
  const id = Object.keys(models[provider]).find((id) => id === name || wireModelOf(provider, id, env) === name)
  if (id) return complete(provider, id, why, env)
  if (!/^[\w.:@/+-]+$/.test(name)) return wrong(`"${provider}/${name}" is no model name; write ${provider}/NAME`)
  const choice = { provider, modelId: firstModel[provider], wireModel: name, why }
  // Anthropic's server refuses a name that it does not know; a local one may load another model in its place.
  return withEndpoint(provider === 'claude_code_subscription' ? choice : { ...choice, unlisted: true }, env)
}

function complete(provider: ProviderName, modelId: string, why: string, env: NodeJS.ProcessEnv): Resolved {
  const wireModel = wireModelOf(provider, modelId, env)
  if (wireModel === undefined)
    return wrong(`${modelId} needs LM_STUDIO_MODEL: the name of the model that the server shall use`)
  return withEndpoint({ provider, modelId, wireModel, why }, env)
}

/** A provider whose address the environment must give is refused here, before anything is sent. */
function withEndpoint(choice: ModelChoice, env: NodeJS.ProcessEnv): Resolved {
  if (choice.provider === 'openai_compatible' && !env.OPENAI_BASE_URL)
    return wrong('openai_compatible needs OPENAI_BASE_URL, for example https://api.openai.com/v1')
  const variable = addresses[choice.provider]
  const address = env[variable]
  if (address && !/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
    return wrong(`${variable} must be an address that begins with http:// or https://`)
  return { ok: true, choice }
}

const addresses: Record<ProviderName, string> = {
  claude_code_subscription: 'ANTHROPIC_BASE_URL',
  openai_compatible: 'OPENAI_BASE_URL',
  lm_studio_local: 'LM_STUDIO_BASE_URL',
}

/** Nothing is chosen: whatever there are credentials for. */
function available(input: ResolveInput): Resolved {
  const { env, anthropic } = input
  if (anthropic) return ofFamily('sonnet', anthropic, input)
  if (env.OPENAI_API_KEY && env.OPENAI_BASE_URL)
    return complete(
      'openai_compatible',
      firstModel.openai_compatible,
      'OPENAI_API_KEY and OPENAI_BASE_URL are set',
      env,
    )
  if (env.LM_STUDIO_MODEL) return complete('lm_studio_local', firstModel.lm_studio_local, 'LM_STUDIO_MODEL is set', env)
  if (env.LM_STUDIO_BASE_URL) {
    const modelId = firstModel.lm_studio_local
    return withEndpoint(
      { provider: 'lm_studio_local', modelId, wireModel: undefined, why: 'LM_STUDIO_BASE_URL is set' },
      env,
    )
  }
  const half = halfConfigured(input)
  if (half) return unauthenticated(half)
  const none = `no credentials were found${env.OPENAI_API_KEY ? ' (OPENAI_API_KEY needs OPENAI_BASE_URL)' : ''}`
  if (input.rehearsalByDefault) return rehearsal(none)
  return unauthenticated(
    `${none}: run ona login, or set ANTHROPIC_API_KEY, OPENAI_API_KEY and OPENAI_BASE_URL, or LM_STUDIO_MODEL; --model rehearsal uses the built-in scripted model`,
  )
}

/** A provider that is configured but has no credential is never replaced by another. */
function halfConfigured({ env, unused = [] }: ResolveInput): string | undefined {
  if (unused.length > 0) return `no credential counts here: ${unused.join('; ')}`
  if (env.OPENAI_BASE_URL) return 'OPENAI_BASE_URL is set, but OPENAI_API_KEY is not'
  if (env.ANTHROPIC_BASE_URL) return 'ANTHROPIC_BASE_URL is set, but no Anthropic credential: set ANTHROPIC_API_KEY'
  return undefined
}

const rehearsal = (why: string): Resolved => ({
  ok: true,
  choice: {
    provider: 'lm_studio_local',
    modelId: 'lm_studio_server_routed',
    wireModel: rehearsalModel,
    why,
    rehearsal: true,
  },
})

const wrong = (problem: string): Resolved => ({ ok: false, problem })
const unauthenticated = (problem: string): Resolved => ({ ok: false, problem, authentication: true })

const isProvider = (name: unknown): name is ProviderName => (providerNames as readonly unknown[]).includes(name)
