/** What the rules need to know of a session, besides the call. */
import { filesCommandsExecute, filesHooksExecute } from '../hooks/handlers/executed-files.ts'
import { readHooks } from '../hooks/settings.ts'
import { isObject } from '../hooks/shape.ts'
import { type ProtectedPath, sessionProtectedPaths } from '../permissions/protected-paths.ts'
import type { PermissionQuestion } from '../permissions/question.ts'
import { archivesIn } from '../store/archive/archives-in.ts'
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

interface Known {
  readonly archives: readonly string[]
  readonly rows: readonly ProtectedPath[]
}

const known = new WeakMap<Runtime['settings'], Known>()

/** Hooks do not change while a process runs; archives come and go. The list is the same one until they do. */
export function protectedBy(
  {
    settings,
    db,
    home,
    plugins = [],
  }: Pick<Runtime, 'settings' | 'home' | 'plugins'> & { readonly db: { readonly path: string } },
  projectDir: string,
): readonly ProtectedPath[] {
  const before = known.get(settings)
  const archives = archivesIn(db.path)
  if (before?.archives === archives) return before.rows
  const { handlers } = readHooks({ hooks: settings.hooks }, { source: { kind: 'settings' } })
  const place = { cwd: projectDir, projectDir, home }
  const hookFiles = [
    ...filesHooksExecute([...handlers, ...plugins.flatMap((plugin) => plugin.handlers)], place),
    ...filesCommandsExecute(commandsIn(settings), place),
  ]
  const rows = [
    ...sessionProtectedPaths({ database: db.path, hookFiles, plugins: plugins.map(({ root }) => root) }),
    ...archives.map(
      (path): ProtectedPath => ({ at: 'exact', path, edit: 'deny', what: "an archive of ona's database" }),
    ),
  ]
  known.set(settings, { archives, rows })
  return rows
}

/** Further commands that settings name and that run with the user's rights: helpers, the status line, MCP servers. */
function commandsIn({ apiKeyHelper, statusLine, mcpServers }: Readonly<Record<string, unknown>>): string[] {
  const values = [apiKeyHelper, statusLine, ...Object.values(isObject(mcpServers) ? mcpServers : {})]
  return values.flatMap((value) => {
    if (typeof value === 'string') return [value]
    if (!isObject(value) || typeof value['command'] !== 'string') return []
    const args = Array.isArray(value['args']) ? value['args'].filter((each) => typeof each === 'string') : []
    return [value['command'], ...args]
  })
}
