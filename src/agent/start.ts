/** From what the operator asked for to a session that can take a prompt. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { withOwnPath, withoutSecrets } from '../auth/child-env.ts'
import { createPlane } from '../hooks/dispatch.ts'
import type { Handler } from '../hooks/handler.ts'
import type { PermissionMode, Plane } from '../hooks/plane.ts'
import { readHooks, sayHookProblem } from '../hooks/settings.ts'
import type { Steps } from '../hooks/steps.ts'
import { matchesRule } from '../permissions/match.ts'
import { readRule } from '../permissions/rule.ts'
import type { ModelUsage } from '../providers/model.ts'
import { dbPath, openDb } from '../store/open.ts'
import { storable } from '../store/secrets.ts'
import { hookGroups, loadSettings, type SettingsRequest } from '../store/settings.ts'
import { getState } from '../store/state.ts'
import { trust } from '../store/trust.ts'
import { type AgentKind, loadAgentKinds } from './agents.ts'
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
  readonly agentsJson?: string
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

export type EndReason = 'clear' | 'resume' | 'logout' | 'prompt_input_exit' | 'other'

/** `usage`: what was asked for makes no sense, as against: it did not work. */
export type StartProblem = { readonly problem: string; readonly usage?: boolean }

export async function startSession(options: StartOptions): Promise<Started | StartProblem> {
  const opened = openRuntime(options)
  if ('problem' in opened) return opened
  const { runtime, permissions, tell, cleanUp } = opened
  const chosen = await runtime.modelFor(options.model ?? '')
  if ('problem' in chosen) {
    cleanUp()
    return { problem: chosen.problem }
  }
  const found = findSession(options, runtime)
  if ('problem' in found) {
    cleanUp()
    return found
  }
  const agent = options.agent ? runtime.agents.find((kind) => kind.name === options.agent) : undefined
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
      cwd: options.cwd,
      projectDir: options.cwd,
      messages: from.isNew ? [] : loadMessages(db, from.id, model.window),
      ...(options.systemPrompt !== undefined && { systemPrompt: options.systemPrompt }),
      ...(agent && { systemPrompt: agent.prompt }),
    })
    opened.use(entered)
    if (options.maxRequests) entered.maxRequests = options.maxRequests
    const todos = getState(db, entered.conversationId, 'todos')
    if (todos && !from.isNew) entered.todos = JSON.parse(todos)
    return entered
  }
  const end = async (ended: Session, reason: EndReason) => {
    await ended.raise('SessionEnd', () => ({ reason }))
    ended.commit(() => {})
    await ended.tasks.stopAll()
  }
  let session = enter(found, { mode: options.mode ?? permissions.defaultMode ?? 'default', model: chosen, permissions })
  for (const event of tell) session.emit(event)

  if (options.setup) await session.raise('Setup', () => ({ trigger: options.setup! }))
  const initialPrompt = await enterSession(session, found.isNew ? 'startup' : 'resume')
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
      await end(session, reason)
      await options.atEnd?.(session)
      cleanUp()
    },
  }
}

/** Raises SessionStart and keeps what its hooks add. Gives the prompt that they want said first. */
export async function enterSession(session: Session, source: 'startup' | 'resume' | 'clear'): Promise<string> {
  const step: Steps['after_session_enter'] = {
    cwd: session.cwd,
    source: source === 'resume' ? 'resume' : 'new',
    additionalContext: [],
  }
  const answer = await session.ask('after_session_enter', step, () => ({
    name: 'SessionStart',
    fields: { source, model: session.model.wireModel, ...(session.agentType && { agent_type: session.agentType }) },
  }))
  session.startContext = [textOf(step.additionalContext), ...answer.context].filter((text) => text !== '')
  session.commit(() => {})
  return answer.initialUserMessage ?? ''
}

/** Why a rule cannot be used; such a rule is left out, with a warning. */
const checkRule = (rule: string, behavior: 'allow' | 'ask' | 'deny'): string | undefined => {
  const read = readRule(rule, behavior)
  return read.ok ? undefined : read.why
}

export type Opened = {
  readonly runtime: Runtime
  readonly permissions: Session['permissions']
  readonly tell: readonly AgentEvent[]
  /** The session whose model answers prompt hooks. */
  use(session: Session): void
  /** The same hooks for one of several sessions at once, with handlers of its own before them. */
  planeFor(session: () => Session | undefined, own: readonly Handler[]): Plane
  cleanUp(): void
}

export function openRuntime(options: StartOptions): Opened | StartProblem {
  const { cwd, env } = options
  const home = env['HOME'] || homedir()
  const db = openDb(options.db ?? dbPath(env))
  if (options.trust) trust(cwd, { home })
  const loaded = loadSettings({
    db,
    cwd,
    home,
    env,
    checkRule,
    flags: { ...options.settings, bare: options.bare === true },
  })
  if (loaded.problems.length > 0) {
    db.close()
    return { problem: loaded.problems.map(({ file, why }) => `${file}: ${why}`).join('\n') }
  }
  const { settings, trusted } = loaded
  const tell: AgentEvent[] = loaded.warnings.map((text) => ({ type: 'notice', level: 'warning', text }))
  const read = hookGroups(loaded).map(({ source, hooks, withheld }) =>
    readHooks({ hooks }, { source: { kind: 'settings', layer: source }, withheld }),
  )
  const hooks = { handlers: read.flatMap((one) => one.handlers), problems: read.flatMap((one) => one.problems) }
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
  const agents = loadAgentKinds(cwd, home, options.agents)
  for (const text of agents.warnings) tell.push({ type: 'notice', level: 'warning', text })
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
  const runtime: Runtime = {
    ...(mcp && { mcp }),
    db,
    settings,
    plane: planeFor(() => current, options.handlers ?? []),
    person: options.person,
    env,
    childEnv: withoutSecrets(env),
    home,
    agents: agents.kinds,
    skills: sessionSkills({
      none: options.bare === true,
      home,
      projectDir: cwd,
      trusted,
      session: () => current,
      warn: (text) => options.on({ type: 'notice', level: 'warning', text }),
    }),
    trusted,
    bare: options.bare === true,
    withoutTools: hidden(options),
    ...(options.appendSystemPrompt && { appendSystemPrompt: options.appendSystemPrompt }),
    emit: (event) => options.on(event),
    spent: (model, usage, cost) => options.onUsage?.(model, usage, cost),
    modelFor: (name) => modelFor(name, options, { settings, env, trusted, closers, db: db.path }),
  }
  const { permissions = {} } = settings
  return {
    runtime,
    permissions: {
      ...permissions,
      allow: [...(permissions.allow ?? []), ...(options.allow ?? [])],
      deny: [...(permissions.deny ?? []), ...(options.deny ?? [])],
      additionalDirectories: [
        ...(permissions.additionalDirectories ?? []),
        ...(options.addDirs ?? []).map((folder) => resolve(cwd, folder)),
      ],
    },
    tell,
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
function hidden(options: StartOptions): string[] {
  return (options.deny ?? []).filter((rule) => !rule.includes('('))
}
