/** The words of a transcript entry: what search reads, and what a result shows of it. */
import { isObject } from '../../../hooks/shape.ts'
import { parsed } from '../side-events.ts'

/** More of one entry is not searched: a long output would fill the index with what nobody looks for. */
const mostChars = 4000

/** Prompts, replies, the input of calls and the beginning of their output. */
export function entryText(payload: string): string {
  const entry = parsed(payload)
  const parts: string[] = []
  let room = mostChars
  const add = (value: unknown, depth = 0): void => {
    if (room <= 0 || depth > 6) return
    if (typeof value === 'string') {
      parts.push(value.slice(0, room))
      room -= value.length + 1
    } else if (Array.isArray(value)) for (const each of value) add(each, depth + 1)
    else if (isObject(value)) for (const each of Object.values(value)) add(each, depth + 1)
  }
  const { content } = entry
  for (const block of Array.isArray(content) ? content : [content])
    if (!isObject(block)) add(block)
    else if (block['type'] === 'tool_use') add([block['name'], block['input']])
    else add(block['text'])
  if (entry['_t'] === 'tool_use') add([entry['name'], entry['input']])
  return parts.join('\n')
}
