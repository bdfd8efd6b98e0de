/** Handoffs: an agent calls a tool, and another one takes over with what was said so far. */
import { transcriptText } from '../agent/context/window.ts'
import { optional, record, string } from '../hooks/shape.ts'
import type { Message } from '../providers/model.ts'
import { failed } from '../tools/output.ts'
import type { Tool } from '../tools/tool.ts'
import { isAgent } from './agent.ts'
import type { Agent, AnyAgent, Handoff, HandoffOptions, HandoffTo, Handover } from './agent-types.ts'
import type { Context } from './context.ts'

export const handoff = <O>(to: Agent<never, O>, options: HandoffOptions = {}): Handoff<O> =>
  Object.freeze({ to, ...options })

const asHandoff = (given: HandoffTo): Handoff => (isAgent(given) ? { to: given } : (given as Handoff))

/** A handoff that the model has called for. */
export interface Wanted {
  readonly handoff: Handoff
  readonly reason: string
  readonly toolCallId: string
}

/** The tools by which an agent hands over. `want` says why not, where it may not. */
export function handoffTools(agent: AnyAgent, want: (wanted: Wanted) => string | undefined): Tool[] {
  return agent.handoffs.map(asHandoff).map((one) => ({
    name: `transfer_to_${one.to.name}`,
    prompt:
      `Hands the conversation over to the agent ${one.to.name}, which answers in your place. ${one.description ?? one.to.description}`.trim(),
    input: record({ reason: optional(string('What the other agent should know: why, and what is left to do.')) }),
    safety: 'read_only' as const,
    granted: true as const,
    summary: () => one.to.name,
    async run(input, { toolUseId }) {
      const why = want({ handoff: one, reason: String(input['reason'] ?? ''), toolCallId: toolUseId })
      if (why !== undefined) return failed(why)
      return { content: `${one.to.name} takes over.`, isError: false, endsTurn: `handed over to ${one.to.name}` }
    },
  }))
}

/** The next agent's messages and context. */
export async function handOver(
  { handoff: { to, filter }, reason, toolCallId }: Wanted,
  from: AnyAgent,
  said: readonly Message[],
  context: Context,
): Promise<{ readonly input: string; readonly context: Context }> {
  const handover: Handover = { from, to, reason, messages: without(said, toolCallId), context }
  const filtered = (await filter?.(handover)) ?? {}
  const { messages = handover.messages } = filtered
  const input =
    filtered.input ??
    [
      `The agent ${from.name} hands this conversation over to you.${reason ? ` It says: ${reason}` : ''}`,
      `<conversation>\n${transcriptText(messages)}\n</conversation>`,
      'Go on from here.',
    ].join('\n\n')
  return { input, context: filtered.context ?? context }
}

function without(messages: readonly Message[], toolCallId: string): Message[] {
  return messages
    .map(({ role, content }) => ({
      role,
      content: content.filter(
        (block) =>
          !(block.type === 'tool_use' && block.id === toolCallId) &&
          !(block.type === 'tool_result' && block.tool_use_id === toolCallId),
      ),
    }))
    .filter(({ content }) => content.length > 0)
}
