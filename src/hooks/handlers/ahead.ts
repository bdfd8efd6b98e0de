/** Starts ahead what command hooks will need: shells, and the programs that stay. */
import type { Env, Handler } from '../handler.ts'
import type { Scope } from '../plane.ts'
import { expectRun } from './command.ts'
import { hookEnv } from './hook-env.ts'
import { expectPersistent } from './persistent.ts'

/** Hooks that may not run, or run in a sandbox, are left alone. */
export function startAhead(handlers: readonly Handler[], scope: Scope, env: Env): void {
  if (scope.wrap || scope.signal?.aborted) return
  for (const handler of handlers) {
    if (handler.kind !== 'command' || handler.withheld !== undefined || handler.sandbox) continue
    const run = { ...handler, cwd: scope.cwd, env: hookEnv(env, scope, handler) }
    if (handler.persistent) expectPersistent(run)
    else expectRun(run)
  }
}
