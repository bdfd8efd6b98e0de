/** A model for a run that may never ask one: chosen when it is first needed. */
import type { ActiveModel, Runtime } from '../session/runtime.ts'

export function lazyModel(runtime: Runtime): ActiveModel {
  let chosen: ReturnType<Runtime['modelFor']> | undefined
  const provider: ActiveModel['provider'] = {
    async reply(request, on) {
      chosen ??= runtime.modelFor('')
      const model = await chosen
      if (!('problem' in model)) return model.provider.reply({ ...request, model: model.wireModel }, on)
      const usage = { inputTokens: null, outputTokens: null, cacheReadTokens: null, cacheWriteTokens: null }
      const failure = { kind: 'authentication', message: model.problem } as const
      return { content: [], stop: 'error', usage, model: '', failure }
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
