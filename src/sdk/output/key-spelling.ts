/** Data from outside, found however its keys are spelt: what JSON calls `raw_result` is `rawResult` in code, and both are there. */

/**
 * A copy of plain data in which every key can be read in its other spelling too. The other spellings are hidden: they
 * are not listed, spread or written to JSON. What is not plain (a Date, a connection) is kept as it is.
 */
export function bothSpellings<T>(value: T, { freeze }: { freeze: boolean }): T {
  return copy(value, freeze, new Map()) as T
}

function copy(value: unknown, freeze: boolean, seen: Map<object, object>): unknown {
  if (!isPlain(value)) return value
  const known = seen.get(value)
  if (known) return known
  const made: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {}
  seen.set(value, made)
  for (const [key, each] of Object.entries(value))
    define(made, key, { value: copy(each, freeze, seen), writable: true })
  if (!Array.isArray(value)) addSpellings(made)
  return freeze ? Object.freeze(made) : made
}

/** Defines, never assigns: a key such as `__proto__` is data and nothing else. */
const define = (on: object, key: string, how: PropertyDescriptor) =>
  Object.defineProperty(on, key, { enumerable: true, configurable: true, ...how })

/** Adds the hidden spellings to an object. One that is there already, or that every object has (`toString`), is left alone. */
export function addSpellings(on: object): void {
  for (const key of Object.keys(on)) {
    const other = otherSpelling(key)
    if (other === key || other in on) continue
    define(on, other, { enumerable: false, get: () => (on as Record<string, unknown>)[key] })
  }
}

/** `raw_result` and `raw-result` give `rawResult`; `rawResult` gives `raw_result`. */
export function otherSpelling(key: string): string {
  const camel = key.replace(/(?<=[a-z0-9])[_-]+([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase())
  return camel !== key ? camel : key.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The parts of `accounts[0].owner_name`. */
export const partsOf = (path: string): string[] => path.split(/[.[\]]+/).filter((part) => part !== '')

/** The value at a path, undefined where there is none. Only what the data itself holds is found. */
export function readPath(value: unknown, path: string): unknown {
  let found = value
  for (const part of partsOf(path)) {
    if (typeof found !== 'object' || found === null) return undefined
    const key = keyIn(found, part)
    if (key === undefined) return undefined
    found = (found as Record<string, unknown>)[key]
  }
  return found
}

/** The key as the object itself spells it. */
export function keyIn(object: object, key: string): string | undefined {
  if (Object.prototype.propertyIsEnumerable.call(object, key)) return key
  const folded = fold(key)
  return Object.keys(object).find((each) => fold(each) === folded)
}

const fold = (key: string) => key.replaceAll(/[_-]/g, '').toLowerCase()

type Camel<S> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail> & string>}` : S
type ByCamel<T> = { [K in keyof T as Camel<K & string>]: T[K] }

/** The type at a key, in either spelling; never where the type has no such key. */
type Step<T, K extends string> = T extends readonly (infer Item)[]
  ? K extends `${number}`
    ? Item | undefined
    : never
  : K extends keyof T
    ? T[K]
    : Camel<K> extends keyof ByCamel<T>
      ? ByCamel<T>[Camel<K> & keyof ByCamel<T>]
      : never

/** The type at a path such as `account.owners[0].name`; never where there is no such place. */
export type At<T, P extends string> = unknown extends T
  ? T
  : P extends `${infer Head}[${infer At0}]${infer Tail}`
    ? At<T, `${Head}.${At0}${Tail}`>
    : P extends `${infer Head}.${infer Tail}`
      ? At<NonNullable<Step<T, Head>>, Tail> | (Step<T, Head> extends NonNullable<Step<T, Head>> ? never : undefined)
      : Step<T, P>
