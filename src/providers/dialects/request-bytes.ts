/** The parts of a request as bytes: what never changes is written down once in its life. */
import type { JsonObject } from '../../hooks/shape.ts'
import type { ToolDefinition } from '../model.ts'

/** `write` runs once per object, for as long as the object is alive. */
export function bytesOnce<T extends object>(write: (value: T) => string): (value: T) => Buffer {
  const known = new WeakMap<T, Buffer>()
  return (value) => {
    let bytes = known.get(value)
    if (bytes === undefined) {
      bytes = Buffer.from(write(value))
      known.set(value, bytes)
    }
    return bytes
  }
}

/** The `tools` field; empty where there are none. */
export const toolsField = (inDialect: (tool: ToolDefinition) => JsonObject) =>
  bytesOnce((tools: readonly ToolDefinition[]) =>
    tools.length === 0 ? '' : `,"tools":${JSON.stringify(tools.map(inDialect))}`,
  )

/**
 * JSON in parts. What every later request says again is kept as bytes: with one letter beyond ASCII in a long conversation,
 * to turn its text into bytes takes longer than all else between two turns.
 */
export const bytesOf = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))

/** A list's items, without those that are empty. */
export const commaed = (items: readonly Buffer[]): Buffer[] =>
  items.filter(({ length }) => length > 0).flatMap((item, at) => (at === 0 ? [item] : [comma, item]))

const comma = Buffer.from(',')
