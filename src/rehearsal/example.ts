/** A value that fits a JSON Schema: what the rehearsal model answers where an answer must have a form. */
import { isObject } from '../hooks/shape.ts'

export function example(schema: unknown, name = 'example'): unknown {
  if (!isObject(schema)) return name
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const choice = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray)
  if (choice && schema.type === undefined) return example(choice[0], name)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  // Gemini spells types in capitals.
  const make = kinds[String(type ?? (schema.properties ? 'object' : 'string')).toLowerCase()]
  return make ? make(schema, name) : name
}

const kinds: Record<string, (schema: Record<string, unknown>, name: string) => unknown> = {
  object({ properties, required }) {
    const fields = isObject(properties) ? properties : {}
    const names = Array.isArray(required) ? required.map(String) : Object.keys(fields)
    return Object.fromEntries(names.map((name) => [name, example(fields[name], name)]))
  },
  array: ({ items, minItems }, name) => Array.from({ length: Number(minItems ?? 0) }, () => example(items, name)),
  number: ({ minimum }) => Number(minimum ?? 0),
  integer: ({ minimum }) => Math.ceil(Number(minimum ?? 0)),
  boolean: () => false,
  null: () => null,
  string: ({ minLength }, name) => name.padEnd(Number(minLength ?? 0), '.'),
}
