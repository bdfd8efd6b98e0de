/** Result transforms: the fields of a result, each made from what the model gave. */
import { errorOf } from '../../hooks/kernel.ts'
import type { Context } from '../context.ts'
import type { Field, Fields, FieldType, TransformingAgent, TransformOptions } from './fields.ts'
import { bothSpellings, readPath } from './key-spelling.ts'

export interface FieldFailure {
  readonly field: string
  readonly value: unknown
  readonly error: string
  readonly expectedType?: string
}

export interface Reshaped {
  readonly result: Record<string, unknown>
  readonly failures: readonly FieldFailure[]
}

export interface TransformScope {
  readonly agent: TransformingAgent
  readonly context: Context<never>
  readonly methods: Readonly<Record<string, unknown>>
}

/** The model's answer as transforms see it: data where it is an object, else its words. */
const rawOf = (value: unknown, text: string): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : { text, data: value }

/**
 * Makes every field. One that fails keeps its default, is reported by name, and leaves the others alone. A path is
 * looked up in the answer itself, then in `{ text, data }`: the model's words, and the answer.
 */
export async function reshape(fields: Fields, value: unknown, text: string, scope: TransformScope): Promise<Reshaped> {
  const raw = bothSpellings(rawOf(value, text), { freeze: false })
  const failures: FieldFailure[] = []
  const read = (path: string) => readPath(raw, path) ?? readPath({ text, data: raw['data'] ?? raw }, path)
  const result = await reshapeAll({ fields, read, prefix: '', raw, scope, failures })
  return { result, failures }
}

interface Work {
  readonly fields: Fields
  readonly prefix: string
  readonly raw: Record<string, unknown>
  readonly scope: TransformScope
  readonly failures: FieldFailure[]
  read(path: string): unknown
}

async function reshapeAll(work: Work): Promise<Record<string, unknown>> {
  const result: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(work.fields)) result[name] = await reshapeField(name, field, work)
  return result
}

async function reshapeField(name: string, field: Field, work: Work): Promise<unknown> {
  const path = work.prefix + name
  let value: unknown
  try {
    value = await sourceOf(name, field, path, work)
    if (value === undefined || value === null) return defaultOf(field)
    const type = field.items ? 'array' : field.type
    if (type && !isOf[type](value)) throw new WrongType(type)
    const inner = await nested(value, field, `${path}.`, work)
    return field.transform ? await callable(field.transform, work)(inner, work.raw, optionsOf(path, work)) : inner
  } catch (cause) {
    const why = errorOf(cause).message
    const expected = cause instanceof WrongType && { expectedType: cause.type }
    work.failures.push({ field: path, value, error: `${path}: ${why}`, ...expected })
    return cause instanceof BadDefault ? undefined : safeDefault(field)
  }
}

class WrongType extends Error {
  readonly type: FieldType
  constructor(type: FieldType) {
    super(`must be of type ${type}`)
    this.type = type
  }
}
class BadDefault extends Error {}

const optionsOf = (field: string, { scope }: Work): TransformOptions<never> => ({
  field,
  context: scope.context,
  agent: scope.agent,
})

function sourceOf(name: string, field: Field, path: string, work: Work): unknown {
  if (field.computed) return callable(field.computed, work)(work.raw, optionsOf(path, work))
  if (field.fields && field.from === undefined) return work.raw
  return work.read(field.from ?? name)
}

function nested(value: unknown, { fields, items, from, computed }: Field, prefix: string, work: Work): unknown {
  const inside = (item: unknown) => (path: string) => readPath(item, path)
  if (items) {
    return Promise.all(
      (value as unknown[]).map((item, at) =>
        reshapeAll({ ...work, fields: items, prefix: `${prefix}${at}.`, read: inside(item) }),
      ),
    )
  }
  if (!fields) return value
  const read = from === undefined && !computed ? work.read : inside(value)
  return reshapeAll({ ...work, fields, prefix, read })
}

function defaultOf(field: Field): unknown {
  if (typeof field.default !== 'function') return field.default
  try {
    return field.default()
  } catch (cause) {
    throw new BadDefault(`its default failed: ${errorOf(cause).message}`)
  }
}

/** Of a field that has failed already; its default failing too adds nothing. */
function safeDefault(field: Field): unknown {
  try {
    return defaultOf(field)
  } catch {
    return undefined
  }
}

type Callable = (...args: unknown[]) => unknown

/** That a named method is there was checked when the agent was defined. */
const callable = (given: unknown, { scope: { methods } }: Work): Callable =>
  typeof given === 'string' ? (...args) => (methods[given] as Callable).apply(methods, args) : (given as Callable)

export const isOf: Record<FieldType, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) => typeof value === 'object' && !Array.isArray(value),
}
