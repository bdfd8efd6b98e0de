/** Which model a session talks to: what was asked for, made into a provider that can be called. */
import { anthropicSource, credentialFor } from '../../auth/sources.ts'
import { createProvider } from '../../providers/create.ts'
import { specOf } from '../../providers/models/models.ts'
import { resolveModel, settle } from '../../providers/models/resolve.ts'
import type { ActiveModel, ModelProblem, Runtime } from '../session/runtime.ts'
import type { StartOptions } from '../session/start-options.ts'

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
): Promise<ActiveModel | ModelProblem> {
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
        error: 'authentication_failed',
      }
    const server = await options.startRehearsal()
    with_.closers.push(() => server.close())
    baseUrl = server.baseUrl
  }
  const credential = await credentialFor(choice.provider, { settings, env, bare, trusted })
  if ('problem' in credential) return { problem: credential.problem, error: 'authentication_failed' }
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
