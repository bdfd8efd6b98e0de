/** A conversation as both dialects demand it: every call answered in the next message, no answer without its call. */
import type { ContentBlock, Message } from '../model.ts'

/** The part of each conversation that is known to fit, by its first message: a turn checks what it added. */
const sound = new WeakMap<Message, Message[]>()

/** Returns the same list when nothing is wrong, which is the usual case. */
export function wellFormed(messages: readonly Message[]): readonly Message[] {
  const [first] = messages
  if (!first) return messages
  const known = sound.get(first) ?? []
  sound.set(first, known)
  known.length = commonLength(known, messages)
  // whether the last one fits depends on the next
  for (let at = Math.max(0, known.length - 1); at < messages.length; at++) {
    if (!fits(messages, at)) return repaired(messages)
    known[at] = messages[at]!
  }
  return messages
}

/** How many messages two lists begin with in common, as the same objects. */
export function commonLength(some: readonly Message[], others: readonly Message[]): number {
  let at = 0
  while (at < some.length && at < others.length && some[at] === others[at]) at++
  return at
}

/** Without what another model thought, or, with an empty name, any model. The same list when there is nothing to leave out. */
export function ownReasoning(messages: readonly Message[], model: string): readonly Message[] {
  const isForeign = (block: ContentBlock) => block.type === 'reasoning' && block.model !== model
  if (!messages.some(({ content }) => content.some(isForeign))) return messages
  return messages.map((message) => {
    if (!message.content.some(isForeign)) return message
    let own = withoutForeign.get(message)
    if (own?.model !== model) {
      own = { model, message: { ...message, content: message.content.filter((block) => !isForeign(block)) } }
      withoutForeign.set(message, own)
    }
    return own.message
  })
}

/** The same object each time, so that what is known of it is not worked out again. */
const withoutForeign = new WeakMap<Message, { readonly model: string; readonly message: Message }>()

const interrupted = '[SDLC_INTERNAL] interrupted: this call has no result'

function fits(messages: readonly Message[], at: number): boolean {
  const { role, content } = messages[at]!
  if (content.length === 0) return false
  if (role === 'assistant') {
    const calls = callIds(messages[at])
    if (calls.length === 0) return true
    const next = messages[at + 1]
    return next?.role === 'user' && calls.every((id, index) => answers(next.content[index], id))
  }
  const calls = callIds(messages[at - 1])
  return content.every((block, index) => (block.type === 'tool_result') === index < calls.length)
}

const answers = (block: ContentBlock | undefined, id: string) =>
  block?.type === 'tool_result' && block.tool_use_id === id

function callIds(message: Message | undefined): string[] {
  if (message?.role !== 'assistant') return []
  const ids: string[] = []
  for (const block of message.content) if (block.type === 'tool_use') ids.push(block.id)
  return ids
}

function repaired(messages: readonly Message[]): Message[] {
  const whole: Message[] = []
  for (const message of messages) {
    if (message.content.length === 0) continue
    const open = callIds(whole.at(-1))
    if (message.role === 'assistant' && open.length > 0) whole.push({ role: 'user', content: results(open, []) })
    if (message.role === 'assistant') {
      whole.push(message)
      continue
    }
    const rest = message.content.filter((block) => block.type !== 'tool_result')
    const content = [...results(open, message.content), ...rest]
    // One that needs nothing stays the same object: its text on the wire is known already.
    if (content.every((block, index) => block === message.content[index]) && content.length === message.content.length)
      whole.push(message)
    else if (content.length > 0) whole.push({ role: 'user', content })
  }
  const open = callIds(whole.at(-1))
  if (open.length > 0) whole.push({ role: 'user', content: results(open, []) })
  return whole
}

const results = (ids: readonly string[], content: readonly ContentBlock[]): ContentBlock[] =>
  ids.map(
    (id) =>
      content.find((block) => answers(block, id)) ?? {
        type: 'tool_result',
        tool_use_id: id,
        content: interrupted,
        is_error: true,
      },
  )
