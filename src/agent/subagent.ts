/** A sub-agent: a session of its own, with its own context and fewer powers, whose last words are a tool's result. */
import { createSession } from '../store/conversations.ts'
import { newId } from '../store/open.ts'
import type { AgentRequest } from '../tools/host.ts'
import { failed, said, type ToolOutput } from '../tools/tool.ts'
import type { AgentKind } from './agents.ts'
import { Session } from './session.ts'
import { asText } from './stages.ts'
import { toolsOf } from './toolbox.ts'
import { runTurn } from './turn.ts'

export async function runSubagent(parent: Session, request: AgentRequest): Promise<ToolOutput> {
  const { runtime } = parent
  const kind = runtime.agents.find((each) => each.name.toLowerCase() === request.type.toLowerCase())
  if (!kind) {
    const known = runtime.agents.map((each) => each.name).join(', ')
    return failed(`there is no agent type "${request.type}"; there are: ${known}`)
  }
  if (parent.agent) return failed('a sub-agent cannot start another one; do the work yourself')

  const wanted = runtime.env.CLAUDE_CODE_SUBAGENT_MODEL || request.model || kind.model
  const model = wanted ? await runtime.modelFor(wanted) : parent.model
  if ('problem' in model) return failed(`model "${wanted}": ${model.problem}`)

  const id = newId(parent.db)
  const child = new Session({
    runtime,
    id: createSession(parent.db, parent.conversationId, undefined, {
      sessionId: parent.id,
      agentId: id,
      agentType: kind.name,
    }).sessionId,
    conversationId: parent.conversationId,
    cwd: parent.cwd,
    projectDir: parent.projectDir,
    mode: parent.mode === 'bypassPermissions' ? parent.mode : (kind.permissionMode ?? parent.mode),
    model,
    permissions: parent.permissions,
    messages: [],
    agent: { id, type: kind.name, about: request.description },
    tools: toolsOf(runtime, (name) => mayUse(kind, name)),
    systemPrompt: kind.prompt,
  })
  if (kind.maxTurns) child.maxRequests = kind.maxTurns

  const task = { task_id: id, task_subject: request.description, task_description: request.prompt }
  const created = await parent.raise('TaskCreated', () => task)
  if (created.decision === 'deny') return failed(`a hook refused the task: ${created.reason}`)

  const work = async (signal: AbortSignal) => {
    const stop = () => child.interrupt()
    signal.addEventListener('abort', stop, { once: true })
    const end = await runTurn(child, [asText(request.prompt)])
    signal.removeEventListener('abort', stop)
    const completed = await parent.raise('TaskCompleted', () => task)
    return { end, refused: completed.decision === 'deny' ? completed.reason : undefined }
  }

  if (request.background || kind.background) {
    const taskId = parent.tasks.start({
      kind: 'agent',
      about: request.description,
      async run(signal, write) {
        const { end } = await work(signal)
        write(end.text || (end.why ?? end.stop))
        return { exitCode: end.stop === 'end_turn' ? 0 : 1 }
      },
    })
    return said(
      `The agent runs in the background as ${taskId}. Use TaskOutput to see what it has found; you will be told when it ends.`,
    )
  }
  const { end, refused } = await work(request.signal)
  if (refused) return failed(`a hook did not accept the result: ${refused}\n${end.text}`)
  if (end.stop !== 'end_turn')
    return failed(`the agent stopped (${end.stop})${end.why ? `: ${end.why}` : ''}\n${end.text}`)
  return said(end.text || '(the agent ended without a word)')
}

function mayUse(kind: AgentKind, name: string): boolean {
  if (name === 'Agent' || name === 'EnterPlanMode' || name === 'ExitPlanMode') return false
  if (kind.disallowedTools?.includes(name)) return false
  return (
    kind.tools === undefined || kind.tools.some((each) => each === name || each === name.split('(')[0] || each === '*')
  )
}
