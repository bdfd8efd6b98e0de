/** The pieces of a reply as events of the Messages API, for `--include-partial-messages`. */
import type { AgentEvent } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
import { newId } from '../../store/open.ts'
import { wireUsage } from './run-facts.ts'

type Assistant = Extract<AgentEvent, { type: 'assistant' }>

/** One reply at a time: text and thinking as they come, tool calls when they are whole. */
export class PartialReply {
  /** The id of the message that the pieces belong to. */
  id = ''
  private block: 'none' | 'text' | 'thinking' = 'none'
  private index = -1
  private readonly session: Session

  constructor(session: Session) {
    this.session = session
  }

  piece(kind: 'text' | 'thinking', text: string): object[] {
    const events = this.begin()
    if (this.block !== kind) {
      events.push(...this.endBlock())
      this.block = kind
      this.index++
      const content_block =
        kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' }
      events.push({ type: 'content_block_start', index: this.index, content_block })
    }
    const delta = kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text }
    return [...events, { type: 'content_block_delta', index: this.index, delta }]
  }

  /** What was shown of a reply that is requested again is void: the next piece begins a new message. */
  drop(): void {
    this.id = ''
    this.block = 'none'
    this.index = -1
  }

  end({ toolUses, usage, stop }: Assistant): object[] {
    if (this.id === '' && toolUses.length === 0) return []
    const events = [...this.begin(), ...this.endBlock()]
    for (const { id, name, input } of toolUses) {
      const index = ++this.index
      const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) }
      events.push(
        { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      )
    }
    const stop_reason = stop ?? (toolUses.length > 0 ? 'tool_use' : 'end_turn')
    const delta = { stop_reason, stop_sequence: null }
    events.push({ type: 'message_delta', delta, usage: usage ? wireUsage(usage) : { output_tokens: 0 } })
    this.drop()
    return [...events, { type: 'message_stop' }]
  }

  /** The id of the message under way, or a new one. */
  messageId(): string {
    return this.id || `msg_${newId(this.session.db)}`
  }

  private begin(): object[] {
    if (this.id !== '') return []
    this.id = this.messageId()
    const message = {
      id: this.id,
      type: 'message',
      role: 'assistant',
      model: this.session.model.wireModel,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    }
    return [{ type: 'message_start', message }]
  }

  private endBlock(): object[] {
    if (this.block === 'none') return []
    this.block = 'none'
    return [{ type: 'content_block_stop', index: this.index }]
  }
}
