/** From what the operator asked for to a session that can take a prompt. */

import type { EventFields } from '../../hooks/events.ts'
import { textOf } from '../../hooks/step/blocks.ts'
import type { Steps } from '../../hooks/steps.ts'
import { counted } from '../../hooks/text/counted.ts'
import { addEvent } from '../../store/audit.ts'
import { newestConversation } from '../../store/conversations.ts'
import { getState } from '../../store/state.ts'
import { charsOf } from '../context/window.ts'
import { requestedModel } from '../model/requested-model.ts'
import { flagOf, savedModel, saveModel } from '../model/saved-model.ts'
import { type AgentKind, allows } from '../subagents/agent-definitions.ts'
import { equip } from '../subagents/agent-extensions.ts'
import { toolsOf } from '../toolbox.ts'
import { type Found, findSession } from './find-session.ts'
import { loadConversation } from './history.ts'
import { loadAgain } from './loaded-tools.ts'
import { type Opened, openSharedRuntime } from './open-runtime.ts'
import type { Runtime } from './runtime.ts'
import { Session } from './session.ts'
import { sessionServices } from './session-services.ts'
import type { StartOptions, StartProblem } from './start-options.ts'
import type { Worktree } from './worktree.ts'

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

export async function startSession(options: StartOptions): Promise<Started | StartProblem> {
  const opened = openSharedRuntime(options)
  if ('problem' in opened) return opened
  const { permissions, tell, cleanUp } = opened
  let { runtime } = opened
  const failed = (problem: StartProblem): StartProblem => {
    // no turn starts; the attempt is recorded all the same
    const conversationId = newestConversation(runtime.db)?.id ?? 'none'
    addEvent(runtime.db, { conversationId, type: 'start_failure', detail: { why: problem.problem } })
    cleanUp()
    return problem
  }
  const unfit = await sandboxProblem(runtime)
  if (unfit) return failed({ problem: unfit })
  const agent = agentOf(options, runtime)
  if (agent && 'problem' in agent) return failed(agent)
  const equipped = agent && (await equip(runtime, agent, { projectDir: options.cwd, alone: true }))
  if (equipped && 'problem' in equipped) return failed(equipped)
  runtime = equipped?.runtime ?? runtime
  const first = await runtime.modelFor(options.model ?? '')
  if ('problem' in first) return failed(first)
  const wanted = options.model === undefined && agent?.model
  const chosen = await requestedModel(runtime, first, { ...(wanted && { wanted }), by: `agent ${agent?.name}` })
  if ('problem' in chosen) return failed(chosen)
  const found = findSession(options, runtime)
  if ('problem' in found) return failed(found)

  let place = options.cwd
  const enter = (
    from: Found,
    { mode, model, permissions }: Pick<Session, 'mode' | 'model' | 'permissions'>,
  ): Session => {
    const { db } = runtime
    const { messages, leftOut } = from.isNew
      ? { messages: [], leftOut: 0 }
      : loadConversation(db, from.id, model.window, { compacts: !runtime.env.DISABLE_COMPACT })
    const entered = new Session({
      runtime,
      services: sessionServices,
      ...from,
      mode,
      model,
      permissions,
      cwd: place,
      projectDir: place,
      messages,
      ...(agent && { agentType: agent.name, systemPrompt: agent.prompt, tools: toolsFor(runtime, agent) }),
      ...(options.systemPrompt !== undefined && { systemPrompt: options.systemPrompt }),
    })
    opened.use(entered)
    if (leftOut > 0) entered.emit({ type: 'notice', level: 'warning', text: leftOutText(leftOut) })
    entered.unreportedChars = charsOf(messages)
    if (options.maxRequests) entered.maxRequests = options.maxRequests
    const todos = getState(db, entered.conversationId, 'todos')
    if (todos && !from.isNew) entered.todos = JSON.parse(todos)
    if (!from.isNew) loadAgain(entered)
    return entered
  }
  const mode = options.mode ?? agent?.permissionMode ?? permissions.defaultMode ?? 'default'
  let session = enter(found, { mode, model: chosen, permissions })
  if (options.model) saveModel(session, chosen)
  else if (!wanted) await useKept(session)
  options.signal?.addEventListener('abort', () => session.interrupt())
  if (options.signal?.aborted) session.interrupt()
  for (const event of tell) session.emit(event)
  if (session.mode !== mode && options.mode === undefined)
    session.emit({ type: 'notice', level: 'warning', text: `the settings forbid ${mode}; the mode is ${session.mode}` })
  if (options.mode === 'bypassPermissions' && permissions.disableBypassPermissionsMode === 'disable') {
    await end(session, 'bypass_permissions_disabled')
    return failed({ problem: 'the settings forbid the mode bypassPermissions (disableBypassPermissionsMode)' })
  }

  await equipped?.start(() => session)
  const { cleanupPeriodDays: days = 0 } = runtime.settings
  if (days > 0) (await import('./cleanup.ts')).startCleanup(session, days)
  const beside = await startBeside({ ...opened, runtime }, options, () => session)
  let worktree: Worktree | undefined
  if (options.worktree !== undefined) {
    const { makeWorktree } = await import('./worktree.ts')
    const made = await makeWorktree(session, options.worktree)
    if ('problem' in made) {
      for (const each of beside) await each.close()
      await end(session, 'other')
      await equipped?.close()
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
      await equipped?.close()
      await worktree?.leave()
      await options.atEnd?.(session)
      cleanUp()
    },
  }
}

const leftOutText = (rows: number) =>
  `The oldest ${counted(rows, 'row')} of this conversation are far beyond the model's window and are left out. The record keeps them: ona inspect shows them, and a model with a larger window is sent them.`

/** With `failIfUnavailable` nothing starts where commands cannot be sandboxed; otherwise a line says so. */
async function sandboxProblem({ sandbox, emit }: Runtime): Promise<string | undefined> {
  const fence = await sandbox?.()
  if (!fence) return undefined
  const { ignoredKeys } = await import('../../sandbox/settings.ts')
  for (const text of ignoredKeys(fence.settings)) emit({ type: 'notice', level: 'warning', text })
  if (fence.availability.ok) return undefined
  const { why } = fence.availability
  if (fence.settings.failIfUnavailable)
    return `the sandbox is required (sandbox.failIfUnavailable) and not available: ${why}`
  emit({ type: 'notice', level: 'warning', text: `commands run without a sandbox: ${why}` })
  return undefined
}

/** The model that was chosen in it before; where that cannot be had any more, a line says so. */
async function useKept(session: Session): Promise<void> {
  const kept = savedModel(session)
  if (kept === undefined || kept === flagOf(session.model)) return
  const model = await session.runtime.modelFor(kept)
  if (!('problem' in model)) session.model = model
  else {
    const text = `this session used the model ${kept}; it continues with ${session.model.wireModel}: ${model.problem}`
    session.emit({ type: 'notice', level: 'warning', text })
  }
}

/** Hooks hear of the end even where a signal brought it about: each has its own short limit. */
async function end(session: Session, reason: EndReason): Promise<void> {
  await session.raise('SessionEnd', () => ({ reason }), new AbortController().signal)
  await session.runtime.plane.close()
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
    const watcher = watchFor(session, configs, watched.names)
    runtime.watch = (paths) => watcher.watch(paths)
    beside.push(watcher)
  }
  if (idleNoticeMs !== undefined && plane.listens('Notification')) {
    const { idleNotice } = await import('./idle-notification.ts')
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
  if (answer.control.kind === 'break')
    session.rejected = { stop: answer.control.reason, why: answer.reason || 'a hook rejected the session' }
  session.commit(() => {})
  return answer.initialUserMessage ?? ''
}

/** A sub-agent's powers, for a session that runs as one. */
const toolsFor = (runtime: Runtime, agent: AgentKind) => toolsOf(runtime, (name) => allows(agent, name))
