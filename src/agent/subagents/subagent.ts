/** A sub-agent: a session of its own, with its own context and fewer powers, whose last words are a tool's result. */

import { basename } from 'node:path'
import type { EventFields } from '../../hooks/events.ts'
import type { PermissionMode } from '../../hooks/plane.ts'
import { textBlock } from '../../hooks/step/blocks.ts'
import type { Block } from '../../hooks/steps.ts'
import { isWider } from '../../permissions/modes.ts'
import type { Message } from '../../providers/model.ts'
import { keepWaitingCall, takeWaitingCall, waitingCalls } from '../../store/approvals.ts'
import { createSession } from '../../store/conversations.ts'
import { newId } from '../../store/open.ts'
import { failed, said, type ToolOutput } from '../../tools/output.ts'
import { now } from '../clock.ts'
import { loadSkill } from '../context/skills.ts'
import { requestedModel } from '../model/requested-model.ts'
import { loadMessages, recover } from '../session/history.ts'
import { loadAgain } from '../session/loaded-tools.ts'
import { Session, type SubagentTask } from '../session/session.ts'
import type { Worktree } from '../session/worktree.ts'
import { toolsOf } from '../toolbox.ts'
import { runTurn } from '../turn.ts'
import type { TurnEnd } from '../turn-end.ts'
import { type AgentKind, allows } from './agent-definitions.ts'
import { equip } from './agent-extensions.ts'

export async function runSubagent(parent: Session, request: SubagentTask): Promise<ToolOutput> {
  const { runtime } = parent
  const kind = runtime.agents.find((each) => each.name.toLowerCase() === request.type.toLowerCase())
  if (!kind) {
    const known = runtime.agents.map((each) => each.name).join(', ')
    return failed(`there is no agent type "${request.type}"; there are: ${known}`)
  }
  if (request.mode && isWider(request.mode, parent.mode))
    return failed(`mode ${request.mode} allows more than ${parent.mode}, which is the mode here; leave it out`)
  if (parent.agent) return failed('a sub-agent cannot start another one; do the work yourself')

  const wanted = runtime.env.CLAUDE_CODE_SUBAGENT_MODEL || request.model || kind.model
  const model = await requestedModel(runtime, parent.model, { ...(wanted && { wanted }), by: `agent ${kind.name}` })
  if ('problem' in model) return failed(model.problem)

  const equipped = await equip(runtime, kind, parent)
  if ('problem' in equipped) return failed(equipped.problem)

  const before = request.toolUseId ? takeWaitingCall(parent.db, parent.id, request.toolUseId) : undefined
  const id = before ? (JSON.parse(before.detail) as WaitingDetail).agentId : newId(parent.db)
  const task = { task_id: id, task_subject: request.description, task_description: request.prompt }
  const created = before ? undefined : await parent.raise('TaskCreated', () => task)
  if (created?.decision === 'deny') return failed(`a hook refused the task: ${created.reason}`)

  let worktree: Worktree | undefined
  if ((request.isolation ?? kind.isolation) === 'worktree') {
    // of an agent that waited, the worktree is still there and is used again
    const made = await (await import('../session/worktree.ts')).makeWorktree(parent, `agent-${id.slice(0, 8)}`)
    if ('problem' in made) return failed(made.problem)
    worktree = made
  }
  const child = new Session({
    runtime: equipped.runtime,
    services: parent.services,
    id:
      before?.childSessionId ??
      createSession(parent.db, parent.conversationId, undefined, {
        sessionId: parent.id,
        agentId: id,
        agentType: kind.name,
      }).sessionId,
    conversationId: parent.conversationId,
    cwd: worktree?.path ?? parent.cwd,
    projectDir: worktree?.path ?? parent.projectDir,
    mode: request.mode ?? modeOf(kind, parent.mode),
    model,
    permissions: parent.permissions,
    messages: before ? resumedMessages(parent.db, before.childSessionId, model.window) : [],
    parent,
    agent: {
      id,
      type: kind.name,
      about: request.description,
      ...(request.toolUseId && { toolUseId: request.toolUseId }),
    },
    tools: toolsOf(equipped.runtime, (name) => !parentOnly.includes(name) && allows(kind, name)),
    systemPrompt: kind.prompt,
  })
  if (kind.maxTurns) child.maxRequests = kind.maxTurns
  if (before) loadAgain(child)
  const prompt = before ? '' : await withSkills(child, kind, request.prompt)
  if (typeof prompt !== 'string') return failed(prompt.problem)
  child.granted.push(...(request.granted ?? []))

  const startedAt = now()
  const background = request.background || kind.background === true
  const work = async (signal: AbortSignal): Promise<Done> => {
    const stop = () => child.interrupt()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    parent.children.add(child)
    await equipped.start(() => child)
    const end = await (background ? workThenWait(child, kind, prompt) : firstTurn(child, prompt))
    signal.removeEventListener('abort', stop)
    await child.tasks.stopAll()
    parent.children.delete(child)
    await equipped.close()
    const tookMs = Math.round(now() - startedAt)
    if (!background) await request.pace?.turn()
    if (end.approval) {
      const detail: WaitingDetail = { agentId: id, ...(background && { background: storedTask(request) }) }
      keepWaitingCall(parent.db, {
        sessionId: parent.id,
        toolUseId: request.toolUseId!,
        childSessionId: child.id,
        detail: JSON.stringify(detail),
      })
      return { end, refused: undefined, notes: '' }
    }
    const completed = await parent.raise('TaskCompleted', () => task, new AbortController().signal)
    parent.commit(() => {})
    const stays = (await worktree?.leave()) ? worktree!.path : undefined
    const refused = completed.decision === 'deny' ? completed.reason : undefined
    return { end, refused, notes: notesOf(child, id, tookMs, stays) }
  }
  if (!background) {
    request.pace?.started()
    return outputOf(await work(request.signal))
  }
  const taskId = parent.tasks.start({
    kind: 'agent',
    about: request.description,
    async run(signal, write) {
      const { content, isError } = outputOf(await work(signal))
      write(content)
      return { exitCode: isError ? 1 : 0 }
    },
  })
  return said(
    `The agent runs in the background as ${taskId}. Use TaskOutput to see what it has found; you will be told when it ends.`,
  )
}

/** Only the session that talks with the user has these. */
const parentOnly: readonly string[] = ['Agent', 'EnterPlanMode', 'ExitPlanMode']

interface Done {
  readonly end: TurnEnd
  readonly refused: string | undefined
  /** Who it was and what it took. */
  readonly notes: string
}

/** Of a sub-agent that waits for an approval: who it is, and for one in the background its task. */
interface WaitingDetail {
  readonly agentId: string
  readonly background?: StoredTask
}

type StoredTask = Omit<SubagentTask, 'signal' | 'background' | 'pace'>

const storedTask = ({ signal, background, pace, ...task }: SubagentTask): StoredTask => task

/** An agent in the background that waited: its call has a result long since, so its news comes as any task's does. */
export async function resumeInBackground(parent: Session, toolUseId: string): Promise<void> {
  const waiting = waitingCalls(parent.db, parent.id).find((each) => each.toolUseId === toolUseId)
  const task = waiting && (JSON.parse(waiting.detail) as WaitingDetail).background
  if (!task) return
  const { content, isError } = await runSubagent(parent, { ...task, background: true, signal: parent.signal })
  parent.emit({ type: 'notice', level: isError ? 'warning' : 'info', text: content })
}

/** As they stand, without the results that a crash owes: the call that waits gets its own. */
function resumedMessages(db: Session['db'], sessionId: string, window: number): Message[] {
  recover(db, sessionId)
  return loadMessages(db, sessionId, window)
}

/** Without a prompt it goes on at the call that waited. */
const firstTurn = (child: Session, prompt: string): Promise<TurnEnd> =>
  prompt === '' ? runTurn(child, [], 'continuation') : runTurn(child, [textBlock(prompt)])

function outputOf({ end, refused, notes }: Done): ToolOutput {
  if (end.approval) return { ...failed(end.why!), waits: { approval: end.approval, why: end.why! } }
  if (refused) return failed(`a hook did not accept the result: ${refused}\n${end.text}\n\n${notes}`)
  if (end.stop !== 'end_turn')
    return shown(failed, `the agent stopped (${end.stop})${end.why ? `: ${end.why}` : ''}\n${end.text}`, notes)
  return shown(said, end.text || '(the agent returned no text)', notes)
}

/** The notes are for the model; the screen shows what the agent said. */
const shown = (result: typeof said, text: string, notes: string) =>
  result(`${text}\n\n${notes}`, { kind: 'output', text })

function notesOf(child: Session, id: string, tookMs: number, worktree: string | undefined): string {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = child.spent
  const calls = child.db.get<{ count: number }>(
    "SELECT count(*) AS count FROM transcript_entries WHERE session_id = ? AND entry_type = 'tool_result'",
    child.id,
  )
  const usage = [
    `total_tokens: ${inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens}`,
    `tool_uses: ${calls?.count ?? 0}`,
    `duration_ms: ${tookMs}`,
  ]
  return [
    `agentId: ${id}`,
    ...(worktree ? [`worktree: ${worktree} (it has changes and stays)`] : []),
    `<usage>${usage.join(', ')}</usage>`,
  ].join('\n')
}

/** A definition may widen what an agent does without asking, but not out of a mode that keeps things from being done. */
function modeOf({ permissionMode }: AgentKind, parents: PermissionMode): PermissionMode {
  if (permissionMode === undefined || parents === 'bypassPermissions') return parents
  const held = parents === 'plan' || parents === 'dontAsk'
  return held && isWider(permissionMode, parents) ? parents : permissionMode
}

/** The skills that its definition names come before its task. */
async function withSkills(child: Session, kind: AgentKind, task: string): Promise<string | { problem: string }> {
  const texts: string[] = []
  for (const name of kind.skills ?? []) {
    const loaded = await loadSkill(child, name, '')
    if (!loaded.ok) return { problem: `skill "${name}" of agent ${kind.name}: ${loaded.why}` }
    texts.push(`# Skill: ${name}\n\n${loaded.text}`)
  }
  return [...texts, task].join('\n\n')
}

/** An agent beside the conversation has nobody who waits for it: before it rests, hooks may give it more to do. */
async function workThenWait(child: Session, kind: AgentKind, prompt: string): Promise<TurnEnd> {
  let end = await firstTurn(child, prompt)
  if (end.approval) return end
  const idle = (): EventFields['TeammateIdle'] => ({
    teammate_name: kind.name,
    team_name: basename(child.projectDir),
  })
  for (let round = 0; round < child.maxContinues && end.stop === 'end_turn'; round++) {
    const answer = await child.raise('TeammateIdle', idle)
    child.commit(() => {})
    if (answer.control.kind !== 'continue' || answer.stop !== null) break
    const feedback: Block[] = answer.context.map(textBlock)
    end = await runTurn(
      child,
      feedback.length > 0 ? feedback : [textBlock('A hook asks you to go on.')],
      'continuation',
    )
  }
  return end
}
