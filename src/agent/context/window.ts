/** What fits into a model's window, at about four characters a token: one result, and a conversation to summarise. */
import type { ContentBlock, Message } from '../../providers/model.ts'

/** The most that one result may take of the window. The record keeps it whole. */
const mostOfWindow = 0.25

export const mostChars = (window: number): number => Math.max(8_000, Math.floor(window * 4 * mostOfWindow))

/** The most that the room for a reply may take of a small window, in tokens. */
export const mostOfReply = (window: number): number => Math.floor(window / 4)

/** A result as the model is shown it: head and tail, and how much is left out. */
export const boundedResult = (content: string, window: number): string => clipped(content, mostChars(window))

/** For a session that was stored whole, or by a model with a larger window. */
export const withBoundedResults = (message: Message, window: number): Message =>
  withResultsOf(message, mostChars(window))

/**
 * With half of its characters, where its largest results can be shortened by so much; else with none that is longer than
 * `leastResult`.
 */
export function withHalf(messages: readonly Message[]): readonly Message[] {
  const goal = charsOf(messages) / 2
  const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'))
  let most = results.reduce((longest, block) => Math.max(longest, wordsOf(block).length), 0)
  let shortened = messages
  while (charsOf(shortened) > goal && most > leastResult) {
    most = Math.max(leastResult, Math.floor(most / 2))
    shortened = messages.map((message) => withResultsOf(message, most))
  }
  return shortened
}

const leastResult = 500

function withResultsOf(message: Message, most: number): Message {
  const isLarge = (block: ContentBlock) => block.type === 'tool_result' && block.content.length > most
  if (!message.content.some(isLarge)) return message
  const content = message.content.map((block) =>
    block.type === 'tool_result' ? { ...block, content: clipped(block.content, most) } : block,
  )
  return { ...message, content }
}

export function clipped(content: string, most: number): string {
  if (content.length <= most) return content
  const half = Math.max(0, Math.floor((most - 200) / 2))
  const head = wholeUntil(content, half)
  const tail = wholeUntil(content, content.length - half)
  const left = tail - head
  const note = `[SDLC_TRUNCATED] ${left} of ${content.length} characters are left out: they do not fit the model's window. Ask for less: a range of lines, a filter, a search.`
  return `${content.slice(0, head)}\n${note}\n${content.slice(tail)}`
}

/** This place, or the one before it where it is in the middle of a character. */
const wholeUntil = (text: string, at: number): number =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 1), at + 1)) ? at - 1 : at

export const transcriptText = (messages: readonly Message[]): string =>
  messages.map((message) => textOf(message, Infinity)).join('\n\n')

/** About what they take of the window, four characters a token. */
export const charsOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, { content }) => sum + content.reduce((all, block) => all + wordsOf(block).length, 0), 0)

/** However full the window, a result is not cut below this to summarise it: there are more pieces instead. */
const leastEach = 4_000

/**
 * The conversation as texts of at most `most` characters: the largest inputs and results of calls are shortened first, and what
 * then does not fit into one text goes on in the next. What was said is never shortened. `shortened`: how many inputs and
 * results were.
 */
export function transcriptPieces(
  messages: readonly Message[],
  most: number,
): { readonly pieces: readonly string[]; readonly shortened: number } {
  let each = most
  const partsOf = () => messages.map((message) => textOf(message, each))
  const fits = (parts: readonly string[]) => parts.reduce((sum, part) => sum + part.length + 2, 0) <= most
  let parts = partsOf()
  while (!fits(parts) && each > leastEach) {
    each = Math.max(leastEach, Math.floor(each / 2))
    parts = partsOf()
  }
  const pieces: string[] = []
  let piece = ''
  for (const part of parts.flatMap((text) => slices(text, most))) {
    if (piece !== '' && piece.length + part.length + 2 > most) {
      pieces.push(piece)
      piece = ''
    }
    piece = piece === '' ? part : `${piece}\n\n${part}`
  }
  if (piece !== '') pieces.push(piece)
  const isShort = (block: ContentBlock) => block.type !== 'text' && wordsOf(block).length > each
  return { pieces, shortened: messages.reduce((sum, { content }) => sum + content.filter(isShort).length, 0) }
}

function slices(text: string, most: number): string[] {
  const found: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = wholeUntil(text, at + most)
    found.push(text.slice(at, end))
    at = end
  }
  return found
}

function wordsOf(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type === 'tool_use') return JSON.stringify(block.input)
  return block.type === 'tool_result' ? block.content : ''
}

function textOf({ role, content }: Message, mostEach: number): string {
  const parts = content.map((block) => {
    if (block.type === 'text') return block.text
    const words = clipped(wordsOf(block), mostEach)
    if (block.type === 'tool_use') return `[calls ${block.name} ${words}]`
    if (block.type === 'tool_result') return `[result${block.is_error ? ' (error)' : ''}: ${words}]`
    return '[image]'
  })
  return `${role}: ${parts.join('\n')}`
}
