/** The models that each provider knows by name: what they are called on the wire, what they hold and what they cost. */
import type { ModelUsage } from '../model.ts'

export const providerNames = ['claude_code_subscription', 'openai_compatible', 'lm_studio_local'] as const
export type ProviderName = (typeof providerNames)[number]

export interface ModelSpec {
  /** Undefined: LM_STUDIO_MODEL says it. */
  readonly wire: string | undefined
  readonly contextWindow: number
  readonly maxOutput: number
  readonly price?: Price
}

/** US dollars a million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** By the name on the wire. */
export type Prices = Readonly<Record<string, Price>>

export const models: Record<ProviderName, Record<string, ModelSpec>> = {
  claude_code_subscription: {
    claude_opus_4: {
      wire: 'claude-opus-4-20250514',
      contextWindow: 200_000,
      maxOutput: 32_000,
      price: { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75 },
    },
    claude_sonnet_4: {
      wire: 'claude-sonnet-4-20250514',
      contextWindow: 200_000,
      maxOutput: 64_000,
      price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    },
    claude_3_5_haiku: {
      wire: 'claude-3-5-haiku-20241022',
      contextWindow: 200_000,
      maxOutput: 8192,
      price: { input: 0.8, output: 4, cacheRead: 0.08, cacheWrite: 1 },
    },
  },
  openai_compatible: {
    gpt_4o: {
      wire: 'gpt-4o',
      contextWindow: 128_000,
      maxOutput: 16_384,
      price: { input: 2.5, output: 10, cacheRead: 1.25, cacheWrite: 2.5 },
    },
    gpt_4o_mini: {
      wire: 'gpt-4o-mini',
      contextWindow: 128_000,
      maxOutput: 16_384,
      price: { input: 0.15, output: 0.6, cacheRead: 0.075, cacheWrite: 0.15 },
    },
    o3: {
      wire: 'o3',
      contextWindow: 200_000,
      maxOutput: 100_000,
      price: { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 2 },
    },
    o3_mini: {
      wire: 'o3-mini',
      contextWindow: 200_000,
      maxOutput: 100_000,
      price: { input: 1.1, output: 4.4, cacheRead: 0.55, cacheWrite: 1.1 },
    },
  },
  lm_studio_local: {
    lm_studio_server_routed: { wire: undefined, contextWindow: 32_768, maxOutput: 8192 },
  },
}

/** What to choose when only the provider is known. */
export const firstModel: Record<ProviderName, string> = {
  claude_code_subscription: 'claude_sonnet_4',
  openai_compatible: 'gpt_4o',
  lm_studio_local: 'lm_studio_server_routed',
}

export const aliases: Record<string, string> = {
  opus: 'claude_opus_4',
  sonnet: 'claude_sonnet_4',
  haiku: 'claude_3_5_haiku',
}

/** The operator's own wire names for the three Claude models, as their successors come and they go. */
const wireOverrides: Record<string, string> = {
  claude_opus_4: 'ANTHROPIC_DEFAULT_OPUS_MODEL',
  claude_sonnet_4: 'ANTHROPIC_DEFAULT_SONNET_MODEL',
  claude_3_5_haiku: 'ANTHROPIC_DEFAULT_HAIKU_MODEL',
}

/** The name on the wire, or undefined where the environment must say it and does not. */
export function wireModelOf(provider: ProviderName, modelId: string, env: NodeJS.ProcessEnv): string | undefined {
  if (provider === 'lm_studio_local' && modelId === 'lm_studio_server_routed') return env.LM_STUDIO_MODEL || undefined
  const override = wireOverrides[modelId]
  return (override && env[override]) || models[provider][modelId]?.wire
}

/** What is known of a model by its name on the wire; a name that is new to us gets its family's numbers. */
export function specOf(provider: ProviderName, wireModel: string): ModelSpec {
  const known = byWire.get(wireModel)
  if (known) return known
  const { contextWindow } = Object.values(models[provider])[0]!
  return { wire: wireModel, contextWindow, maxOutput: provider === 'claude_code_subscription' ? 32_000 : 8192 }
}

/** In US dollars; null where the price or the usage is not known. */
export function costUsd(wireModel: string, usage: ModelUsage, own: Prices = {}): number | null {
  const price = Object.hasOwn(own, wireModel) ? own[wireModel] : byWire.get(wireModel)?.price
  if (!price || usage.inputTokens === null || usage.outputTokens === null) return null
  const micro =
    usage.inputTokens * price.input +
    usage.outputTokens * price.output +
    (usage.cacheReadTokens ?? 0) * price.cacheRead +
    (usage.cacheWriteTokens ?? 0) * price.cacheWrite
  return micro / 1_000_000
}

const byWire = new Map(
  Object.values(models).flatMap((specs) =>
    Object.values(specs).flatMap((spec): [string, ModelSpec][] => (spec.wire ? [[spec.wire, spec]] : [])),
  ),
)
