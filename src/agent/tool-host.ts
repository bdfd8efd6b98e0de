/** The agent's side of what its tools do together with it. */
import { isAbsolute, relative } from 'node:path'
import { rulesOf } from '../permissions/rules/rules.ts'
import { searchable } from '../permissions/searchable.ts'
import { getState, setState } from '../store/state.ts'
import type { SeenFile, ToolHost } from '../tools/host.ts'
import type { ToolContext } from '../tools/tool.ts'
import type { Call } from './call.ts'
import { unlisted } from './context/listings.ts'
import { askModel } from './model/ask-model.ts'
import { spendAside } from './model/spend.ts'
import { questionOf } from './permission-question.ts'
import { checkpoint } from './session/checkpoint.ts'
import { loadTools } from './session/loaded-tools.ts'
import type { Session } from './session/session.ts'

/** What a tool is run with. `call`: as the rules judged it. */
export const toolContext = (session: Session, toolUseId: string, call?: Call): ToolContext => ({
  sessionId: session.id,
  conversationId: session.conversationId,
  toolUseId,
  db: session.db,
  cwd: session.cwd,
  projectDir: session.projectDir,
  ...(call?.judgedPath && { judgedPath: call.judgedPath }),
  ...(call?.place && { place: call.place }),
  ...(call?.shell && { shell: call.shell }),
  ...(call && {
    watchProtected: async () => (await import('./protected/changes.ts')).watchProtected(call),
  }),
  home: session.runtime.home,
  signal: call?.pace?.signal ?? session.signal,
  env: session.runtime.childEnv,
  prelude: () => session.runtime.hookVariables?.(session.id) ?? '',
  host: hostOf(session, call?.pace),
  progress: (text) => session.emit({ type: 'tool-progress', id: toolUseId, text }),
})

function hostOf(session: Session, pace: Call['pace']): ToolHost {
  const { runtime } = session
  return {
    async moveTo(directory) {
      if (directory === session.cwd) return true
      if (!session.workingDirectories.some((folder) => isInside(folder, directory))) return false
      const old = session.cwd
      session.cwd = directory
      await session.raise('CwdChanged', () => ({ old_cwd: old, new_cwd: directory }))
      return true
    },
    files: {
      note(path, seen) {
        session.seenFiles.set(path, seen)
        session.later(() => setState(session.db, session.conversationId, seenKey(session, path), JSON.stringify(seen)))
      },
      get: (path) => session.seenFiles.get(path) ?? seenBefore(session, path),
    },
    checkpoint: (path) => checkpoint(session, path),
    mayShow: (path) => shownBySearch(session)(path),
    tasks: session.tasks,
    askUser: (questions) => runtime.user.questions(questions, session.signal),
    setTodos(todos) {
      session.todos = todos
      setState(session.db, session.conversationId, 'todos', JSON.stringify(todos))
      session.emit({ type: 'todos', todos })
    },
    todos: () => session.todos,
    runAgent: (request) => session.services.runAgent(session, { ...request, ...(pace && { pace }) }),
    agentTypes: () => runtime.agents.map(({ name, description }) => ({ name, description })),
    skills: {
      list: () => runtime.skills.list(),
      load: (name, args, toolUseId) => session.services.loadSkill(session, name, args, toolUseId),
    },
    enterPlanMode: () => session.services.enterPlanMode(session),
    exitPlanMode: (plan, commands) => session.services.exitPlanMode(session, plan, commands),
    mcp: runtime.mcp,
    deferredTools: () => session.toolbox.deferred(session.model.window),
    unlisted: () => unlisted(session),
    revealTools: (names) => loadTools(session, names),
    askModel: (prompt, signal) => askModel(session, prompt, signal),
    async searchWeb(query, domains, signal) {
      const { provider, wireModel } = session.model
      const searched = await provider.search?.({ query, ...domains, model: wireModel, signal })
      if (searched) spendAside(session, searched.reply)
      return searched
    },
    mayReachPrivate: (host) => namedByRule(session, host),
    brief: (text) => session.emit({ type: 'brief', text }),
  }
}

function isInside(folder: string, path: string): boolean {
  const inside = relative(folder, path)
  return !inside.startsWith('..') && !isAbsolute(inside)
}

/** What a session has read is still read when it goes on in another process; whether it is fresh, the file tells. */
const seenKey = (session: Session, path: string) => `seen:${session.id}:${path}`

function seenBefore(session: Session, path: string): SeenFile | undefined {
  const kept = getState(session.db, session.conversationId, seenKey(session, path))
  return kept === undefined ? undefined : (JSON.parse(kept) as SeenFile)
}

/** Rebuilt only when the rules or the place have changed: a search asks it of every file. */
function shownBySearch(session: Session): (path: string) => boolean {
  const { permissions: settings, cwd, mode } = session
  const kept = searches.get(session)
  if (kept?.settings === settings && kept.cwd === cwd && kept.mode === mode) return kept.may
  const may = searchable(questionOf(session))
  searches.set(session, { settings, cwd, mode, may })
  return may
}
const searches = new WeakMap<
  Session,
  { settings: unknown; cwd: string; mode: string; may: (path: string) => boolean }
>()

/** A private address is reachable only where a rule names its host: `WebFetch(domain:localhost)`. */
const namedByRule = (session: Session, host: string): boolean =>
  rulesOf(session.permissions).allow.some(({ specifier }) => specifier.kind === 'domain' && specifier.host === host)
