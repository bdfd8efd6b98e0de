/** Providers, their documented models, and the words that choose one. */

export const providerNames = ['claude_code_subscription', 'openai_compatible', 'lm_studio_local'] as const
export type ProviderName = (typeof providerNames)[number]

export const efforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

/** The documented ids and their wire names. Undefined: LM_STUDIO_MODEL says it. */
export const models: Record<ProviderName, Record<string, string | undefined>> = {
  claude_code_subscription: {
    claude_opus_4: 'claude-opus-4-20250514',
    claude_sonnet_4: 'claude-sonnet-4-20250514',
    claude_3_5_haiku: 'claude-3-5-haiku-20241022',
  },
  openai_compatible: { gpt_4o: 'gpt-4o', gpt_4o_mini: 'gpt-4o-mini', o3: 'o3', o3_mini: 'o3-mini' },
  lm_studio_local: { lm_studio_server_routed: undefined },
}

/** What to choose when only the provider is known. */
export const firstModel: Record<ProviderName, string> = {
  claude_code_subscription: 'claude_sonnet_4',
  openai_compatible: 'gpt_4o',
  lm_studio_local: 'lm_studio_server_routed',
}

/** Families of Claude models, with the documented id that stands in while the server's list is unknown. */
export const aliases: Record<string, string> = {
  opus: 'claude_opus_4',
  sonnet: 'claude_sonnet_4',
  haiku: 'claude_3_5_haiku',
}

/** The operator's own wire name for a family, and for its documented id. */
const wireOverrides: Record<string, string> = {
  claude_opus_4: 'ANTHROPIC_DEFAULT_OPUS_MODEL',
  claude_sonnet_4: 'ANTHROPIC_DEFAULT_SONNET_MODEL',
  claude_3_5_haiku: 'ANTHROPIC_DEFAULT_HAIKU_MODEL',
}

export const overriddenWire = (modelId: string, env: NodeJS.ProcessEnv): string | undefined => {
  const variable = wireOverrides[modelId]
  return (variable && env[variable]) || undefined
}

/** The wire name, or undefined where the environment must say it and does not. */
export function wireModelOf(provider: ProviderName, modelId: string, env: NodeJS.ProcessEnv): string | undefined {
  if (provider === 'lm_studio_local' && modelId === 'lm_studio_server_routed') return env.LM_STUDIO_MODEL || undefined
  return overriddenWire(modelId, env) ?? models[provider][modelId]
}
