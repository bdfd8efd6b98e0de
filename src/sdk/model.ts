/** A model of your own: whatever can answer a request. */

import type { ActiveModel } from '../agent/session/runtime.ts'
import { errorOf } from '../hooks/kernel.ts'
import { noUsage } from '../providers/dialects/dialect.ts'
import type { ModelRequest, Part, Provider, Reply } from '../providers/model.ts'
import { orAborted } from './abort.ts'

export interface OwnModel {
  /** For prices, hooks and the record. */
  readonly name: string
  /** Tokens; 100,000 unless said. */
  readonly contextWindow?: number
  /** Tokens of one reply; 8,192 unless said. */
  readonly maxOutput?: number
  /** A failure is a reply whose stop is 'error', with its kind; what is thrown counts as one that nobody knows. */
  reply(request: ModelRequest, on: (part: Part) => void): Promise<Reply>
}

export function activeModel(model: OwnModel): ActiveModel {
  const provider: Provider = {
    async reply(request, on) {
      try {
        return await orAborted(model.reply(request, on), request.signal)
      } catch (cause) {
        if (request.signal.aborted) return { content: [], stop: 'cancelled', usage: noUsage, model: model.name }
        const failure = { kind: 'unknown', message: errorOf(cause).message } as const
        return { content: [], stop: 'error', usage: noUsage, model: model.name, failure }
      }
    },
    models: async () => [model.name],
  }
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
