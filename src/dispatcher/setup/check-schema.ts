/** Checks a value against one of our schemas: the part of JSON Schema that they use, with messages that name the place. */
import { isObject } from '../session/paths.ts'
import type { Schema } from './schemas.ts'

/** A keyword that is not enforced here is a problem of its own: a schema must not promise what nobody checks. */
export function checkSchema(schema: Schema, value: unknown, place = ''): string[] {
  const at = place === '' ? 'it' : place
  const unknown = Object.keys(schema).find((key) => !keywords.has(key))
  if (unknown !== undefined) return [`the schema of ${at} uses ${unknown}, which is not supported`]
  if (schema.anyOf) {
    const tries = schema.anyOf.map((option) => checkSchema(option, value, place))
    if (!tries.some((found) => found.length === 0))
      return tries.find((found) => !found[0]?.startsWith(`${at} must be`)) ?? tries[0]!
  }
  if (schema.const !== undefined && value !== schema.const) return [`${at} must be ${JSON.stringify(schema.const)}`]
  if (schema.enum && !schema.enum.includes(value)) return [`${at} must be one of ${schema.enum.join(', ')}`]
  const types = schema.type === undefined ? [] : typeof schema.type === 'string' ? [schema.type] : schema.type
  if (types.length > 0 && !types.some((type) => isOfType(type, value))) return [`${at} must be ${types.join(' or ')}`]
  if (typeof value === 'string') return checkText(schema, value, at)
  if (typeof value === 'number')
    return schema.minimum !== undefined && value < schema.minimum ? [`${at} must be at least ${schema.minimum}`] : []
  if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) return [`${at} must hold at least ${schema.minItems}`]
    if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY))
      return [`${at} must hold at most ${schema.maxItems}`]
    return schema.items ? value.flatMap((item, index) => checkSchema(schema.items!, item, `${place}[${index}]`)) : []
  }
  return isObject(value) ? checkObject(schema, value, place, at) : []
}

const keywords = new Set(
  '$schema $id title description anyOf const enum type minimum minItems maxItems items pattern minLength maxLength required properties additionalProperties'.split(
    ' ',
  ),
)

function checkText(schema: Schema, value: string, at: string): string[] {
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
    return [`${at} must match ${schema.pattern}`]
  if (value.length < (schema.minLength ?? 0)) return [`${at} must not be empty`]
  if (value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY))
    return [`${at} must be at most ${schema.maxLength} characters`]
  return []
}

function checkObject(schema: Schema, value: Record<string, unknown>, place: string, at: string): string[] {
  const problems = (schema.required ?? []).filter((key) => value[key] === undefined).map((key) => `${at} lacks ${key}`)
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue
    const inner = place === '' ? key : `${place}.${key}`
    const known = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined
    if (known) problems.push(...checkSchema(known, item, inner))
    else if (schema.additionalProperties === false) problems.push(`${inner} is not known`)
    else if (typeof schema.additionalProperties === 'object')
      problems.push(...checkSchema(schema.additionalProperties, item, inner))
  }
  return problems
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'object') return isObject(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'null') return value === null
  return typeof value === type
}
