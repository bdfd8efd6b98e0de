/** The environment of a command hook, made once for each. */
import type { Env, Handler } from '../handler.ts'

interface Where {
  readonly dbPath: string
  readonly projectDir?: string | undefined
}
type Whose = Pick<Handler, 'profile' | 'source'>

const kept = new WeakMap<Whose, Where & { readonly host: Env; readonly env: Env }>()

/** The host's own, and where it is. The same object for the same hook, unless the host's can change. */
export function hookEnv(host: Env, { dbPath, projectDir }: Where, handler: Whose): Env {
  const known = kept.get(handler)
  if (known && known.host === host && known.dbPath === dbPath && known.projectDir === projectDir) return known.env
  const env = newEnv(host, { dbPath, projectDir }, handler)
  if (host !== process.env) kept.set(handler, { host, dbPath, projectDir, env })
  return env
}

const newEnv = (host: Env, { dbPath, projectDir }: Where, { profile, source }: Whose): Env => ({
  ...host,
  AGENT_SDLC_DB: dbPath,
  SDLC_HOOK: '1',
  ...(!host.LANG && !host.LC_ALL && { LANG: 'C.UTF-8' }),
  ...(projectDir !== undefined && { CLAUDE_PROJECT_DIR: projectDir }),
  ...(profile === 'claude' && { CLAUDECODE: '1' }),
  ...(source.kind === 'plugin' && source.root !== undefined && { CLAUDE_PLUGIN_ROOT: source.root }),
  ...(source.kind === 'plugin' && source.env),
})

const texts = new WeakMap<Env, string>()

/** Tells environments apart. */
export function envText(env: Env): string {
  const known = texts.get(env)
  if (known !== undefined) return known
  const text = JSON.stringify(env)
  texts.set(env, text)
  return text
}
