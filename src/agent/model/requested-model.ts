/** The model that an agent's definition, a call or a skill asks for. */
import { aliases } from '../../providers/models/models.ts'
import type { ActiveModel, ModelProblem, Runtime } from '../session/runtime.ts'

/**
 * Opus, sonnet and haiku are sizes of Claude's. Where the session talks to another provider they mean its own model: what is
 * said on a local machine does not go to a vendor because a file names one.
 */
export async function requestedModel(
  { modelFor, emit }: Runtime,
  own: ActiveModel,
  { wanted = '', by }: { wanted?: string; by: string },
): Promise<ActiveModel | ModelProblem> {
  if (wanted === '') return own
  if (own.providerName !== 'claude_code_subscription' && Object.hasOwn(aliases, wanted)) {
    const text = `${by} asks for ${wanted}, which ${own.providerName} does not have; it works with ${own.wireModel}`
    emit({ type: 'notice', level: 'warning', text })
    return own
  }
  const model = await modelFor(wanted)
  return 'problem' in model ? { ...model, problem: `model "${wanted}" of ${by}: ${model.problem}` } : model
}
