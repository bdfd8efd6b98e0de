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
  if (!payload.startsWith(opening) || !payload.endsWith(']}')) return false
  const uuidEnd = payload.indexOf('"', opening.length)
  const begin = firstCall - blockOpening.length
  if (!payload.startsWith('","content":[', uuidEnd) || !payload.startsWith(blockOpening, begin)) return false
  return payload.indexOf(']', uuidEnd) > begin // otherwise the blocks may have ended before
}
const opening = '{"_t":"assistant","uuid":"'
const blockOpening = '{"type":'

/** One call of Bash and nothing after it, without a parser. Undefined: something is unusual, such as an escape outside the command. */
function commandAlone(payload: string, firstCall: number): (Use & JsonObject) | undefined {
  const idBegin = firstCall + idOpening.length
  if (!payload.startsWith(idOpening, firstCall)) return undefined
  const idEnd = payload.indexOf('"', idBegin)
  const begin = idEnd + commandOpening.length
  if (!payload.startsWith(commandOpening, idEnd)) return undefined
  const end = stringEnd(payload, begin)
  const id = payload.slice(idBegin, idEnd)
  const text = payload.slice(begin, end)
  const command = isPlain(text) ? text : parsed(`"${text}"`)
  if (typeof command !== 'string' || !isPlain(id)) return undefined
  if (payload.startsWith(descriptionOpening, end)) {
    const from = end + descriptionOpening.length
    const to = stringEnd(payload, from)
    const description = payload.slice(from, to)
    if (!isPlain(description) || !endsAt(payload, to)) return undefined
    return { type: 'tool_use', id, name: 'Bash', input: { command, description } }
  }
  return endsAt(payload, end) ? { type: 'tool_use', id, name: 'Bash', input: { command } } : undefined
}
const idOpening = '"tool_use","id":"'
const commandOpening = '","name":"Bash","input":{"command":"'
const descriptionOpening = '","description":"'
const ending = '"}}]}'
const endsAt = (payload: string, at: number): boolean =>
  at + ending.length === payload.length && payload.endsWith(ending)

/** Where the string ends that begins here: at a quote that is not escaped. */
function stringEnd(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end
    while (text.charCodeAt(escapes - 1) === backslash && escapes > begin) escapes--
    if ((end - escapes) % 2 === 0) return end
  }
  return text.length
}
const backslash = 92

/** What stands in JSON as it is. */
const isPlain = (text: string): boolean => !special.test(text)
const special = /[\u0000-\u001f\\"]/

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
