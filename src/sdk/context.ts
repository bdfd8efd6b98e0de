/** What a run knows beside its prompt: one object that instructions, tools, hooks and transforms all see, and none can change. */
import { type At, bothSpellings, keyIn, partsOf, readPath } from './output/key-spelling.ts'

/** By default any key may be there, with an unknown value. */
export type Variables = Record<string, unknown>

export class Context<T extends object = Variables> {
  /** The variables themselves, frozen; keys can be read in either spelling. */
  readonly data: Readonly<T>

  /** Plain data is copied; what is not plain (a Date, a connection) is shared. */
  constructor(variables: T) {
    this.data = bothSpellings(variables, { freeze: true })
    Object.freeze(this)
  }

  /** Reads a variable, or what lies deeper: `context.get('account.owner.name')`. */
  get<P extends string>(path: [At<T, P>] extends [never] ? never : P): At<T, P> {
    return readPath(this.data, path) as At<T, P>
  }

  /** Whether it is there; a variable that holds null or false is. */
  has(path: string): boolean {
    const parts = partsOf(path)
    const last = parts.pop()
    const holder = parts.length > 0 ? readPath(this.data, parts.join('.')) : this.data
    return last !== undefined && typeof holder === 'object' && holder !== null && keyIn(holder, last) !== undefined
  }

  /** A new context with the value at the path; a key that is there in another spelling keeps its own. */
  set<const P extends string, V>(path: P, value: V): Context<Changed<T, P, V>> {
    return new Context(changed(this.data, partsOf(path), value) as Changed<T, P, V> & object)
  }

  /** A new context with all of these variables. */
  merge<U extends object>(variables: U): Context<Omit<T, keyof U> & U> {
    let data: unknown = this.data
    for (const [key, value] of Object.entries(variables)) data = changed(data, [key], value)
    return new Context(data as Omit<T, keyof U> & U)
  }

  keys(): string[] {
    return Object.keys(this.data)
  }

  toJSON(): Readonly<T> {
    return this.data
  }
}

type Changed<T, P extends string, V> = P extends `${string}.${string}` ? T : Omit<T, P> & Record<P, V>

function changed(on: unknown, [part, ...rest]: readonly string[], value: unknown): unknown {
  if (part === undefined) return value
  const holder = typeof on === 'object' && on !== null ? on : {}
  const key = keyIn(holder, part) ?? part
  const next = changed((holder as Variables)[key], rest, value)
  if (Array.isArray(holder)) return holder.with(Number(key), next)
  return { ...holder, [key]: next }
}
