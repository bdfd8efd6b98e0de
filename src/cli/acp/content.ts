/** Between the protocol's content and ours: prompts that come in, and a conversation that is replayed. */

import { fileURLToPath } from 'node:url'
import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk'
import { attached } from '../../agent/context/attached-content.ts'
import { liveEntries } from '../../agent/session/history.ts'
import type { Session } from '../../agent/session/session.ts'
import type { Block } from '../../hooks/steps.ts'
import { shownCall, textBlock } from './updates.ts'

/** What was typed, with links as `@path` so that they are read under the rules; and what came along. */
export interface Typed {
  readonly text: string
  readonly more: Block[]
}

export function readPrompt(prompt: readonly ContentBlock[]): Typed {
  const words: string[] = []
  const more: Block[] = []
  for (const block of prompt) {
    if (block.type === 'text') words.push(block.text)
    else if (block.type === 'image') more.push({ type: 'image', mimeType: block.mimeType, data: block.data })
    else if (block.type === 'resource_link') words.push(linkText(block.uri, block.name))
    else if (block.type === 'resource' && 'text' in block.resource)
      more.push(attached(`${nameOf(block.resource.uri)}:\n${block.resource.text}`))
    else more.push({ type: 'text', text: '[a part of the prompt that cannot be read here]' })
  }
  return { text: words.join(' '), more }
}

function linkText(uri: string, name: string): string {
  const path = pathOf(uri)
  if (path === undefined) return `[${name}](${uri})`
  return path.includes(' ') ? `@"${path}"` : `@${path}`
}

const nameOf = (uri: string) => pathOf(uri) ?? uri

function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri)
  } catch {
    return undefined // not a file of this machine: it is named as it stands
  }
}

/** The conversation so far, oldest first, as if it took place now. */
export function* toldAgain(session: Session): Generator<SessionUpdate> {
  for (const { entry } of liveEntries(session.db, session.id)) {
    if (entry._t === 'user' || entry._t === 'assistant') {
      const who = entry._t === 'user' ? 'user_message_chunk' : 'agent_message_chunk'
      for (const block of entry.content as readonly Said[]) {
        if (block.type === 'text' && block.text) yield { sessionUpdate: who, content: textBlock(block.text) }
        if (block.type === 'tool_use' && block.id && block.name) {
          const input = block.input ?? {}
          const tool = session.tool(block.name)
          yield {
            sessionUpdate: 'tool_call',
            ...shownCall(block.name, input, tool?.summary(input) ?? ''),
            toolCallId: block.id,
            status: 'pending',
          }
        }
      }
    }
    if (entry._t === 'tool_result') {
      yield {
        sessionUpdate: 'tool_call_update',
        toolCallId: String(entry.tool_use_id),
        status: entry.is_error ? 'failed' : 'completed',
        content: [{ type: 'content', content: textBlock(String(entry.content)) }],
      }
    }
  }
}

interface Said {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly name?: string
  readonly input?: Record<string, unknown>
}
