/** Whether a call may run: the planning gate, the rules, and whoever has to be asked. */
import type { Invocation, PermissionUpdate } from '../hooks/plane.ts'
import type { JsonObject } from '../hooks/shape.ts'
import type { Steps } from '../hooks/steps.ts'

import { decide } from '../permissions/decide.ts'
import { modeInForce } from '../permissions/modes.ts'
import type { PermissionQuestion, Ruling } from '../permissions/question.ts'

import { storable } from '../store/secrets.ts'
import { realTarget } from '../tools/paths.ts'
import { readInput } from '../tools/tool.ts'
import { planningGate } from '../workflow/gate.ts'
import { type Call, denied, type Outcome, type PermissionReason, pathOf, refuse } from './call.ts'
import type { PermissionAnswer, PermissionRequest } from './events.ts'
import { questionOf } from './permission-question.ts'
import { saveAnswer, saveUpdates } from './permission-updates.ts'
import { inPromptQueue } from './prompt-queue.ts'
import { approvedPlace, placeFor, withSandbox } from './sandboxed.ts'

/** Nothing changes while a plan is in the making. */
export function gate(call: Call): Outcome | undefined {
  const shut = planningGate(call.session.db, call.session.conversationId, call.tool.name)
  if (shut === undefined) return undefined
  call.session.pending.push(gateRow(call, shut))
  return refuse(call, shut, 'gate')
}

/** Rules, then PermissionRequest hooks, then the user. */
export async function permit(call: Call): Promise<Outcome | undefined> {
  const given = answerGiven(call)
  if (given?.allow === false) return rejected(call, given)
  call.place = await placeFor(call)
  if (call.place?.in === 'nowhere') return refuse(call, call.place.why, 'rule')
  const ruling = await rule(call)
  const path = pathOf(call.input)
  if (path !== undefined && ruling.paths) {
    call.judgedPath = realTarget(path)
    if (!ruling.paths.includes(call.judgedPath)) return refuse(call, `${path} changed while it was judged`, 'rule')
  }
  if (ruling.decision === 'deny') return refuse(call, ruling.reason, 'rule', ruling.rule)
  const { changed } = call.tool
  const mode = modeInForce(call.session.mode, call.session.rules)
  if (!changed || mode === 'bypassPermissions')
    return ruling.decision === 'allow' ? undefined : askPermission(call, ruling)
  // what was allowed is not what the tool is now
  if (mode === 'dontAsk') return refuse(call, `${changed.why}; ${changed.remedy} accepts it`, 'rule')
  return askPermission(call, { ...ruling, decision: 'ask', reason: changed.why, suggestions: [] })
}

/** after_permission, whatever was decided; PermissionDenied where it was not a hook that said no. */
export async function permissionSettled(call: Call, refused: Outcome | undefined): Promise<Outcome | undefined> {
  const { session, tool, use, input, permission } = call
  const step: Steps['after_permission'] = { tool: tool.name, granted: refused === undefined }
  const byUs = permission?.decision === 'deny' && permission.reason.by !== 'hook' ? permission.reason.reason : undefined
  const answer = await session.ask(
    'after_permission',
    step,
    byUs === undefined
      ? undefined
      : () => ({
          name: 'PermissionDenied',
          fields: { tool_name: tool.name, tool_input: input, tool_use_id: use.id, reason: byUs },
        }),
    use.id,
  )
  if (answer.retry) call.context.push('A hook allows this call to be retried.')
  if (answer.stop === null && answer.control.kind !== 'break') return refused
  const why = answer.stop ?? answer.reason
  call.end ??= { stop: answer.control.kind === 'break' ? answer.control.reason : 'end_turn', text: '', why }
  return refused ?? denied(why || `a hook ended the turn before ${tool.name} ran`)
}

async function rule(call: Call): Promise<Ruling> {
  const { session, tool, input, hook } = call
  const question: PermissionQuestion = {
    ...questionOf(session),
    tool: tool.name,
    input,
    hook: hook === 'none' && tool.granted ? 'allow' : hook,
  }
  const ruling = await decide(question)
  const judged = call.place ? await withSandbox(call, question, ruling) : ruling
  const prompts = hook === 'ask' && judged.decision === 'ask' && judged.rule === undefined && call.hookReason
  return prompts ? { ...judged, reason: call.hookReason! } : judged
}

async function askPermission(call: Call, ruling: Ruling): Promise<Outcome | undefined> {
  const { session, tool, use } = call
  const step: Steps['before_permission'] = { tool: tool.name, decision: 'ask', resolved: null }
  const answer = await session.ask(
    'before_permission',
    step,
    () => ({
      name: 'PermissionRequest',
      fields: { tool_name: tool.name, tool_input: call.input, permission_suggestions: [...ruling.suggestions] },
    }),
    use.id,
  )
  if (answer.stop !== null || answer.control.kind === 'break') {
    const why = answer.stop ?? answer.reason
    call.end ??= { stop: answer.control.kind === 'break' ? answer.control.reason : 'end_turn', text: '', why }
    return refuse(call, why || `a hook ended the turn before ${tool.name} ran`, 'hook')
  }
  if (answer.decision === 'deny' || step.resolved === false) {
    if (answer.interrupt) session.interrupt()
    return refuse(call, answer.reason || `a hook denied ${tool.name}`, 'hook')
  }
  if (answer.decision === 'allow' || step.resolved === true) {
    await update(call, answer.permissionUpdates)
    call.permission = { decision: 'allow', reason: { by: 'hook', reason: answer.reason } }
    return answer.updatedInput ? changeInput(call, answer.updatedInput, 'hook') : undefined
  }
  await session.raise('Notification', () => ({
    message: `ona needs your permission to use ${tool.name}`,
    notification_type: 'permission_prompt',
  }))
  const request: PermissionRequest = {
    toolUseId: use.id,
    tool: tool.name,
    input: call.input,
    summary: tool.summary(call.input),
    reason: ruling.reason,
    suggestions: ruling.suggestions,
    ...(session.agent && { agent: session.agent.type, agentId: session.agent.id, agentTask: session.agent.about }),
  }
  const { user } = session.runtime
  return inPromptQueue(user, session.signal, async (waited) => {
    const ruled = waited && !tool.changed ? await rule(call) : ruling
    if (ruled.decision === 'deny') return refuse(call, ruled.reason, 'rule', ruled.rule)
    if (ruled.decision === 'allow') return undefined
    return answered(call, ruled, request, answerGiven(call) ?? (await user.permission(request, session.signal)))
  })
}

async function answered(
  call: Call,
  ruling: Ruling,
  request: PermissionRequest,
  said: PermissionAnswer | undefined,
): Promise<Outcome | undefined> {
  const { session, tool } = call
  if (said === undefined) {
    const waits = session.services.awaitApproval(call, request)
    if (waits !== undefined) return denied(waits)
    const { nobodyToAsk } = await import('./nobody-to-ask.ts')
    return refuse(call, await nobodyToAsk(call, ruling), 'nobody')
  }
  if (!said.allow) return rejected(call, said)
  const { by = 'person' } = said
  await saveAnswer(session, said.updates ?? [])
  tool.changed?.accept()
  call.permission = { decision: 'allow', reason: { by, reason: ruling.reason } }
  call.place = await approvedPlace(call)
  return said.input ? changeInput(call, said.input, by) : undefined
}

function rejected(call: Call, { by = 'person', feedback, interrupt }: PermissionAnswer & { allow: false }): Outcome {
  if (interrupt) call.end = { stop: 'end_turn', text: '', why: 'the user rejected a tool call' }
  return refuse(call, feedback ? `The user rejected this tool call: ${feedback}` : rejectedByUser, by)
}

/** An approval holds for the input that the operator saw: where hooks now make another one of it, the user is prompted again. */
function answerGiven({ session, use, input }: Call): PermissionAnswer | undefined {
  const given = session.answers.get(use.id)
  const isSame = given?.input === undefined || given.input === storable(JSON.stringify(input))
  return isSame ? given?.answer : undefined
}

/** The rules judge the final input: who says yes to another call than was asked about does not undo a deny. */
async function changeInput(call: Call, changed: JsonObject, by: PermissionReason['by']): Promise<Outcome | undefined> {
  const read = readInput(call.tool, changed, call.session.cwd)
  if (!read.ok) return refuse(call, `the changed input is invalid. ${read.why}`, by)
  call.input = read.input
  call.place = await placeFor(call)
  const again = await rule(call)
  const path = pathOf(call.input)
  if (path !== undefined && again.paths) call.judgedPath = realTarget(path)
  return again.decision === 'deny' ? refuse(call, again.reason, 'rule', again.rule) : undefined
}

const rejectedByUser =
  'The user rejected this tool call. It did not run and nothing changed. Stop, and wait for new instructions.'

async function update(call: Call, updates: readonly PermissionUpdate[]): Promise<void> {
  if (updates.length > 0) await saveUpdates(call.session, updates)
}

const gateRow = ({ use, tool, input }: Call, reason: string): Invocation => {
  const now = new Date().toISOString()
  return {
    event: 'before_tool_apply',
    ordinal: -1,
    matcher: 'Write|Edit|Bash|NotebookEdit',
    command: 'builtin:planning-gate',
    toolUseId: use.id,
    toolName: tool.name,
    inputJson: JSON.stringify({ tool: tool.name, args: input }),
    exitCode: 2,
    stdout: null,
    stderr: reason,
    startedAt: now,
    completedAt: now,
    skippedReason: null,
  }
}
