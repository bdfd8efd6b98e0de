/** What hooks make of a call: before it is judged, and after it ran. */
import type { Safety, Steps, ToolResultBody } from '../hooks/steps.ts'
import type { ToolOutput } from '../tools/output.ts'
import { readInput } from '../tools/tool.ts'
import { type Call, denied, type Outcome, refuse } from './call.ts'
import { replacedBy, toolResponse } from './claude-hooks/tool-response.ts'

/** before_tool_apply and PreToolUse: may change the input, answer in the tool's place, deny, or end the turn. */
export async function askHooks(call: Call): Promise<Outcome | undefined> {
  const { session, tool, use } = call
  const step: Steps['before_tool_apply'] = {
    toolName: tool.name,
    safety: safetyOf(call),
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
  call.hookReason = answer.reason
  if (answer.decision === 'deny') {
    if (answer.stop !== null) endTurn(call, answer.stop)
    return refuse(call, answer.reason || `a hook denied ${tool.name}`, 'hook')
  }
  if (answer.stop !== null) return stopped(call, answer.stop)
  if (answer.control.kind === 'break') {
    call.end = { stop: answer.control.reason, text: '', why: answer.reason }
    return denied(answer.reason || `a hook ended the turn before ${tool.name} ran`)
  }
  if (step.args !== call.input) {
    const read = readInput(tool, step.args, session.cwd)
    if (!read.ok) return denied(`a hook changed the input so that it does not fit. ${read.why}`)
    call.input = read.input
  }
  return step.result ? { output: fromBody(step.result.body, step.result.isError), as: 'intercepted' } : undefined
}

function endTurn(call: Call, why: string): void {
  call.end = { stop: 'end_turn', text: '', why }
}

function stopped(call: Call, why: string): Outcome {
  endTurn(call, why)
  return denied(why || 'a hook ended the turn')
}

const safetyOf = ({ tool, input }: Call): Safety =>
  typeof tool.safety === 'function' ? tool.safety(input) : tool.safety

/** after_tool_apply and PostToolUse or PostToolUseFailure: may add to the result or end the turn. */
export async function tellHooks(call: Call, { output, as }: Outcome): Promise<Outcome> {
  const { session, tool, use } = call
  const step: Steps['after_tool_apply'] = {
    toolName: tool.name,
    isError: output.isError,
    output: { kind: 'text', text: output.content },
    additionalContext: [],
  }
  const about = { tool_name: tool.name, tool_input: call.input, tool_use_id: use.id }
  const took = { duration_ms: Math.round(call.ranMs ?? 0) }
  const answer = await session.ask(
    'after_tool_apply',
    step,
    () =>
      output.isError
        ? {
            name: 'PostToolUseFailure',
            fields: { ...about, error: output.content, is_interrupt: as === 'interrupted' },
            claude: () => took,
          }
        : {
            name: 'PostToolUse',
            fields: { ...about, tool_response: { content: output.content, is_error: false } },
            claude: () => ({ tool_response: toolResponse(tool.name, call.input, output), ...took }),
          },
    use.id,
    // Hooks hear of an interrupt too; they get a moment for it.
    as === 'interrupted' ? AbortSignal.timeout(5_000) : session.signal,
  )
  if (answer.stop !== null) endTurn(call, answer.stop)
  else if (answer.control.kind === 'break') {
    call.end = { stop: answer.control.reason, text: '', why: answer.reason }
  }
  // updatedMCPToolOutput: other tools keep the output they have
  const replaced = tool.name.startsWith('mcp__') ? answer.updatedToolOutput : undefined
  const content =
    replacedBy(tool.name, answer.updatedClaudeOutput ?? undefined) ??
    (replaced === undefined ? output.content : typeof replaced === 'string' ? replaced : JSON.stringify(replaced))
  const added = step.additionalContext.map((block) =>
    block.type === 'text' ? block.text : `[image: ${block.mimeType}]`,
  )
  return { output: { ...output, content: [content, ...added].join('\n') }, as }
}

function fromBody(body: ToolResultBody, isError: boolean): ToolOutput {
  if (body.kind === 'text') return { content: body.text, isError }
  if (body.kind === 'json') return { content: JSON.stringify(body.value), isError }
  const text = body.blocks.map((block) => (block.type === 'text' ? block.text : `[image: ${block.mimeType}]`))
  return { content: text.join('\n'), isError }
}
