/** One tool call, from the model's words to its row. */
import { isAbsolute, resolve } from 'node:path'
import type { Decision, Invocation, PermissionUpdate } from '../hooks/plane.ts'
import type { JsonObject } from '../hooks/shape.ts'
import type { Safety, Steps, ToolResultBody } from '../hooks/steps.ts'
import { decide, type Ruling } from '../permissions/decide.ts'
import type { ToolUse } from '../providers/model.ts'
import { addEvent, commitToolCall } from '../store/audit.ts'
import { realTarget } from '../tools/paths.ts'
import { broke, failed, readInput, type Tool, type ToolOutput } from '../tools/tool.ts'
import { planningGate } from '../workflow/gate.ts'
import { instructionsFor } from './instructions.ts'
import { saveUpdates } from './permission-updates.ts'
import type { Session } from './session.ts'
import type { TurnEnd } from './turn.ts'

export interface ToolCallEnd {
  readonly output: ToolOutput
  /** Set when a hook or the person ended the whole turn with this call. */
  readonly end?: TurnEnd
}

/** What a call in flight knows; its rows are written in one commit at the end. */
interface Call {
  readonly session: Session
  readonly use: ToolUse
  readonly tool: Tool
  input: JsonObject
  /** What the hooks said; the rules hear of it. */
  hook: Decision
  /** What was asked or denied, and who said so: a row of the permission log. */
  permission?: { readonly decision: 'allow' | 'deny'; readonly reason: PermissionReason }
  /** The file as the rules judged it, links resolved: the tool touches this one and no other. */
  judgedPath?: string
  context: string[]
  end?: TurnEnd
}

interface PermissionReason {
  readonly by: 'hook' | 'gate' | 'rule' | 'person' | 'operator' | 'nobody'
  readonly reason: string
  readonly rule?: string
  readonly [key: string]: unknown
}

type Outcome = { output: ToolOutput; as: 'ran' | 'denied' | 'intercepted' | 'interrupted' | 'invalid' }

export async function runToolCall(session: Session, use: ToolUse): Promise<ToolCallEnd> {
  const startedAt = performance.now()
  const found = findTool(session, use)
  if (!found.ok) return finish(session, use, { output: failed(found.why), as: 'invalid' }, startedAt)

  const call: Call = { session, use, tool: found.tool, input: found.input, hook: 'none', context: [] }
  session.emit({
    type: 'tool-started',
    id: use.id,
    name: use.name,
    input: call.input,
    summary: found.tool.summary(call.input),
  })
  const refused = (await askHooks(call)) ?? gate(call) ?? (await permit(call))
  let outcome = (await permissionSettled(call, refused)) ?? (await run(call))
  if (outcome.as === 'ran' || outcome.as === 'interrupted') outcome = await tellHooks(call, outcome)
  return finish(session, use, outcome, startedAt, call)
}

/** The tool, and its input as the tool's own. Bad input is answered at once; no hook is asked. */
function findTool(
  session: Session,
  use: ToolUse,
): { ok: true; tool: Tool; input: JsonObject } | { ok: false; why: string } {
  const tool = session.tool(use.name)
  if (!tool)
    return { ok: false, why: `there is no tool named ${use.name}; there are: ${session.toolNames().join(', ')}` }
  if (use.malformed !== undefined) return { ok: false, why: `${use.name}: the input is not a JSON object; send one` }
  const read = readInput(tool, use.input)
  return read.ok ? { ok: true, tool, input: absolute(read.input, session.cwd) } : read
}

/** Hooks and rules judge where a path leads, so they see it whole. */
function absolute(input: JsonObject, cwd: string): JsonObject {
  const found = pathKeys.find((key) => typeof input[key] === 'string' && !isAbsolute(input[key]))
  return found ? { ...input, [found]: resolve(cwd, input[found] as string) } : input
}
const pathKeys = ['file_path', 'notebook_path']
const pathOf = (input: JsonObject) => pathKeys.map((key) => input[key]).find((path) => typeof path === 'string')

const safetyOf = (tool: Tool, input: JsonObject): Safety =>
  typeof tool.safety === 'function' ? tool.safety(input) : tool.safety

/** before_tool_apply and PreToolUse: may change the input, answer in the tool's place, deny, or end the turn. */
async function askHooks(call: Call): Promise<Outcome | undefined> {
  const { session, tool, use } = call
  const step: Steps['before_tool_apply'] = {
    toolName: tool.name,
    safety: safetyOf(tool, call.input),
    args: call.input,
    result: null,
  }
  const answer = await session.ask(
    'before_tool_apply',
    step,
    () => ({ name: 'PreToolUse', fields: { tool_name: tool.name, tool_input: call.input, tool_use_id: use.id } }),
    use.id,
  )
  call.context = [...answer.context]
  call.hook = answer.decision
  if (answer.decision === 'deny') {
    const reason = answer.reason || `a hook denied ${tool.name}`
    call.permission = { decision: 'deny', reason: { by: 'hook', reason } }
    return denied(reason)
  }
  if (answer.stop !== null) return stopped(call, answer.stop)
  if (answer.control.kind === 'break') {
    call.end = { stop: answer.control.reason, text: '', why: answer.reason }
    return denied(answer.reason || `a hook ended the turn before ${tool.name} ran`)
  }
  if (step.args !== call.input) {
    const read = readInput(tool, step.args)
    if (!read.ok) return denied(`a hook changed the input so that it does not fit. ${read.why}`)
    call.input = absolute(read.input, session.cwd)
  }
  return step.result ? { output: fromBody(step.result.body, step.result.isError), as: 'intercepted' } : undefined
}

function stopped(call: Call, why: string): Outcome {
  call.end = { stop: 'end_turn', text: '', why }
  return denied(why || 'a hook ended the turn')
}

/** While a plan is being made, nothing is changed. */
function gate(call: Call): Outcome | undefined {
  const shut = planningGate(call.session.db, call.session.conversationId, call.tool.name)
  if (shut === undefined) return undefined
  call.session.pending.push(gateRow(call, shut))
  return refuse(call, shut, 'gate')
}

/** Rules, then the hooks of the question, then the person. */
async function permit(call: Call): Promise<Outcome | undefined> {
  const ruling = await rule(call)
  const path = pathOf(call.input)
  if (path !== undefined && ruling.paths) {
    call.judgedPath = realTarget(path)
    if (!ruling.paths.includes(call.judgedPath)) return refuse(call, `${path} changed while it was judged`, 'rule')
  }
  if (ruling.decision === 'allow') return undefined
  if (ruling.decision === 'deny') return refuse(call, ruling.reason, 'rule', ruling.rule)

  return askPermission(call, ruling)
}

const rule = ({ session, tool, input, hook }: Call): Promise<Ruling> =>
  decide({
    settings: session.rules,
    mode: session.mode,
    tool: tool.name,
    input,
    hook,
    cwd: session.cwd,
    projectDir: session.projectDir,
    home: session.runtime.home,
  })

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
  if (answer.decision === 'deny' || step.resolved === false) {
    if (answer.interrupt) session.interrupt()
    return refuse(call, answer.reason || `a hook denied ${tool.name}`, 'hook')
  }
  if (answer.decision === 'allow' || step.resolved === true) {
    await update(call, answer.permissionUpdates)
    call.permission = { decision: 'allow', reason: { by: 'hook', reason: answer.reason } }
    return answer.updatedInput ? changeInput(call, answer.updatedInput) : undefined
  }
  const said = await session.askPerson({
    toolUseId: use.id,
    tool: tool.name,
    input: call.input,
    summary: tool.summary(call.input),
    reason: ruling.reason,
    suggestions: ruling.suggestions,
    ...(session.agent && { agent: session.agent.type }),
  })
  if (said === undefined) return refuse(call, nobody(tool, ruling), 'nobody')
  if (!said.allow) {
    if (said.interrupt) call.end = { stop: 'end_turn', text: '', why: 'the person said no' }
    return refuse(call, said.feedback ? `The person said no: ${said.feedback}` : personSaidNo, 'person')
  }
  await update(call, said.updates ?? [])
  call.permission = { decision: 'allow', reason: { by: said.by ?? 'person', reason: ruling.reason } }
  return undefined
}

/** The rules judge the final input: a hook that says yes to another call than was asked about does not undo a deny. */
async function changeInput(call: Call, changed: JsonObject): Promise<Outcome | undefined> {
  const read = readInput(call.tool, changed)
  if (!read.ok) return refuse(call, `a hook changed the input so that it does not fit. ${read.why}`, 'hook')
  call.input = absolute(read.input, call.session.cwd)
  const again = await rule(call)
  const path = pathOf(call.input)
  if (path !== undefined && again.paths) call.judgedPath = realTarget(path)
  return again.decision === 'deny' ? refuse(call, again.reason, 'rule', again.rule) : undefined
}

const personSaidNo =
  'The person does not want this call. It was not run, and nothing was changed. Stop, and wait to be told how to go on.'

const nobody = (tool: Tool, ruling: Ruling) =>
  `${tool.name} needs permission and nobody is here to give it: ${ruling.reason}. ` +
  `An allow rule (permissions.allow in the settings, or --allowed-tools "${tool.name}") or --permission-mode would allow it.`

async function update(call: Call, updates: readonly PermissionUpdate[]): Promise<void> {
  if (updates.length > 0) await saveUpdates(call.session, updates)
}

function refuse(call: Call, reason: string, by: PermissionReason['by'], rule?: string): Outcome {
  call.permission = { decision: 'deny', reason: { by, reason, ...(rule && { rule }) } }
  return denied(reason)
}

/** after_permission, whatever was decided; PermissionDenied where it was not a hook that said no. */
async function permissionSettled(call: Call, refused: Outcome | undefined): Promise<Outcome | undefined> {
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
  if (answer.retry) call.context.push('A hook says that this call may be tried again.')
  if (answer.stop === null && answer.control.kind !== 'break') return refused
  const why = answer.stop ?? answer.reason
  call.end ??= { stop: answer.control.kind === 'break' ? answer.control.reason : 'end_turn', text: '', why }
  return refused ?? denied(why || `a hook ended the turn before ${tool.name} ran`)
}

/** Runs the tool. That it starts is committed first: a crash leaves that row, and nothing is run twice in silence. */
async function run(call: Call): Promise<Outcome> {
  const { session, use, tool } = call
  if (session.signal.aborted) return { output: interruptedResult('interrupted before it ran'), as: 'interrupted' }
  session.commit(() =>
    addEvent(session.db, {
      conversationId: session.conversationId,
      sessionId: session.id,
      type: 'tool_start',
      detail: { tool_use_id: use.id, tool_name: tool.name },
    }),
  )
  try {
    const output = await tool.run(call.input, session.toolContext(use.id, call.judgedPath))
    const path = pathOf(call.input)
    const nested = path && !output.isError ? await instructionsFor(session, path) : undefined
    if (nested) call.context.push(nested)
    return { output, as: session.signal.aborted && output.isError ? 'interrupted' : 'ran' }
  } catch (cause) {
    // A tool returns what goes wrong in ordinary use; what it throws is a fault of ours, told as such.
    return {
      output: broke(`${tool.name} failed: ${cause instanceof Error ? cause.message : String(cause)}`),
      as: 'ran',
    }
  }
}

/** after_tool_apply and PostToolUse or PostToolUseFailure: may add to the result or end the turn. */
async function tellHooks(call: Call, { output, as }: Outcome): Promise<Outcome> {
  const { session, tool, use } = call
  const step: Steps['after_tool_apply'] = {
    toolName: tool.name,
    isError: output.isError,
    output: { kind: 'text', text: output.content },
    additionalContext: [],
  }
  const about = { tool_name: tool.name, tool_input: call.input, tool_use_id: use.id }
  const answer = await session.ask(
    'after_tool_apply',
    step,
    () =>
      output.isError
        ? {
            name: 'PostToolUseFailure',
            fields: { ...about, error: output.content, is_interrupt: as === 'interrupted' },
          }
        : { name: 'PostToolUse', fields: { ...about, tool_response: { content: output.content, is_error: false } } },
    use.id,
    // Hooks hear of an interrupt too; they get a moment for it.
    as === 'interrupted' ? AbortSignal.timeout(5_000) : session.signal,
  )
  if (answer.stop !== null) call.end = { stop: 'end_turn', text: '', why: answer.stop }
  else if (answer.control.kind === 'break') {
    call.end = { stop: answer.control.reason, text: '', why: answer.reason }
  }
  const replaced = answer.updatedToolOutput
  const content =
    replaced === undefined ? output.content : typeof replaced === 'string' ? replaced : JSON.stringify(replaced)
  const added = step.additionalContext.map((block) =>
    block.type === 'text' ? block.text : `[image: ${block.mimeType}]`,
  )
  return { output: { ...output, content: [content, ...added].join('\n') }, as }
}

/** Every row of the call, in one commit. */
function finish(session: Session, use: ToolUse, { output, as }: Outcome, startedAt: number, call?: Call): ToolCallEnd {
  const context = call?.context ?? []
  const content = context.length > 0 ? [output.content, ...context].join('\n') : output.content
  const final = content === output.content ? output : { ...output, content }
  session.result(use, final, (entry) =>
    commitToolCall(session.db, {
      sessionId: session.id,
      conversationId: session.conversationId,
      invocations: session.takePending(),
      ...(call?.permission && { permission: { ...call.permission, toolName: use.name } }),
      result: entry,
    }),
  )
  const ms = performance.now() - startedAt
  session.emit({ type: 'tool-finished', id: use.id, name: use.name, output: final, ms, outcome: as })
  return { output: final, ...(call?.end && { end: call.end }) }
}

const denied = (reason: string): Outcome => ({ output: failed(reason), as: 'denied' })
export const interruptedResult = (why: string): ToolOutput => failed(`[SDLC_INTERNAL] interrupted: ${why}`)

function fromBody(body: ToolResultBody, isError: boolean): ToolOutput {
  if (body.kind === 'text') return { content: body.text, isError }
  if (body.kind === 'json') return { content: JSON.stringify(body.value), isError }
  const text = body.blocks.map((block) => (block.type === 'text' ? block.text : `[image: ${block.mimeType}]`))
  return { content: text.join('\n'), isError }
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
