/** How the context window is filled, by kind of content. */
import type { ContentBlock, Message } from '../../providers/model.ts'
import type { Session } from '../session/session.ts'
import { requestFor } from './prompt.ts'

export interface ContextUsage {
  readonly window: number
  /** The model's own count where there is one, otherwise an estimate. */
  readonly used: number
  readonly parts: readonly { readonly id: PartId; readonly tokens: number }[]
}

export type PartId = 'system_prompt' | 'tools' | 'user' | 'assistant' | 'tool_results'

/** About four characters a token. */
const estimate = (characters: number) => Math.ceil(characters / 4)

export async function contextUsage(session: Session): Promise<ContextUsage> {
  const { messages, model } = session
  const request = await requestFor(session, model.wireModel)
  const sizes: Record<PartId, number> = {
    system_prompt: estimate(request.system.reduce((sum, { text }) => sum + text.length, 0)),
    tools: estimate(JSON.stringify(request.tools).length),
    user: estimate(sizeOf(messages, (block, role) => block.type === 'text' && role === 'user')),
    assistant: estimate(sizeOf(messages, (block, role) => block.type !== 'tool_result' && role === 'assistant')),
    tool_results: estimate(sizeOf(messages, (block) => block.type === 'tool_result')),
  }
  const estimated = Object.values(sizes).reduce((sum, size) => sum + size, 0)
  const used = session.contextTokens || estimated
  const share = estimated === 0 ? 0 : used / estimated
  const parts = Object.entries(sizes).map(([id, size]) => ({ id: id as PartId, tokens: Math.round(size * share) }))
  return { window: model.window, used, parts }
}

const sizeOf = (messages: readonly Message[], counts: (block: ContentBlock, role: Message['role']) => boolean) =>
  messages.reduce(
    (sum, { role, content }) =>
      sum +
      content.filter((block) => counts(block, role)).reduce((size, block) => size + JSON.stringify(block).length, 0),
    0,
  )
