/** The tool calls in the text of a transcript entry, which another program may have written and may hold anything. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'

export interface Use {
  readonly id: string
  readonly name: string
  readonly input: JsonObject
}

/** Calls in the reply of a model. A damaged entry is reported where the transcript is read; here it holds no call. */
export function usesOfReply(payload: string): readonly Use[] {
  const at = payload.indexOf('"tool_use"')
  if (at < 0) return payload.includes('tool_use') || payload.includes('\\u') ? usesIn(contentOf(payload)) : []
  if (!standsLast(payload, at)) return usesIn(contentOf(payload))
  const command = commandAlone(payload, at)
  return command ? [command] : usesIn(parsed(`[${payload.slice(at - blockOpening.length, -1)}`) ?? contentOf(payload))
}

/** The call of an entry that is one. */
export function useOfCall(payload: string): readonly Use[] {
  const entry = parsed(payload)
  return isUse(entry) ? [entry] : []
}

/**
 * Whether the blocks from the first call on are all that is left of a reply, in the shape that we write: then what the model said
 * before need not be read. A quote inside a string is escaped, so what begins with `{"type"` is an object; one that lies
 * deeper than the blocks leaves a bracket over, and is no JSON.
 */
function standsLast(payload: string, firstCall: number): boolean {
  opening.lastIndex = 0
  if (!payload.endsWith(']}') || !opening.test(payload)) return false
  const begin = firstCall - blockOpening.length
  // a bracket before it: the blocks may have ended there
  return payload.startsWith(blockOpening, begin) && payload.indexOf(']', opening.lastIndex) > begin
}
const opening = /\{"_t":"assistant","uuid":"[^"]*","content":\[/y
const blockOpening = '{"type":'

/** One call of Bash and nothing after it, without a parser. Undefined: something is unusual, such as an escape outside the command. */
function commandAlone(payload: string, firstCall: number): (Use & JsonObject) | undefined {
  if (payload.length > longestMatched) return undefined
  bashCall.lastIndex = firstCall
  const found = bashCall.exec(payload)
  if (!found) return undefined
  const id = found[1]!
  const text = found[2]!
  const description = found[3]
  const command = text.includes('\\') ? parsed(`"${text}"`) : text
  if (typeof command !== 'string') return undefined
  return {
    type: 'tool_use',
    id,
    name: 'Bash',
    input: description === undefined ? { command } : { command, description },
  }
}
/** `plain`: what stands in JSON as it is. One expression for all of it takes half the time of a search for each string. */
const plain = '[^\\u0000-\\u001f\\\\"]*'
const bashCall = new RegExp(
  `"tool_use","id":"(${plain})","name":"Bash","input":\\{"command":"(${plain}(?:\\\\.${plain})*)"(?:,"description":"(${plain})")?\\}\\}\\]\\}$`,
  'y',
)
/** An expression has to remember every character that it may go back to. */
const longestMatched = 100_000

function contentOf(payload: string): unknown {
  const entry = parsed(payload)
  return isObject(entry) ? entry['content'] : undefined
}

function usesIn(blocks: unknown): Use[] {
  if (!Array.isArray(blocks)) return []
  return blocks.filter((block): block is Use & JsonObject => block?.type === 'tool_use' && isUse(block))
}

const isUse = (block: unknown): block is Use & JsonObject =>
  isObject(block) && typeof block['id'] === 'string' && typeof block['name'] === 'string' && isObject(block['input'])

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
