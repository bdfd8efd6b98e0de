/** Time limits of handlers. */
import type { Env, Handler } from '../handler.ts'

/** How long a handler may take when it does not say (spec 003 §5.9). */
export function defaultTimeout({ event, kind }: Handler, env: Env): number {
  if (event === 'SessionEnd') return limitFrom(env.SDLC_SESSIONEND_HOOK_TIMEOUT_MS, 1_500)
  return limitFrom(env.SDLC_HOOK_TIMEOUT_MS, kind === 'prompt' ? 30_000 : 600_000)
}

function limitFrom(text: string | undefined, otherwise: number): number {
  const ms = Number(text)
  return text !== undefined && ms > 0 && Number.isFinite(ms) ? ms : otherwise
}
