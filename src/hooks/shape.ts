/**
 * Shapes: one description of a piece of JSON gives its TypeScript type, its check and its JSON Schema.
 *
 * They stand at every door of the product (hooks, tools, settings) and cost nothing at start.
 */

import { nearest } from './text/nearest.ts'

export interface Shape<T> {
  /** The problem with a value, or undefined when it fits. */
  check(value: unknown, path: string): Problem | undefined
  /** Built on demand: most runs only check. */
  schema(): JsonSchema
  /** In a record: the key may be missing. */
  readonly optional?: true
  /** Never there; carries the type. */
  readonly type?: T
}

/** Where a value does not fit, and why, in words: `{ path: 'edits[2].old_string', why: 'must be a string' }`. */
export interface Problem {
  readonly path: string
  readonly why: string
}

export type JsonSchema = { readonly [key: string]: unknown }
export type Infer<S> = S extends Shape<infer T> ? T : never
export type JsonObject = { [key: string]: unknown }

export type Parsed<T> = { ok: true; value: T } | { ok: false; problem: Problem }

export function parse<T>(shape: Shape<T>, value: unknown): Parsed<T> {
  const problem = shape.check(value, '')
  return problem ? { ok: false, problem } : { ok: true, value: value as T }
}

/** `tool_input.path must be a string`, or `must be an object` for the value itself. */
export const say = ({ path, why }: Problem): string => (path === '' ? why : `${path} ${why}`)

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const string = (about?: string): Shape<string> => plain('string', 'a string', about)
export const boolean = (about?: string): Shape<boolean> => plain('boolean', 'true or false', about)
/** Anything that JSON can hold. */
export const json = (about?: string): Shape<unknown> => ({
  check: () => undefined,
  schema: () => described({}, about),
})

export interface Range {
  readonly min?: number
  readonly max?: number
}

export const number = (about?: string, range: Range = {}): Shape<number> => numeric('number', 'a number', about, range)
export const integer = (about?: string, range: Range = {}): Shape<number> =>
  numeric('integer', 'a whole number', about, range)

export function oneOf<const T extends string>(values: readonly T[], about?: string): Shape<T> {
  return {
    check: (value, path) =>
      values.includes(value as T)
        ? undefined
        : { path, why: `must be one of ${values.join(', ')}${other(value, values)}` },
    schema: () => described({ type: 'string', enum: values }, about),
  }
}

export function literal<const T extends string | number | boolean>(expected: T): Shape<T> {
  return {
    check: (value, path) => (value === expected ? undefined : { path, why: `must be ${JSON.stringify(expected)}` }),
    schema: () => ({ const: expected }),
  }
}

export function list<T>(item: Shape<T>, about?: string, { min = 0 }: { min?: number } = {}): Shape<T[]> {
  return {
    check(value, path) {
      if (!Array.isArray(value)) return { path, why: `must be a list${got(value)}` }
      if (value.length < min) return { path, why: `must have at least ${min} ${min === 1 ? 'entry' : 'entries'}` }
      for (const [index, each] of value.entries()) {
        const problem = item.check(each, `${path}[${index}]`)
        if (problem) return problem
      }
      return undefined
    },
    schema: () => described({ type: 'array', items: item.schema(), ...(min > 0 && { minItems: min }) }, about),
  }
}

/** An object whose keys are not known beforehand. */
export function map<T>(item: Shape<T>, about?: string): Shape<Record<string, T>> {
  return {
    check(value, path) {
      if (!isObject(value)) return { path, why: `must be an object${got(value)}` }
      for (const [key, each] of Object.entries(value)) {
        const problem = item.check(each, join(path, key))
        if (problem) return problem
      }
      return undefined
    },
    schema: () => described({ type: 'object', additionalProperties: item.schema() }, about),
  }
}

export type Optional<T> = Shape<T> & { readonly optional: true }
export const optional = <T>(shape: Shape<T>): Optional<T> => ({
  check: shape.check,
  schema: shape.schema,
  optional: true,
})

export const nullable = <T>(shape: Shape<T>): Shape<T | null> => ({
  check: (value, path) => (value === null ? undefined : shape.check(value, path)),
  schema: () => ({ anyOf: [shape.schema(), { type: 'null' }] }),
})

type Fields = Record<string, Shape<unknown>>
type OptionalKeys<F extends Fields> = { [K in keyof F]: F[K] extends { optional: true } ? K : never }[keyof F]
export type Fielded<F extends Fields> = { [K in Exclude<keyof F, OptionalKeys<F>>]: Infer<F[K]> } & {
  [K in OptionalKeys<F>]?: Infer<F[K]>
}

/** An object with known keys. Unknown keys are kept unless `closed`: the outside world adds keys over time. */
export function record<F extends Fields>(
  fields: F,
  about?: string,
  { closed = false }: { closed?: boolean } = {},
): Shape<Fielded<F>> & { readonly fields: F } {
  const required = Object.keys(fields).filter((key) => !fields[key]!.optional)
  return {
    fields,
    check(value, path) {
      if (!isObject(value)) return { path, why: `must be an object${got(value)}` }
      for (const key of required) {
        if (!Object.hasOwn(value, key)) return { path: join(path, key), why: 'is missing' }
      }
      for (const [key, each] of Object.entries(value)) {
        const field = Object.hasOwn(fields, key) ? fields[key]! : undefined
        if (!field && closed) return { path: join(path, key), why: `is not known here; known: ${Object.keys(fields)}` }
        if (!field || (each === undefined && field.optional)) continue
        const problem = field.check(each, join(path, key))
        if (problem) return problem
      }
      return undefined
    },
    schema: () =>
      described(
        {
          type: 'object',
          properties: Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.schema()])),
          ...(required.length > 0 && { required }),
          ...(closed && { additionalProperties: false }),
        },
        about,
      ),
  }
}

/** The first that fits; otherwise the problem of the one that got furthest. */
export function either<S extends readonly Shape<unknown>[]>(...shapes: S): Shape<Infer<S[number]>> {
  return {
    check(value, path) {
      let deepest: Problem | undefined
      for (const shape of shapes) {
        const problem = shape.check(value, path)
        if (!problem) return undefined
        if (!deepest || problem.path.length > deepest.path.length) deepest = problem
      }
      return deepest
    },
    schema: () => ({ anyOf: shapes.map((shape) => shape.schema()) }),
  }
}

function plain<T>(type: 'string' | 'boolean', word: string, about: string | undefined): Shape<T> {
  return {
    check: (value, path) => (typeof value === type ? undefined : { path, why: `must be ${word}${got(value)}` }),
    schema: () => described({ type }, about),
  }
}

function numeric(type: string, word: string, about: string | undefined, { min, max }: Range): Shape<number> {
  return {
    check(value, path) {
      if (typeof value !== 'number' || !Number.isFinite(value)) return { path, why: `must be ${word}${got(value)}` }
      if (type === 'integer' && !Number.isSafeInteger(value)) return { path, why: `must be ${word}, not ${value}` }
      if (min !== undefined && value < min) return { path, why: `must be at least ${min}, not ${value}` }
      if (max !== undefined && value > max) return { path, why: `must be at most ${max}, not ${value}` }
      return undefined
    },
    schema: () =>
      described(
        { type, ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) },
        about,
      ),
  }
}

const described = (schema: JsonSchema, about: string | undefined): JsonSchema =>
  about ? { ...schema, description: about } : schema
const join = (path: string, key: string) => (path === '' ? key : `${path}.${key}`)

/** What was probably meant by a string, or the kind of what came; never the value: it may be a secret. */
function other(value: unknown, values: readonly string[]): string {
  if (typeof value !== 'string') return got(value)
  const meant = nearest(value, values)
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}

/** Says the kind of what came, never the value: it may be a secret. */
const got = (value: unknown): string =>
  `, not ${value === null ? 'null' : Array.isArray(value) ? 'a list' : value === undefined ? 'nothing' : typeof value === 'object' ? 'an object' : `a ${typeof value}`}`
