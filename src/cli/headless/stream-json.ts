/** A run as messages in the stream-json form that other programs that drive agents already read. */
import type { AgentEvent } from '../../agent/events.ts'
import { wireError } from '../../agent/model/model-failure.ts'
import type { Session } from '../../agent/session/session.ts'
import { version } from '../../package-root.ts'
import { claudeVersion } from '../control/claude-version.ts'
import { PartialReply } from './partial.ts'
import { stamp, wireUsage } from './run-facts.ts'

export interface StreamOptions {
  readonly partial: boolean
  readonly hooks: boolean
  /** Also the words of sub-agents, not only their calls. */
  readonly subagentText?: boolean
}

/** Gives the messages for each event of the session. */
export function messageStream(session: Session, options: StreamOptions): (event: AgentEvent) => object[] {
  const reply = new PartialReply(session)
  return (event) => {
    const parent_tool_use_id = event.agent ? (event.agent.toolUseId ?? event.agent.id) : null
    const message = (fields: object) => ({ ...fields, parent_tool_use_id, ...stamp(session) })
    const pieces = (events: readonly object[]) => events.map((each) => message({ type: 'stream_event', event: each }))
    const table = messages[event.type] as ((event: AgentEvent, options: StreamOptions) => object[]) | undefined
    if (event.type === 'assistant') {
      const id = reply.messageId()
      const whole = assistantMessage(session, id, event, options)
      const partial = options.partial && !event.agent ? pieces(reply.end(event)) : []
      if (!event.agent) reply.drop()
      return [...partial, ...(whole ? [message({ type: 'assistant', message: whole })] : [])]
    }
    if (event.type === 'text' || event.type === 'thinking')
      return options.partial && !event.agent ? pieces(reply.piece(event.type, event.text)) : []
    if (event.type === 'retry' && !event.agent) reply.drop()
    if (event.type === 'turn-ended' && event.failure && !event.agent)
      return [
        message({ type: 'assistant', message: failureMessage(session, event), error: wireError[event.failure.kind] }),
      ]
    return (table?.(event, options) ?? []).map(message)
  }
}

type Of<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>

function assistantMessage(
  session: Session,
  id: string,
  { text, thinking, toolUses, usage, stop, agent }: Of<'assistant'>,
  { subagentText = false }: StreamOptions,
): object | undefined {
  const words = text !== '' && (!agent || subagentText)
  const content = [
    ...(thinking && !agent ? [{ type: 'thinking', thinking, signature: '' }] : []),
    ...(words ? [{ type: 'text', text }] : []),
    ...toolUses.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ]
  if (content.length === 0) return undefined
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: session.model.wireModel,
    content,
    stop_reason: stop ?? null,
    stop_sequence: null,
    usage: usage ? wireUsage(usage) : { input_tokens: 0, output_tokens: 0 },
  }
}

const failureMessage = (session: Session, { text, failure }: Of<'turn-ended'>): object => ({
  id: `msg_${stamp(session).uuid}`,
  type: 'message',
  role: 'assistant',
  model: '<synthetic>',
  content: [{ type: 'text', text: failure?.message ?? text }],
  stop_reason: 'stop_sequence',
  stop_sequence: '',
  usage: { input_tokens: 0, output_tokens: 0 },
})

/** The events that are one message each; the reply itself is above. */
const messages: { [T in AgentEvent['type']]?: (event: Of<T>, options: StreamOptions) => object[] } = {
  'tool-finished': ({ id, output }) => [
    {
      type: 'user',
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: output.content, is_error: output.isError }],
      },
      tool_use_result: output.display ?? { content: output.content },
    },
  ],
  retry: ({ attempt, most, waitMs, failure }) => [
    {
      type: 'system',
      subtype: 'api_retry',
      attempt,
      max_retries: most,
      retry_delay_ms: waitMs,
      error_status: failure.status ?? null,
      error: wireError[failure.kind],
    },
  ],
  compacted: ({ trigger, tokensBefore }) => [
    { type: 'system', subtype: 'compact_boundary', compact_metadata: { trigger, pre_tokens: tokensBefore } },
  ],
  task: ({ id, about, status }) => [
    {
      type: 'system',
      subtype: status === 'started' ? 'task_started' : 'task_notification',
      task_id: id,
      description: about,
      ...(status !== 'started' && {
        status: status === 'killed' ? 'stopped' : status,
        summary: about,
        output_file: '',
      }),
    },
  ],
  hook: ({ note }, { hooks }) =>
    hooks || note.failedOpen
      ? [
          {
            type: 'system',
            subtype: 'hook_response',
            hook_name: note.hook,
            hook_event: note.event,
            outcome: note.effect,
            output: note.reason,
            ...(note.failedOpen && { failed_open: true }),
          },
        ]
      : [],
  notice: ({ level, text }) => [{ type: 'system', subtype: 'informational', level, content: text }],
}

export function initMessage(session: Session): object {
  const { runtime } = session
  return {
    type: 'system',
    subtype: 'init',
    cwd: session.cwd,
    tools: session.toolNames(),
    mcp_servers: runtime.mcp?.status().map(({ name, status }) => ({ name, status })) ?? [],
    model: session.model.wireModel,
    permissionMode: session.mode,
    slash_commands: runtime.skills.list().map((skill) => skill.name),
    skills: runtime.skills.list().map((skill) => skill.name),
    agents: runtime.agents.map((agent) => agent.name),
    plugins: (runtime.plugins ?? []).map(({ name, root }) => ({ name, path: root })),
    output_style: runtime.settings.outputStyle ?? 'default',
    claude_code_version: claudeVersion,
    ona_version: version(),
    apiKeySource: session.model.why,
    ...stamp(session),
  }
}
