/** From what the operator asked for to a session that can take a prompt. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { withOwnPath, withoutSecrets } from '../auth/child-env.ts'
import { createPlane } from '../hooks/dispatch.ts'
import type { EventFields } from '../hooks/events.ts'
import type { Handler } from '../hooks/handler.ts'
import type { PermissionMode, Plane } from '../hooks/plane.ts'
import { sayHookProblem } from '../hooks/settings.ts'
import type { Steps } from '../hooks/steps.ts'
import { matchesRule } from '../permissions/match.ts'
import { ruleProblem } from '../permissions/rule.ts'
import type { ModelUsage } from '../providers/model.ts'
import { addEvent } from '../store/audit.ts'
import { newestConversation } from '../store/conversations.ts'
import { dbPath, openDb } from '../store/open.ts'
import { storable } from '../store/secrets.ts'
import { hooksOf, loadSettings, type SettingsRequest } from '../store/settings.ts'
import { getState } from '../store/state.ts'
import { trust } from '../store/trust.ts'
import { builtInTools } from '../tools/all.ts'
import { type AgentKind, allows, loadAgentKinds } from './agents.ts'
import { modelFor } from './choose-model.ts'
import type { AgentEvent, Person } from './events.ts'
import { type Found, findSession } from './find-session.ts'
import { loadMessages } from './history.ts'
import { askModel } from './host.ts'
import { declaredServers, openMcp } from './mcp.ts'
import type { Runtime } from './runtime.ts'
import { Session } from './session.ts'
import { sessionSkills } from './skills.ts'
import { textOf } from './stages.ts'
import { toolsOf } from './toolbox.ts'
import type { Worktree } from './worktree.ts'

export interface StartOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly person: Person
  on(event: AgentEvent): void
  onUsage?(model: string, usage: ModelUsage, costUsd: number | null): void
  /** The database; by default the one that the environment names. */
  readonly db?: string
  readonly model?: string
  readonly mode?: PermissionMode
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly tools?: readonly string[]
  readonly addDirs?: readonly string[]
  readonly systemPrompt?: string
  readonly appendSystemPrompt?: string
  readonly settings?: NonNullable<SettingsRequest['flags']>
  readonly agents?: readonly AgentKind[]
  readonly agent?: string
  readonly mcpConfig?: readonly string[]
  readonly strictMcp?: boolean
  /** No MCP server is started. */
  readonly withoutMcp?: boolean
  /** Shows a page to the person, to sign in to a server. */
  openUrl?(url: string): void | Promise<void>
  readonly sessionId?: string
  /** An id or name to go on with; true for the newest of this folder. */
  readonly resume?: string | true
  readonly fork?: boolean
  readonly name?: string
  readonly maxRequests?: number
  readonly maxBudgetUsd?: number
  readonly bare?: boolean
  readonly trust?: boolean
  readonly setup?: 'init' | 'maintenance'
  /** Works in a git worktree of this name; "" for a new one. */
  readonly worktree?: string
  /** Hooks are told that the agent waits this long after a turn; without it they are not. */
  readonly idleNoticeMs?: number
  /** Asked when the model is overloaded, in this order. */
  readonly fallbackModels?: readonly string[]
  /** In-process handlers: our own, and those of the SDK. */
  readonly handlers?: readonly Handler[]
  /** Called when all is over but the database is still open. */
  atEnd?(session: Session): Promise<void>
  /** Starts the built-in model's server when it is the one chosen. */
  startRehearsal?(): Promise<{ readonly baseUrl: string; readonly model: string; close(): void }>
}

export interface Started {
  /** The one in use: `change` puts another in its place. */
  readonly session: Session
  /** What SessionStart hooks want said first. */
  readonly initialPrompt: string
  /** Ends the session in use and goes on in a new or an earlier one; model, mode and rules stay as they are. */
  change(to: SessionChange): Promise<{ readonly initialPrompt: string } | StartProblem>
  /** Raises SessionEnd, ends what runs beside, closes the database. */
  close(reason: EndReason): Promise<void>
}

export interface SessionChange {
  readonly reason: 'clear' | 'resume'
  /** An id or a name; without it a new conversation begins. */
  readonly resume?: string
  /** Goes on in a copy. */
  readonly fork?: boolean
  readonly name?: string
}

export type EndReason = EventFields['SessionEnd']['reason']

/** `usage`: what was asked for makes no sense, as against: it did not work. */
export type StartProblem = { readonly problem: string; readonly usage?: boolean }

export async function startSession(options: StartOptions): Promise<Started | StartProblem> {
  const opened = openRuntime(options)
  if ('problem' in opened) return opened
  const { runtime, permissions, tell, cleanUp } = opened
  const failed = (problem: StartProblem): StartProblem => {
    // no turn comes about; that somebody wanted one is on record all the same
    const conversationId = newestConversation(runtime.db)?.id ?? 'none'
    addEvent(runtime.db, { conversationId, type: 'start_failure', detail: { why: problem.problem } })
    cleanUp()
    return problem
  }
  const agent = agentOf(options, runtime)
  if (agent && 'problem' in agent) return failed(agent)
  const chosen = await runtime.modelFor(options.model ?? agent?.model ?? '')
  if ('problem' in chosen) return failed({ problem: chosen.problem })
  const found = findSession(options, runtime)
  if ('problem' in found) return failed(found)

  let place = options.cwd
  const enter = (
    from: Found,
    { mode, model, permissions }: Pick<Session, 'mode' | 'model' | 'permissions'>,
  ): Session => {
    const { db } = runtime
    const entered = new Session({
      runtime,
      ...from,
      mode,
      model,
      permissions,
      cwd: place,
      projectDir: place,
      messages: from.isNew ? [] : loadMessages(db, from.id, model.window),
      ...(agent && { agentType: agent.name, systemPrompt: agent.prompt, tools: toolsFor(runtime, agent) }),
      ...(options.systemPrompt !== undefined && { systemPrompt: options.systemPrompt }),
    })
    opened.use(entered)
    if (options.maxRequests) entered.maxRequests = options.maxRequests
    const todos = getState(db, entered.conversationId, 'todos')
    if (todos && !from.isNew) entered.todos = JSON.parse(todos)
    return entered
  }
  const mode = options.mode ?? agent?.permissionMode ?? permissions.defaultMode ?? 'default'
  let session = enter(found, { mode, model: chosen, permissions })
  for (const event of tell) session.emit(event)
  if (options.mode === 'bypassPermissions' && permissions.disableBypassPermissionsMode === 'disable') {
    await end(session, 'bypass_permissions_disabled')
    return failed({ problem: 'the settings forbid the mode bypassPermissions (disableBypassPermissionsMode)' })
  }

  const beside = await startBeside(opened, options, () => session)
  let worktree: Worktree | undefined
  if (options.worktree !== undefined) {
    const { makeWorktree } = await import('./worktree.ts')
    const made = await makeWorktree(session, options.worktree)
    if ('problem' in made) {
      for (const each of beside) await each.close()
      await end(session, 'other')
      return failed(made)
    }
    worktree = made
    place = session.cwd = session.projectDir = made.path
  }
  const setUp = options.setup ? await session.raise('Setup', () => ({ trigger: options.setup! })) : undefined
  const initialPrompt = await enterSession(session, found.isNew ? 'startup' : 'resume', setUp?.context)
  return {
    get session() {
      return session
    },
    initialPrompt,
    async change({ reason, resume, fork, name }) {
      const next = findSession({ ...options, sessionId: undefined, resume, fork, name }, runtime)
      if ('problem' in next) return next
      await end(session, reason)
      session = enter(next, session)
      return { initialPrompt: await enterSession(session, reason) }
    },
    async close(reason) {
      for (const each of beside) await each.close()
      await end(session, reason)
      await worktree?.leave()
      await options.atEnd?.(session)
      cleanUp()
    },
  }
}

/** Hooks hear of the end even where a signal brought it about: each has its own short limit. */
async function end(session: Session, reason: EndReason): Promise<void> {
  await session.raise('SessionEnd', () => ({ reason }), new AbortController().signal)
  session.commit(() => {})
  await session.tasks.stopAll()
}

/** The sub-agent's definition that the whole session runs as, where one is named. */
function agentOf({ agent = '' }: StartOptions, { agents, settings }: Runtime): AgentKind | StartProblem | undefined {
  const name = agent || settings.agent
  if (!name) return undefined
  const kind = agents.find((each) => each.name === name)
  return kind ?? { problem: `there is no agent "${name}"; there are: ${agents.map((each) => each.name).join(', ')}` }
}

/** What goes on beside the session, where hooks listen to it: changed files, and that the agent waits. */
async function startBeside(
  { runtime, watched }: Opened,
  { cwd, env, idleNoticeMs }: StartOptions,
  session: () => Session,
): Promise<{ close(): Promise<void> }[]> {
  const { plane, home } = runtime
  const beside: { close(): Promise<void> }[] = []
  if (plane.listens('FileChanged', 'ConfigChange')) {
    const { configFiles, watchFor } = await import('./watch.ts')
    const configs = plane.listens('ConfigChange') ? configFiles({ cwd, home, env }, watched.managed) : new Map()
    const watcher = watchFor(session, configs)
    watcher.add(watched.names)
    runtime.watch = (paths) => watcher.add(paths)
    beside.push(watcher)
  }
  if (idleNoticeMs !== undefined && plane.listens('Notification')) {
    const { idleNotice } = await import('./idle.ts')
    const idle = idleNotice(session, idleNoticeMs)
    const { emit } = runtime
    runtime.emit = (event) => {
      emit(event)
      idle.hear(event)
    }
    beside.push(idle)
  }
  return beside
}

/** Raises SessionStart and keeps what its hooks add. Gives the prompt that they want said first. */
export async function enterSession(
  session: Session,
  source: 'startup' | 'resume' | 'clear',
  before: readonly string[] = [],
): Promise<string> {
  const step: Steps['after_session_enter'] = {
    cwd: session.cwd,
    source: source === 'resume' ? 'resume' : 'new',
    additionalContext: [],
  }
  const answer = await session.ask('after_session_enter', step, () => ({
    name: 'SessionStart',
    fields: { source, model: session.model.wireModel, ...(session.agentType && { agent_type: session.agentType }) },
  }))
  session.startContext = [...before, textOf(step.additionalContext), ...answer.context].filter((text) => text !== '')
  session.commit(() => {})
  return answer.initialUserMessage ?? ''
}

export type Opened = {
  readonly runtime: Runtime
  readonly permissions: Session['permissions']
  readonly tell: readonly AgentEvent[]
  /** Files to watch besides those that hooks name while they run. */
  readonly watched: { readonly managed: readonly string[]; readonly names: readonly string[] }
  /** The session whose model answers prompt hooks. */
  use(session: Session): void
  /** The same hooks for one of several sessions at once, with handlers of its own before them. */
  planeFor(session: () => Session | undefined, own: readonly Handler[]): Plane
  cleanUp(): void
}

export function openRuntime(options: StartOptions): Opened | StartProblem {
  const { cwd } = options
  const home = options.env['HOME'] || homedir()
  const db = openDb(options.db ?? dbPath(options.env))
  if (options.trust) trust(cwd, { home })
  const loaded = loadSettings({
    db,
    cwd,
    home,
    env: options.env,
    checkRule: ruleProblem,
    flags: { ...options.settings, bare: options.bare === true },
  })
  if (loaded.problems.length > 0) {
    db.close()
    return { problem: loaded.problems.map(({ file, why }) => `${file}: ${why}`).join('\n') }
  }
  const { settings, trusted } = loaded
  // Whether hooks run at all is for the operator's own environment to say.
  const { SDLC_DISABLE_ALL_HOOKS: _, ...variables } = settings.env ?? {}
  const env = { ...options.env, ...variables }
  const tell: AgentEvent[] = loaded.warnings.map((text) => ({ type: 'notice', level: 'warning', text }))
  const hooks = hooksOf(loaded)
  const faults = hooks.problems.filter(({ level }) => level === 'error')
  if (faults.length > 0) {
    db.close()
    return { problem: faults.map(sayHookProblem).join('\n') }
  }
  for (const problem of hooks.problems) tell.push({ type: 'notice', level: 'warning', text: sayHookProblem(problem) })
  let current: Session | undefined
  const planeFor: Opened['planeFor'] = (session, own) =>
    createPlane([...own, ...hooks.handlers], {
      env: withOwnPath(env),
      withhold: storable,
      matchesRule: (rule, tool, input) => {
        const here = session()?.cwd ?? cwd
        const question = { settings: {}, mode: 'default', hook: 'none', cwd: here, projectDir: cwd, home } as const
        return matchesRule(rule, { ...question, tool, input })
      },
      askModel: async ({ prompt, system, signal }) => {
        const asking = session()
        const answer = asking
          ? await askModel(asking, prompt, signal, system)
          : { ok: false, text: 'there is no session' }
        if (!answer.ok) throw new Error(answer.text)
        return answer.text
      },
    })
  /** Read when they are first asked for. */
  let agents: readonly AgentKind[] | undefined
  const agentKinds = () => {
    if (agents) return agents
    const places = { projectDir: cwd, home, trusted, bare: options.bare === true }
    const { kinds, warnings } = loadAgentKinds(places, options.agents)
    for (const text of warnings) options.on({ type: 'notice', level: 'warning', text })
    agents = kinds
    return agents
  }
  const closers: (() => void)[] = [() => db.close()]
  const servers = {
    ...{ settings, trusted, cwd, home, env, person: options.person, openUrl: options.openUrl },
    ...{ flags: options.mcpConfig ?? [], strict: options.strictMcp === true, bare: options.bare === true },
    session: () => current,
  }
  const declared = options.withoutMcp ? { servers: [], problems: [] } : declaredServers(servers)
  for (const text of declared.problems) tell.push({ type: 'notice', level: 'warning', text })
  const mcp = openMcp(servers, declared)
  if (mcp) closers.push(() => void mcp.close())
  const fallbackModels = options.fallbackModels ?? [settings.fallbackModel ?? []].flat()
  const runtime: Runtime = {
    ...(mcp && { mcp }),
    db,
    settings,
    plane: planeFor(() => current, options.handlers ?? []),
    person: options.person,
    env,
    childEnv: withoutSecrets(env),
    home,
    get agents() {
      return agentKinds()
    },
    skills: sessionSkills({
      none: options.bare === true,
      home,
      projectDir: cwd,
      trusted,
      warn: (text) => options.on({ type: 'notice', level: 'warning', text }),
    }),
    trusted,
    bare: options.bare === true,
    withoutTools: hidden(options),
    ...(options.maxBudgetUsd && { budget: { usd: options.maxBudgetUsd, spent: 0 } }),
    fallbackModels,
    ...(options.appendSystemPrompt && { appendSystemPrompt: options.appendSystemPrompt }),
    emit: (event) => options.on(event),
    spent: (model, usage, cost) => options.onUsage?.(model, usage, cost),
    modelFor: (name) =>
      modelFor(name, options, { settings, env, trusted, closers, db: db.path, hasFallback: fallbackModels.length > 0 }),
  }
  const { permissions = {} } = settings
  const managedRulesOnly =
    settings.allowManagedPermissionRulesOnly === true || permissions.allowManagedPermissionRulesOnly === true
  return {
    runtime,
    permissions: {
      ...permissions,
      ...(managedRulesOnly && { allowManagedPermissionRulesOnly: true }),
      allow: [...(permissions.allow ?? []), ...(managedRulesOnly ? [] : (options.allow ?? []))],
      deny: [...(permissions.deny ?? []), ...(options.deny ?? [])],
      additionalDirectories: [
        ...(permissions.additionalDirectories ?? []),
        ...(options.addDirs ?? []).map((folder) => resolve(cwd, folder)),
      ],
    },
    tell,
    watched: {
      managed: loaded.sources.filter(({ level }) => level === 'managed').map(({ file }) => file),
      names: hooks.handlers.flatMap(({ event, matcher }) => (event === 'FileChanged' ? plainNames(matcher) : [])),
    },
    use: (session) => {
      current = session
    },
    planeFor,
    cleanUp: () => {
      for (const close of closers.splice(0).reverse()) close()
    },
  }
}

/** A bare name in the deny list hides the tool; `tools` leaves only those named. */
function hidden({ deny = [], tools }: StartOptions): string[] {
  const bare = deny.filter((rule) => !rule.includes('('))
  if (!tools || tools.includes('default')) return bare
  return [...bare, ...builtInTools.map((tool) => tool.name).filter((name) => !tools.includes(name))]
}

/** A sub-agent's powers, for a session that runs as one. */
const toolsFor = (runtime: Runtime, agent: AgentKind) => toolsOf(runtime, (name) => allows(agent, name))

/** A matcher of FileChanged that is a list of plain names watches them in the project: `.env|package.json`. */
const plainNames = (matcher: string): string[] =>
  matcher
    .replaceAll('\\.', '.')
    .split('|')
    .filter((name) => /^[\w.-]+$/.test(name))
