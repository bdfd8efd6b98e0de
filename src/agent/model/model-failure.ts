/** What can be done about a model's failure, and what it is called at the hooks. */
import type { EventFields } from '../../hooks/events.ts'
import { counted } from '../../hooks/text/counted.ts'
import type { ModelFailure } from '../../providers/model.ts'
import { compact, mostRefills } from '../context/compact.ts'
import { charsOf, mostOfReply, withBoundedResults, withHalf } from '../context/window.ts'
import type { Session } from '../session/session.ts'
import { contextShare } from './spend.ts'

export async function raiseStopFailure(session: Session, failure: ModelFailure, text: string): Promise<void> {
  await session.raise('StopFailure', () => ({
    error: wireError[failure.kind],
    error_details: failure.message,
    ...(text !== '' && { last_assistant_message: text }),
  }))
}

/** Whether asking again can help now: with another model, or with a shorter conversation. */
export async function helpAgainst(session: Session, failure: ModelFailure): Promise<boolean> {
  if (failure.kind === 'overloaded') return useFallback(session, failure)
  if (failure.status === 404 && session.model.alias !== undefined) return useNewest(session, session.model.alias)
  if (leaveOutImages(session, failure)) return true
  if (!failure.contextOverflow) return false
  if (useSmallerWindow(session, failure)) return true
  if (session.refills > 0 && isShort(session)) return false
  const maySummarise = !session.runtime.env.DISABLE_COMPACT && session.refills < mostRefills
  return (maySummarise && (await compact(session, 'auto', null)).done) || shortenResults(session)
}

/** Whether the conversation is not what fills the window: a summary of it would be no shorter. */
function isShort(session: Session): boolean {
  if (charsOf(session.messages) > 2_000) return false
  const text = `${session.model.wireModel} has no room for a conversation: the system prompt and the tools fill its window. Use a model with a larger one`
  session.emit({ type: 'notice', level: 'warning', text })
  return true
}

/** Where nothing can be summarised, the session goes on with less of its results, as long as there is any to leave out. */
function shortenResults(session: Session): boolean {
  const { messages, signal } = session
  const before = charsOf(messages)
  const shorter = withHalf(messages)
  if (signal.aborted || charsOf(shorter) === before) return false
  messages.splice(0, Infinity, ...shorter)
  const text = `Results are shortened, from ${before} characters to ${charsOf(messages)} in all; the record keeps them whole`
  session.emit({ type: 'notice', level: 'warning', text })
  return true
}

/**
 * The server knows a smaller window than we do: results are bounded by it from now on, and so is the room that a request asks
 * for the reply, which many servers count as well. Whether the conversation fits it then.
 */
function useSmallerWindow(session: Session, { contextWindow = Infinity }: ModelFailure): boolean {
  const { model, messages } = session
  if (contextWindow >= model.window) return false
  const text = `${model.wireModel} reads ${contextWindow} tokens, not ${model.window}; results and replies are bounded by it. Set models."${model.wireModel}".contextWindow in the settings`
  session.emit({ type: 'notice', level: 'warning', text })
  const maxOutput = Math.min(model.maxOutput, mostOfReply(contextWindow))
  session.model = { ...model, window: contextWindow, maxOutput }
  const before = charsOf(messages)
  messages.splice(0, Infinity, ...messages.map((message) => withBoundedResults(message, contextWindow)))
  session.unreportedChars = Math.max(0, session.unreportedChars - (before - charsOf(messages)))
  const isLess = charsOf(messages) < before || maxOutput < model.maxOutput
  return isLess && contextShare(session) < 1
}

/** A model that reads no images, or a server with a limit of its own: every later request would fail, too. */
function leaveOutImages(session: Session, { kind, status, message, contextOverflow }: ModelFailure): boolean {
  const { messages } = session
  const isRejected = status !== undefined && (kind === 'invalid-request' || kind === 'server')
  const isLarge = status === 413 // by bytes, of which images have the most
  if (!isRejected || !(isLarge || (!contextOverflow && /image/i.test(message)))) return false
  const at = messages.findLastIndex(({ content }) => content.some((block) => block.type === 'image'))
  if (at < 0) return false
  const { role, content } = messages[at]!
  const instead = { type: 'text', text: `[An image was here; the server rejected it: ${message}]` } as const
  messages[at] = { role, content: content.map((block) => (block.type === 'image' ? instead : block)) }
  const count = content.filter((block) => block.type === 'image').length
  const text = `${counted(count, 'image is', 'images are')} left out, because the server rejected ${count > 1 ? 'them' : 'it'}: ${message}`
  session.emit({ type: 'notice', level: 'warning', text })
  return true
}

/** The family's model that we knew is no longer served: the server's list says which one is. */
async function useNewest(session: Session, alias: string): Promise<boolean> {
  const { wireModel, provider } = session.model
  await provider.list?.(session.signal)
  const model = await session.runtime.modelFor(alias)
  if ('problem' in model || model.wireModel === wireModel) return false
  const text = `${wireModel} is no longer served; using ${model.wireModel}, the newest ${alias} that the server lists`
  session.emit({ type: 'notice', level: 'warning', text })
  session.model = model
  return true
}

async function useFallback(session: Session, failure: ModelFailure): Promise<boolean> {
  const { fallbackModels = [], modelFor } = session.runtime
  const name = fallbackModels[session.fallbacksTried]
  if (name === undefined) return false
  session.fallbacksTried++
  const model = await modelFor(name)
  if ('problem' in model || model.wireModel === session.model.wireModel) return useFallback(session, failure)
  const text = `${session.model.wireModel} is overloaded (${failure.message}); using ${model.wireModel}`
  session.emit({ type: 'notice', level: 'warning', text })
  session.model = model
  return true
}

export const wireError: Record<ModelFailure['kind'], EventFields['StopFailure']['error']> = {
  authentication: 'authentication_failed',
  billing: 'billing_error',
  'rate-limit': 'rate_limit',
  overloaded: 'server_error',
  'invalid-request': 'invalid_request',
  server: 'server_error',
  'max-output-tokens': 'max_output_tokens',
  network: 'server_error',
  unknown: 'unknown',
}
