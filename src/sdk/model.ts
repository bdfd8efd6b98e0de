/** A model of your own: whatever can answer a request. */
import type { ActiveModel } from '../agent/runtime.ts'
import type { ModelRequest, Part, Provider, Reply } from '../providers/model.ts'

export interface OwnModel {
  /** For prices, hooks and the record. */
  readonly name: string
  /** Tokens; 100,000 unless said. */
  readonly contextWindow?: number
  /** Tokens of one reply; 8,192 unless said. */
  readonly maxOutput?: number
  /** Must not throw: a failure is a reply whose stop is 'error'. */
  reply(request: ModelRequest, on: (part: Part) => void): Promise<Reply>
}

export function activeModel(model: OwnModel): ActiveModel {
  const provider: Provider = { reply: (request, on) => model.reply(request, on), models: async () => [model.name] }
  return {
    provider,
    providerName: 'lm_studio_local',
    modelId: model.name,
    wireModel: model.name,
    window: model.contextWindow ?? 100_000,
    maxOutput: model.maxOutput ?? 8192,
    why: 'the agent brings its own model',
    rehearsal: false,
  }
}
