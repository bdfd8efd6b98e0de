/** What fits into a model's window, at about four characters a token: one result, and a conversation to summarise. */
import type { ContentBlock, Message } from '../../providers/model.ts'

/** The most that one result may take of the window. The record keeps it whole. */
const mostOfWindow = 0.25

export const mostChars = (window: number): number => Math.max(8_000, Math.floor(window * 4 * mostOfWindow))

/** A result as the model is shown it: head and tail, and how much is left out. */
export const boundedResult = (content: string, window: number): string => clipped(content, mostChars(window))

/** For a session that was stored whole, or by a model with a larger window. */
export function withBoundedResults(message: Message, window: number): Message {
  const most = mostChars(window)
  const isLarge = (block: ContentBlock) => block.type === 'tool_result' && block.content.length > most
  if (!message.content.some(isLarge)) return message
  const content = message.content.map((block) =>
    block.type === 'tool_result' ? { ...block, content: clipped(block.content, most) } : block,
  )
  return { ...message, content }
}

function clipped(content: string, most: number): string {
  if (content.length <= most) return content
  const half = Math.max(0, Math.floor((most - 200) / 2))
  const left = content.length - 2 * half
  const note = `[SDLC_TRUNCATED] ${left} of ${content.length} characters are left out: they do not fit the model's window. Ask for less: a range of lines, a filter, a search.`
  return `${content.slice(0, half)}\n${note}\n${content.slice(content.length - half)}`
}

/** The conversation as text of at most `most` characters: the largest results are cut first, then the oldest messages. */
export function boundedTranscript(messages: readonly Message[], most: number): string {
  let each = most
  for (;;) {
    const parts = messages.map((message) => textOf(message, each))
    const size = parts.reduce((sum, part) => sum + part.length + 2, 0)
    if (size <= most) return parts.join('\n\n')
    if (each > 500) {
      each = Math.max(500, Math.floor(each / 2))
      continue
    }
    const kept: string[] = []
    let room = most - 100
    for (const part of parts.toReversed()) {
      room -= part.length + 2
      if (room < 0) break
      kept.unshift(part)
    }
    return [`[${parts.length - kept.length} earlier messages do not fit and are left out]`, ...kept].join('\n\n')
  }
}

function textOf({ role, content }: Message, mostEach: number): string {
  const parts = content.map((block) => {
    if (block.type === 'text') return clipped(block.text, mostEach)
    if (block.type === 'tool_use') return `[calls ${block.name} ${clipped(JSON.stringify(block.input), mostEach)}]`
    if (block.type === 'tool_result')
      return `[result${block.is_error ? ' (error)' : ''}: ${clipped(block.content, mostEach)}]`
    return '[image]'
  })
  return `${role}: ${parts.join('\n')}`
}
