/** Which model a session talks to, and why. Nothing here touches the network. */
import { aliases, firstModel, models, type ProviderName, providerNames, wireModelOf } from './models.ts'

export interface ModelChoice {
  readonly provider: ProviderName
  /** One of the documented ids; a name that only the server knows stands under its provider's first id. */
  readonly modelId: string
  /** Undefined until the server has listed its models (`settle`). */
  readonly wireModel: string | undefined
  /** For the banner: `--model opus`, `ANTHROPIC_API_KEY is set`. */
  readonly why: string
  /** The built-in rehearsal model: its server must be started, and gives the address. */
  readonly rehearsal?: true
  /** The server must list this name before it is used. */
  readonly unlisted?: true
}

export type Resolved =
  | { readonly ok: true; readonly choice: ModelChoice }
  | { readonly ok: false; readonly problem: string }

export interface ResolveInput {
  readonly settings: { readonly model_config?: unknown; readonly model?: unknown; readonly availableModels?: unknown }
  readonly env: NodeJS.ProcessEnv
  /** `--model`, or what was typed after `/model`. */
  readonly flag?: string
  /** Where Anthropic credentials would come from (`anthropicSource`), undefined when there are none. */
  readonly anthropic: string | undefined
}

export const rehearsalModel = 'rehearsal'

export function resolveModel({ settings, env, flag, anthropic }: ResolveInput): Resolved {
  const choose = (name: string, why: string) => permitted(named(name, why, env, anthropic), name, settings)
  if (flag && flag !== 'default') return choose(flag, `--model ${flag}`)
  if (settings.model_config !== undefined) return stored(settings.model_config, env)
  if (env.ANTHROPIC_MODEL) return choose(env.ANTHROPIC_MODEL, 'ANTHROPIC_MODEL')
  if (typeof settings.model === 'string' && settings.model !== 'default')
    return choose(settings.model, `the setting model: ${settings.model}`)
  return available(env, anthropic)
}

/** `availableModels` limits what may be chosen by name; what is used without choosing is not a choice. */
function permitted(resolved: Resolved, name: string, { availableModels }: ResolveInput['settings']): Resolved {
  if (!resolved.ok || !Array.isArray(availableModels)) return resolved
  const { modelId, wireModel } = resolved.choice
  const names = [name, wireModel, ...(resolved.choice.unlisted ? [] : [modelId])]
  const listed = availableModels.map((each) => aliases[String(each)] ?? String(each))
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
  if (extra.length > 0) return wrong(`model_config.${extra[0]} is not known here; only provider and model_id are`)
  if (!isProvider(provider)) return wrong(`model_config.provider must be one of ${providerNames.join(', ')}`)
  if (typeof modelId !== 'string' || !Object.hasOwn(models[provider], modelId)) {
    const given = typeof modelId === 'string' ? `"${modelId}" is no model of ${provider}` : 'is missing'
    return wrong(`model_config.model_id ${given}; it has ${Object.keys(models[provider]).join(', ')}`)
  }
  return complete(provider, modelId, `model_config: ${provider}, ${modelId}`, env)
}

/** An id, an alias, a wire name, or PROVIDER/NAME for what only the server knows. */
function named(name: string, why: string, env: NodeJS.ProcessEnv, anthropic: string | undefined): Resolved {
  if (name === rehearsalModel) return rehearsal(why)
  const slash = name.indexOf('/')
  const prefix = name.slice(0, Math.max(0, slash))
  if (isProvider(prefix)) return ofProvider(prefix, name.slice(slash + 1), why, env)

  for (const { provider, modelId } of knownIds()) {
    if ((aliases[name] ?? name) === modelId || wireModelOf(provider, modelId, env) === name)
      return complete(provider, modelId, why, env)
  }
  const fallback = available(env, anthropic)
  if (fallback.ok && !fallback.choice.rehearsal && fallback.choice.provider !== 'claude_code_subscription')
    return ofProvider(fallback.choice.provider, name, why, env)
  return wrong(
    `there is no model "${name}"; known: ${knownIds()
      .map(({ modelId }) => modelId)
      .join(
        ', ',
      )}, ${Object.keys(aliases).join(', ')}, ${rehearsalModel}, and openai_compatible/NAME or lm_studio_local/NAME for what the server lists`,
  )
}

function ofProvider(provider: ProviderName, name: string, why: string, env: NodeJS.ProcessEnv): Resolved {
  const id = Object.keys(models[provider]).find((id) => id === name || wireModelOf(provider, id, env) === name)
  if (id) return complete(provider, id, why, env)
  if (provider === 'claude_code_subscription' || name === '')
    return wrong(`${provider} has no model "${name}"; it has ${Object.keys(models[provider]).join(', ')}`)
  return withEndpoint({ provider, modelId: firstModel[provider], wireModel: name, why, unlisted: true }, env)
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
function available(env: NodeJS.ProcessEnv, anthropic: string | undefined): Resolved {
  if (anthropic) return complete('claude_code_subscription', firstModel.claude_code_subscription, anthropic, env)
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
  return rehearsal('no credentials were found')
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

const isProvider = (name: unknown): name is ProviderName => (providerNames as readonly unknown[]).includes(name)
