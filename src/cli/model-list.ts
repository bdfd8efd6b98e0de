/** The models that a session can switch to, for programs that show a list. */
import type { Session } from '../agent/session/session.ts'

export interface ListedModel {
  /** What `--model` takes; `default` is the one that the session started with. */
  readonly value: string
  readonly resolvedModel: string
  readonly displayName: string
  readonly description: string
}

/** Those of the session's own provider, the one in use first. */
export async function modelList({ model }: Session): Promise<ListedModel[]> {
  const { models } = await import('../providers/models/models.ts')
  const specs = Object.entries(models[model.providerName] ?? {})
  const named = specs.map(([value, wire]) => ({ value, resolvedModel: wire ?? value, displayName: value }))
  const current = { value: 'default', resolvedModel: model.wireModel, displayName: `Default (${model.wireModel})` }
  return [current, ...named].map((each) => ({ ...each, description: `${each.resolvedModel} (${model.providerName})` }))
}
