/** What the rules need to know of a session, besides the call. */
import { filesHooksExecute } from '../hooks/executed-files.ts'
import { readHooks } from '../hooks/settings.ts'
import { type ProtectedPath, sessionProtectedPaths } from '../permissions/protected-paths.ts'
import type { PermissionQuestion } from '../permissions/question.ts'
import type { Runtime } from './session/runtime.ts'
import type { Session } from './session/session.ts'

type Place = Pick<PermissionQuestion, 'settings' | 'mode' | 'cwd' | 'projectDir' | 'home' | 'origins' | 'protect'>

export function questionOf(session: Session): Place {
  const { runtime, cwd, projectDir } = session
  const { startDir = projectDir, home } = runtime
  return {
    settings: session.rules,
    mode: session.mode,
    cwd,
    projectDir,
    home,
    origins: startDir === projectDir ? [] : [startDir],
    protect: protectedBy(runtime, startDir),
  }
}

const known = new WeakMap<Runtime['settings'], readonly ProtectedPath[]>()

/** Read once: hooks do not change while a process runs. */
function protectedBy({ settings, db, home, plugins = [] }: Runtime, projectDir: string): readonly ProtectedPath[] {
  const found = known.get(settings)
  if (found) return found
  const { handlers } = readHooks({ hooks: settings.hooks }, { source: { kind: 'settings' } })
  const hookFiles = filesHooksExecute(handlers, { cwd: projectDir, projectDir, home })
  const roots = plugins.map(({ root }) => root) // what a plugin's hooks and servers run lies anywhere in it
  const rows = sessionProtectedPaths({ database: db.path, hookFiles: [...hookFiles, ...roots] })
  known.set(settings, rows)
  return rows
}
