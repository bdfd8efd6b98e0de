import { isTelemetryVariable } from '../telemetry.ts'
import type { LoadedSettings } from './settings.ts'

/** The environment of a session: the operator's, what the settings add, and on top what managed settings demand. */
export function environment(
  own: NodeJS.ProcessEnv,
  { settings, managedEnv }: Pick<LoadedSettings, 'settings' | 'managedEnv'>,
): NodeJS.ProcessEnv {
  // Whether hooks run at all is for the operator's own environment to say.
  const { SDLC_DISABLE_ALL_HOOKS: _, ...added } = settings.env ?? {}
  const env = { ...own, ...added }
  if (Object.keys(managedEnv).some(isTelemetryVariable))
    for (const name of Object.keys(env)) if (isTelemetryVariable(name)) delete env[name]
  return { ...env, ...managedEnv }
}
