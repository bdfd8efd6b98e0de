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
  return usesIn(callsAlone(payload, at) ?? contentOf(payload))
}

/** The call of an entry that is one. */
export function useOfCall(payload: string): readonly Use[] {
  const entry = parsed(payload)
  return isUse(entry) ? [entry] : []
}

/**
 * The blocks from the first call on, without reading what the model said before it. Undefined where the text is not of the
 * shape that we write: then all of it has to be read. A quote inside a string is escaped, so what begins with `{"type"` is
 * an object; one that lies deeper than the blocks leaves a bracket over, and is no JSON.
 */
function callsAlone(payload: string, firstCall: number): unknown {
  if (!payload.startsWith(opening) || !payload.endsWith(']}')) return undefined
  const uuidEnd = payload.indexOf('"', opening.length)
  const begin = firstCall - blockOpening.length
  if (!payload.startsWith('","content":[', uuidEnd) || !payload.startsWith(blockOpening, begin)) return undefined
  if (payload.slice(uuidEnd, begin).includes(']')) return undefined // the blocks may have ended before
  return parsed(`[${payload.slice(begin, -1)}`)
}
const opening = '{"_t":"assistant","uuid":"'
const blockOpening = '{"type":'

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
