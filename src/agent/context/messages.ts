/** The transcript's rows as the messages of a request: a deterministic mapping. */
import type { ContentBlock, Message } from '../../providers/model.ts'
import type { Row } from '../../store/session/transcript.ts'

/** Adds blocks to the conversation; neighbours of one role become one message. */
export function append(messages: Message[], role: Message['role'], content: readonly ContentBlock[]): void {
  const last = messages.at(-1)
  if (content.length === 0) return
  if (last?.role === role) messages[messages.length - 1] = { role, content: [...last.content, ...content] }
  else messages.push({ role, content })
}

/**
 * Rows from the last compaction on; what lies before it is in its summary. A row `tool_use` is a call that the operator
 * made (`ona --eval`) or another agent (`ona mcp serve`): it is on record, and no model is sent it or its result.
 */
export function messagesOf(entries: Iterable<Row>): Message[] {
  const messages: Message[] = []
  const operators = new Set<unknown>()
  let images: ContentBlock[] = []
  for (const { entry } of entries) {
    switch (entry._t) {
      case 'user':
        append(messages, 'user', [...images, ...(entry.content as ContentBlock[])])
        images = []
        break
      case 'assistant':
        append(messages, 'assistant', withReasoning(entry.content as ContentBlock[], entry.reasoning))
        break
      case 'tool_use':
        operators.add(entry.id)
        break
      case 'tool_result':
        if (operators.has(entry.tool_use_id)) break
        append(messages, 'user', [
          { type: 'tool_result', tool_use_id: entry.tool_use_id, content: entry.content, is_error: entry.is_error },
        ])
        break
      case 'attachment': {
        const { attachment } = entry
        if (attachment.type === 'image') {
          images.push({ type: 'image', mediaType: String(attachment.mediaType), data: String(attachment.data) })
        }
        break
      }
      case 'content_replacement':
        replaceResult(messages, String(entry.tool_use_id), String(entry.content))
        break
      case 'system':
        if (entry.subtype === 'compact_boundary') messages.length = 0
        break
    }
  }
  return messages
}

/** Thoughts are kept beside the content, each with its place in it. */
function withReasoning(content: readonly ContentBlock[], kept: unknown): readonly ContentBlock[] {
  if (!Array.isArray(kept)) return content
  const blocks = [...content]
  for (const { at, block } of kept as { at: number; block: ContentBlock }[]) blocks.splice(at, 0, block)
  return blocks
}

function replaceResult(messages: Message[], id: string, content: string): void {
  const isIt = (block: ContentBlock) => block.type === 'tool_result' && block.tool_use_id === id
  const index = messages.findLastIndex((message) => message.content.some(isIt))
  if (index < 0) return
  const message = messages[index]!
  const replaced = message.content.map((block) => (isIt(block) ? ({ ...block, content } as ContentBlock) : block))
  messages[index] = { ...message, content: replaced }
}

export const unansweredText =
  '[SDLC_INTERNAL] interrupted: the program ended before this call had a result; it may have run'
