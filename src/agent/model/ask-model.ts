/** One question to the session's model, beside the conversation. */
import type { Session } from '../session/session.ts'
import { spendAside } from './spend.ts'

/** No tools, no history; what it costs counts as the session's. */
export async function askModel(
  session: Session,
  prompt: string,
  signal: AbortSignal,
  system = 'Answer briefly and only from what is given.',
): Promise<{ ok: boolean; text: string; overflow?: true }> {
  const reply = await session.model.provider.reply(
    {
      model: session.model.wireModel,
      system: [{ text: system }],
      messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
      tools: [],
      maxTokens: session.model.maxOutput,
      signal,
    },
    () => {},
  )
  spendAside(session, reply)
  const text = reply.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  return reply.stop === 'error' || reply.stop === 'cancelled'
    ? {
        ok: false,
        text: reply.failure?.message ?? 'interrupted',
        ...(reply.failure?.contextOverflow && { overflow: true }),
      }
    : { ok: true, text }
}
