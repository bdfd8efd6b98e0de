/** One tool call, from the model's words to its row. */

import type { JsonObject } from '../hooks/shape.ts'
import { slugOf } from '../mcp/names.ts'
import type { ToolUse } from '../providers/model.ts'
import { addEvent } from '../store/audit.ts'
import { startedHere } from '../store/own-commands.ts'
import { keepProfile } from '../store/sandbox-profiles.ts'
import { commitToolCall } from '../store/session/commit.ts'
import { broke, failed, firstNames, type ToolOutput } from '../tools/output.ts'
import { readInput, type Tool } from '../tools/tool.ts'
import { type Call, type Outcome, pathOf } from './call.ts'
import { now } from './clock.ts'
import { instructionsFor } from './context/instructions.ts'
import { gate, permissionSettled, permit } from './permit.ts'
import { placeRecord } from './sandboxed.ts'
import type { Session } from './session/session.ts'
import { shellFor } from './shell-ahead.ts'
import { askHooks, tellHooks } from './tool-hooks.ts'
import { toolContext } from './tool-host.ts'
import type { TurnEnd } from './turn-end.ts'

export interface ToolCallEnd {
  readonly output: ToolOutput
  /** Set when a hook or the user ended the whole turn with this call. */
  readonly end?: TurnEnd
}

/**
 * Hooks first, then the planning gate, then rules and whoever has to be asked; then the tool; then hooks again. What came
 * before the tool is committed as the tool starts, the rest with the result.
 */
export async function runToolCall(session: Session, use: ToolUse): Promise<ToolCallEnd> {
  const prepared = await prepare(session, use)
  return complete(session, prepared, await outcomeOf(prepared))
}

/** A call that hooks and rules have judged. */
export interface Prepared {
  readonly use: ToolUse
  readonly call?: Call
  /** Set where it does not run. */
  readonly settled?: Outcome
}

export async function prepare(session: Session, use: ToolUse): Promise<Prepared> {
  const found = findTool(session, use)
  if (!found.ok) return { use, settled: { output: failed(found.why), as: 'invalid' } }

  const call: Call = { session, use, tool: found.tool, input: found.input, hook: 'none', context: [] }
  session.emit({
    type: 'tool-started',
    id: use.id,
    name: use.name,
    input: call.input,
    summary: found.tool.summary(call.input),
  })
  const refused = (await askHooks(call)) ?? gate(call) ?? (await permit(call))
  const settled = call.waiting ? refused : await permissionSettled(call, refused)
  return { use, call, ...(settled && { settled }) }
}

export const outcomeOf = async ({ call, settled }: Prepared): Promise<Outcome> => settled ?? run(call!)

export async function complete(session: Session, { use, call }: Prepared, outcome: Outcome): Promise<ToolCallEnd> {
  const ran = outcome.as === 'ran' || outcome.as === 'interrupted'
  const end = finish(session, use, call && !call.waiting && ran ? await tellHooks(call, outcome) : outcome, call)
  const ms = call?.ranMs
  if (ms !== undefined) await session.observe({ type: 'tool-end', ...nameOf(call!), output: end.output, ms })
  return end
}

const nameOf = ({ use, tool, input }: Call) => ({ id: use.id, tool: tool.name, input })

/** The tool, and its input as the tool's own. Bad input is answered at once; no hook runs. */
function findTool(
  session: Session,
  use: ToolUse,
): { ok: true; tool: Tool; input: JsonObject } | { ok: false; why: string } {
  const tool = session.tool(use.name)
  if (!tool) {
    const server = unavailableServer(session, use.name)
    const why = server
      ? `the tool ${use.name} is not available: the MCP server ${server.name} is ${server.status}${server.problem && `: ${server.problem}`}`
      : `there is no tool named ${use.name}; there are: ${firstNames(session.toolNames())}`
    return { ok: false, why }
  }
  if (use.malformed !== undefined) return { ok: false, why: `${use.name}: the input is not a JSON object; send one` }
  const read = readInput(tool, use.input, session.cwd)
  return read.ok ? { ok: true, tool, input: read.input } : read
}

/** The server that a tool's name leads to, where it is configured and not connected. */
const unavailableServer = ({ runtime }: Session, tool: string) =>
  runtime.mcp?.status().find(({ name, status }) => status !== 'connected' && tool.startsWith(`mcp__${slugOf(name)}__`))

/** Runs the tool. That it starts is committed first: a crash leaves that row, and nothing is run twice in silence. */
async function run(call: Call): Promise<Outcome> {
  const { session, use, tool } = call
  if (session.signal.aborted) return { output: interruptedResult('interrupted before it ran'), as: 'interrupted' }
  Object.assign(call, await shellFor(call))
  session.commit(() => {
    if (call.place?.in === 'sandbox') keepProfile(session.db, call.place.cell.digest, call.place.cell.description)
    const event = addEvent(session.db, {
      conversationId: session.conversationId,
      sessionId: session.id,
      type: 'tool_start',
      detail: {
        ...{ tool_use_id: use.id, tool_name: tool.name, permission_mode: session.mode },
        ...placeRecord(call),
        ...(call.shell && { shell_process: call.shell.process }),
      },
    })
    startedHere(session.db, event)
  })
  session.emit({ type: 'tool-running', id: use.id })
  await session.observe({ type: 'tool-start', ...nameOf(call) })
  const startedAt = now()
  try {
    const output = await tool.run(call.input, toolContext(session, use.id, call))
    if (output.waits) {
      call.waiting = output.waits.approval
      call.end = { stop: 'end_turn', text: '', why: output.waits.why, approval: output.waits.approval }
    }
    if (output.endsTurn !== undefined) call.end = { stop: 'end_turn', text: '', why: output.endsTurn }
    const path = pathOf(call.input)
    const nested = path && !output.isError ? await instructionsFor(session, path) : undefined
    if (nested) call.context.push(nested)
    const stopped = session.signal.aborted || call.pace?.signal.aborted
    return { output, as: stopped && output.isError ? 'interrupted' : 'ran' }
  } catch (cause) {
    call.shell?.dismiss()
    // A tool returns what goes wrong in ordinary use; what it throws is a fault of ours, and reported as one.
    return {
      output: broke(`${tool.name} failed: ${cause instanceof Error ? cause.message : String(cause)}`),
      as: 'ran',
    }
  } finally {
    call.ranMs ??= now() - startedAt
  }
}

/** The result and every row that still waits, in one commit. Rows of hooks asked before the tool ran are committed with `tool_start`. */
function finish(session: Session, use: ToolUse, { output, as }: Outcome, call?: Call): ToolCallEnd {
  const context = call?.context ?? []
  const content = context.length > 0 ? [output.content, ...context].join('\n') : output.content
  const final = content === output.content ? output : { ...output, content }
  if (call?.waiting) {
    session.commit(() => {})
    return { output: final, ...(call.end && { end: call.end }) }
  }
  const invocations = session.takePending() // first: a commit writes those that wait
  session.result(use, final, (entry) =>
    commitToolCall(session.db, {
      sessionId: session.id,
      conversationId: session.conversationId,
      ...{ invocations, uses: session.uses },
      ...(call?.permission && { permission: permissionRow(call, call.permission) }),
      result: entry,
    }),
  )
  const ms = call?.ranMs ?? 0
  session.emit({ type: 'tool-finished', id: use.id, name: use.name, output: final, ms, outcome: as })
  return { output: final, ...(call?.end && { end: call.end }) }
}

/** With the mode in which it was decided: a replay compares like with like. */
const permissionRow = ({ session, use }: Call, { decision, reason }: NonNullable<Call['permission']>) => ({
  ...{ decision, toolName: use.name, reason: { ...reason, mode: session.mode } },
})

export const interruptedResult = (why: string): ToolOutput => failed(`[SDLC_INTERNAL] interrupted: ${why}`)
