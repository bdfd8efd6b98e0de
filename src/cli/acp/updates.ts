/** What the agent does, as an editor sees it: events of the session become session updates of the protocol. */
import type { PlanEntry, SessionUpdate, ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk'
import type { AgentEvent } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
import { readPlainFile } from '../../files/plain-file.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import type { Todo } from '../../tools/output.ts'

/** What is shown of a tool's output: an editor is no pager. */
const mostOutput = 20_000
/** A file over this is not shown as a diff. */
const mostDiff = 400_000

/** The updates for an event, if any. */
export function updatesFor(session: Session, event: AgentEvent): SessionUpdate[] {
  switch (event.type) {
    case 'text':
      return event.agent ? [] : [{ sessionUpdate: 'agent_message_chunk', content: textBlock(event.text) }]
    case 'thinking':
      return event.agent ? [] : [{ sessionUpdate: 'agent_thought_chunk', content: textBlock(event.text) }]
    case 'tool-started':
      return [
        {
          sessionUpdate: 'tool_call',
          ...shownCall(event.name, event.input, event.summary),
          ...(event.agent && { title: `${event.agent.about}: ${titleOf(event.name, event.summary)}` }),
          toolCallId: event.id,
          status: 'in_progress',
        },
      ]
    case 'tool-progress':
      return [{ sessionUpdate: 'tool_call_update', toolCallId: event.id, content: [shownText(event.text)] }]
    case 'tool-finished':
      return [{ sessionUpdate: 'tool_call_update', ...finishedCall(event) }]
    case 'todos':
      return event.agent ? [] : [{ sessionUpdate: 'plan', entries: event.todos.map(planEntry) }]
    case 'usage':
      return event.agent
        ? []
        : [
            {
              sessionUpdate: 'usage_update',
              used: session.contextTokens,
              size: session.model.window,
              ...(session.spent.unpriced ? {} : { cost: { amount: session.spent.costUsd, currency: 'USD' } }),
            },
          ]
    case 'notice':
      return event.level === 'info'
        ? []
        : [{ sessionUpdate: 'agent_thought_chunk', content: textBlock(`${event.text}\n`) }]
    case 'hook': {
      const { hook, reason, failedOpen } = event.note
      const text = `hook ${hook} failed: ${reason}\n`
      return failedOpen ? [{ sessionUpdate: 'agent_thought_chunk', content: textBlock(text) }] : []
    }
    case 'retry':
      return [{ sessionUpdate: 'agent_thought_chunk', content: textBlock(`${event.failure.message}; trying again\n`) }]
    case 'brief':
      return [{ sessionUpdate: 'agent_message_chunk', content: textBlock(`${event.text}\n\n`) }]
    default:
      return []
  }
}

export const textBlock = (text: string) => ({ type: 'text', text }) as const

/** A call as an editor shows it before it has run: what it is, which files, and the change it would make. */
export function shownCall(name: string, input: JsonObject, summary: string) {
  const content = diffOf(name, input)
  return {
    title: titleOf(name, summary),
    kind: kinds[name] ?? 'other',
    rawInput: input,
    ...(content && { content: [content] }),
    locations: locationsOf(input),
  }
}

const titleOf = (name: string, summary: string) => (summary ? `${name} ${summary}` : name)

const kinds: Record<string, ToolKind> = {
  Read: 'read',
  ReadMcpResource: 'read',
  Write: 'edit',
  Edit: 'edit',
  NotebookEdit: 'edit',
  Bash: 'execute',
  Glob: 'search',
  Grep: 'search',
  ToolSearch: 'search',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
  TodoWrite: 'think',
  Agent: 'think',
  EnterPlanMode: 'switch_mode',
  ExitPlanMode: 'switch_mode',
}

function locationsOf({ file_path, notebook_path, offset }: JsonObject): ToolCallLocation[] {
  const path = file_path ?? notebook_path
  return typeof path === 'string' ? [{ path, ...(typeof offset === 'number' && { line: offset }) }] : []
}

function diffOf(name: string, input: JsonObject): ToolCallContent | undefined {
  const path = String(input['file_path'] ?? '')
  if (name === 'Edit')
    return { type: 'diff', path, oldText: String(input['old_string']), newText: String(input['new_string']) }
  if (name !== 'Write' || String(input['content']).length > mostDiff) return undefined
  return { type: 'diff', path, oldText: textOf(path), newText: String(input['content']) }
}

function textOf(path: string): string | null {
  try {
    return readPlainFile(path, mostDiff)
  } catch {
    return null // not there, or nothing that a diff could show
  }
}

type Finished = Extract<AgentEvent, { type: 'tool-finished' }>

/** A diff that was shown stands; anything else is replaced by what the tool said. */
function finishedCall({ id, name, output }: Finished) {
  const changed = (name === 'Edit' || name === 'Write') && !output.isError
  return {
    toolCallId: id,
    status: output.isError ? ('failed' as const) : ('completed' as const),
    ...(!changed && { content: [shownText(output.content)] }),
    rawOutput: { content: output.content.slice(0, mostOutput), is_error: output.isError },
  }
}

const shownText = (text: string): ToolCallContent => ({
  type: 'content',
  content: textBlock(text.length > mostOutput ? `${text.slice(0, mostOutput)}\n[SDLC_TRUNCATED]` : text),
})

const planEntry = ({ content, status }: Todo): PlanEntry => ({ content, status, priority: 'medium' })
