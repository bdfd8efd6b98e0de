/** What the linked roles of a trusted folder want changed in what ona is asked and does. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { StartOptions } from '../agent/session/start-options.ts'
import { warned } from './print.ts'

/** Loads nothing where no role is linked. A role that cannot be loaded is reported, and the others still apply. */
export async function roleHandlers({
  cwd,
  env,
  bare,
  trust,
}: Pick<StartOptions, 'cwd' | 'env' | 'bare' | 'trust'>): Promise<Pick<StartOptions, 'handlers'>> {
  if (bare || !existsSync(join(cwd, '.agent'))) return {}
  const { isTrusted } = await import('../store/settings/trust.ts')
  if (!trust && !isTrusted(cwd, { home: env['HOME'] || homedir() })) return {}
  const { linkedDispatch } = await import('../brains/dispatch.ts')
  const { handlers, problems } = await linkedDispatch({ from: cwd })
  for (const problem of problems) warned(problem)
  return { handlers }
}
