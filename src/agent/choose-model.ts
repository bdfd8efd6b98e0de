/** Which model a session talks to: what was asked for, made into a provider that can be called. */
import { anthropicSource, credentialFor } from '../auth/sources.ts'
import { createProvider } from '../providers/create.ts'
import { noUsage } from '../providers/dialect.ts'
import { specOf } from '../providers/models.ts'
import { resolveModel, settle } from '../providers/resolve.ts'
import type { ActiveModel, Runtime } from './runtime.ts'
import type { StartOptions } from './start.ts'

export async function modelFor(
  name: string,
  options: StartOptions,
  with_: {
    settings: Runtime['settings']
    env: NodeJS.ProcessEnv
    trusted: boolean
    closers: (() => void)[]
    db: string
    hasFallback: boolean
  },
): Promise<ActiveModel | { readonly problem: string }> {
  const { settings, env, trusted } = with_
  const bare = options.bare === true
  const anthropic = anthropicSource({ settings, env, bare, trusted })
  const resolved = resolveModel({ settings, env, anthropic, ...(name && { flag: name }) })
  if (!resolved.ok) return { problem: resolved.problem }
  let { choice } = resolved
  let baseUrl: string | undefined
  if (choice.rehearsal) {
    if (!options.startRehearsal)
      return {
        problem:
          'no model is configured: set ANTHROPIC_API_KEY, or OPENAI_API_KEY and OPENAI_BASE_URL, or LM_STUDIO_MODEL',
      }
    const server = await options.startRehearsal()
    with_.closers.push(() => server.close())
    baseUrl = server.baseUrl
  }
  const credential = await credentialFor(choice.provider, { settings, env, bare, trusted })
  if ('problem' in credential) return credential
  const provider = createProvider({
    provider: choice.provider,
    credential,
    env,
    ...(baseUrl && { baseUrl }),
    // With another model to go on with, an overloaded one is not waited for long.
    ...(with_.hasFallback && { retries: { most: 2 } }),
  })
  if (choice.wireModel === undefined || choice.unlisted) {
    const settled = settle(choice, await provider.models())
    if (!settled.ok) return { problem: settled.problem }
    choice = settled.choice
  }
  const spec = specOf(choice.provider, choice.wireModel!)
  return {
    provider,
    providerName: choice.provider,
    modelId: choice.modelId,
    wireModel: choice.wireModel!,
    window: spec.contextWindow,
    maxOutput: Number(env['CLAUDE_CODE_MAX_OUTPUT_TOKENS']) || spec.maxOutput,
    why: choice.why,
    rehearsal: choice.rehearsal === true,
  }
}

/** For a run that may never ask a model: it is chosen when it is first needed. */
export function modelLater(runtime: Runtime): ActiveModel {
  let chosen: ReturnType<Runtime['modelFor']> | undefined
  const provider: ActiveModel['provider'] = {
    async reply(request, on) {
      chosen ??= runtime.modelFor('')
      const model = await chosen
      if (!('problem' in model)) return model.provider.reply({ ...request, model: model.wireModel }, on)
      const failure = { kind: 'authentication', message: model.problem } as const
      return { content: [], stop: 'error', usage: noUsage, model: '', failure }
    },
    models: async () => [],
    async search(request) {
      chosen ??= runtime.modelFor('')
      const model = await chosen
      return 'problem' in model ? undefined : model.provider.search?.({ ...request, model: model.wireModel })
    },
  }
  return {
    provider,
    providerName: 'lm_studio_local',
    modelId: '',
    wireModel: '',
    window: 200_000,
    maxOutput: 8192,
    why: '',
    rehearsal: false,
  }
}
