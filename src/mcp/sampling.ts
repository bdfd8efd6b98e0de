/** A server asks for a reply of the model (sampling): what it may ask for, and how the answer is put. */
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { slugOf } from './names.ts'

export interface Sampling {
  readonly server: string
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[]
  readonly system?: string
  readonly maxTokens: number
}

export type Sampled =
  | { readonly ok: true; readonly text: string; readonly model: string; readonly stop: 'endTurn' | 'maxTokens' }
  | { readonly ok: false; readonly why: string }

/** The name that permission rules have for it: `mcp__SERVER__sampling_createMessage`. */
export const samplingRule = (server: string): string => `mcp__${slugOf(server)}__sampling_createMessage`

/** Text alone: images, tools and the conversation's own context are not passed on. */
export function readSampling(server: string, params: JsonObject): Sampling | { readonly problem: string } {
  const { messages, systemPrompt, maxTokens, tools, includeContext } = params
  if (Array.isArray(tools) && tools.length > 0) return { problem: 'tools in sampling are not supported' }
  if (includeContext !== undefined && includeContext !== 'none')
    return { problem: 'the conversation is not passed on to servers; use includeContext "none"' }
  if (!Array.isArray(messages) || messages.length === 0) return { problem: 'messages is missing' }
  const read = messages.map((message) => {
    const { role, content } = isObject(message) ? message : {}
    const blocks = [content]
      .flat()
      .map((block) => (isObject(block) && block['type'] === 'text' ? block['text'] : undefined))
    const isText = blocks.every((text) => typeof text === 'string')
    return (role === 'user' || role === 'assistant') && isText ? { role, text: blocks.join('\n') } : undefined
  })
  if (read.includes(undefined)) return { problem: 'a message must be text of user or assistant' }
  const limit = Number(maxTokens)
  return {
    server,
    messages: read as Sampling['messages'],
    ...(typeof systemPrompt === 'string' && { system: systemPrompt }),
    maxTokens: Number.isSafeInteger(limit) && limit > 0 ? limit : 1024,
  }
}

export const samplingResult = ({ text, model, stop }: Extract<Sampled, { ok: true }>) => ({
  role: 'assistant' as const,
  content: { type: 'text' as const, text },
  model,
  stopReason: stop,
})
