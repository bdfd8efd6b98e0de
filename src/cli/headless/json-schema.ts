/** Checks a value against the part of JSON Schema that answers are described with. */

import { isObject } from '../../hooks/shape.ts'
import { readJson } from '../../hooks/text/json-text.ts'

/** Why the schema itself cannot be used, or undefined. */
export function schemaFault(text: string): string | undefined {
  const read = readJson(text)
  return read.ok ? faultIn(read.value, '') : read.why
}

/** Where a keyword has a value that it cannot have, or is one that nothing here would check. */
function faultIn(schema: unknown, path: string): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return `${path || 'it'} must be an object`
  for (const [keyword, rule] of Object.entries(schema)) {
    const here = below(path, keyword)
    if (annotations.has(keyword) || keyword.startsWith('x-')) continue
    if (!Object.hasOwn(keywords, keyword)) return `${here} is a keyword that is not supported`
    if (!takes[keyword]!(rule)) return `${here} has a wrong value`
    const inner: [string, unknown][] =
      keyword === 'properties'
        ? Object.entries(rule as object)
        : keyword === 'items' || keyword === 'additionalProperties'
          ? [['', rule]]
          : ['anyOf', 'oneOf', 'allOf'].includes(keyword)
            ? Object.entries(rule as object)
            : []
    for (const [key, each] of inner) {
      const why = faultIn(each, key ? below(here, key) : here)
      if (why) return why
    }
  }
  return undefined
}

const annotations = new Set(['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples', 'format'])

const isRegExp = (rule: unknown): boolean => {
  try {
    return typeof rule === 'string' && new RegExp(rule, 'u') !== undefined
  } catch {
    return false // not a regular expression: that is the answer
  }
}
const isNumber = (rule: unknown) => typeof rule === 'number'
const isCount = (rule: unknown) => Number.isInteger(rule) && (rule as number) >= 0
const isSchema = (rule: unknown) => typeof rule === 'boolean' || isObject(rule)
const isList = (rule: unknown) => Array.isArray(rule) && rule.length > 0
const isTypeName = (rule: unknown) => typeof rule === 'string' && Object.hasOwn(isType, rule)

/** What each keyword may be set to. */
const takes: Record<string, (rule: unknown) => boolean> = {
  type: (rule) => isTypeName(rule) || (isList(rule) && (rule as unknown[]).every(isTypeName)),
  enum: isList,
  const: () => true,
  required: (rule) => Array.isArray(rule) && rule.every((key) => typeof key === 'string'),
  properties: isObject,
  additionalProperties: isSchema,
  items: isSchema,
  minimum: isNumber,
  maximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  pattern: isRegExp,
  anyOf: isList,
  oneOf: isList,
  allOf: isList,
}

/** Where the value does not fit, in words, or undefined when it does. */
export function schemaProblem(schema: unknown, value: unknown, path = ''): string | undefined {
  if (schema === true || !isObject(schema)) return schema === false ? `${at(path)} is not allowed` : undefined
  for (const [keyword, rule] of Object.entries(schema)) {
    const why = Object.hasOwn(keywords, keyword) ? keywords[keyword]!(rule, value, path, schema) : undefined
    if (why) return why
  }
  return undefined
}

type Keyword = (rule: unknown, value: unknown, path: string, schema: Record<string, unknown>) => string | undefined

const at = (path: string) => path || 'the value'
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const below = (path: string, key: string) => (path ? `${path}.${key}` : key)
const anyFits = (rules: unknown, value: unknown, path: string) =>
  (rules as unknown[]).map((rule) => schemaProblem(rule, value, path))

const isType: Record<string, (value: unknown) => boolean> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
}

const bound =
  (
    fits: (value: number, rule: number) => boolean,
    of: (value: unknown) => number | undefined,
    words: string,
  ): Keyword =>
  (rule, value, path) => {
    const size = of(value)
    return size === undefined || fits(size, rule as number) ? undefined : `${at(path)} ${words} ${rule}`
  }
const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined)
const textLength = (value: unknown) => (typeof value === 'string' ? [...value].length : undefined)
const listLength = (value: unknown) => (Array.isArray(value) ? value.length : undefined)
const least = (value: number, rule: number) => value >= rule
const most = (value: number, rule: number) => value <= rule

const keywords: Record<string, Keyword> = {
  type: (rule, value, path) =>
    (Array.isArray(rule) ? rule : [rule]).some((name) => isType[name as string]?.(value))
      ? undefined
      : `${at(path)} must be of type ${rule}`,
  enum: (rule, value, path) =>
    (rule as unknown[]).some((each) => same(each, value))
      ? undefined
      : `${at(path)} must be one of ${JSON.stringify(rule)}`,
  const: (rule, value, path) => (same(rule, value) ? undefined : `${at(path)} must be ${JSON.stringify(rule)}`),
  required: (rule, value, path) => {
    const missing = isObject(value) ? (rule as string[]).find((key) => !Object.hasOwn(value, key)) : undefined
    return missing === undefined ? undefined : `${below(path, missing)} is missing`
  },
  properties: (rule, value, path) => {
    if (!isObject(value)) return undefined
    for (const [key, each] of Object.entries(rule as object)) {
      const why = Object.hasOwn(value, key) ? schemaProblem(each, value[key], below(path, key)) : undefined
      if (why) return why
    }
    return undefined
  },
  additionalProperties: (rule, value, path, schema) => {
    if (!isObject(value)) return undefined
    const known = isObject(schema['properties']) ? schema['properties'] : {}
    for (const [key, each] of Object.entries(value)) {
      const why = Object.hasOwn(known, key) ? undefined : schemaProblem(rule, each, below(path, key))
      if (why) return why
    }
    return undefined
  },
  items: (rule, value, path) =>
    Array.isArray(value)
      ? value.map((each, index) => schemaProblem(rule, each, `${path}[${index}]`)).find((why) => why !== undefined)
      : undefined,
  minimum: bound(least, numberOf, 'must be at least'),
  maximum: bound(most, numberOf, 'must be at most'),
  minLength: bound(least, textLength, 'must have a length of at least'),
  maxLength: bound(most, textLength, 'must have a length of at most'),
  minItems: bound(least, listLength, 'must have a number of items of at least'),
  maxItems: bound(most, listLength, 'must have a number of items of at most'),
  pattern: (rule, value, path) =>
    typeof value !== 'string' || new RegExp(rule as string, 'u').test(value)
      ? undefined
      : `${at(path)} must match ${rule}`,
  anyOf: (rule, value, path) => {
    const whys = anyFits(rule, value, path)
    return whys.includes(undefined) ? undefined : whys[0]
  },
  oneOf: (rule, value, path) =>
    anyFits(rule, value, path).filter((why) => why === undefined).length === 1
      ? undefined
      : `${at(path)} must fit exactly one of the forms`,
  allOf: (rule, value, path) => anyFits(rule, value, path).find((why) => why !== undefined),
}
