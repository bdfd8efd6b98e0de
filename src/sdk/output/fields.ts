/** The fields of a result as they are declared, and the types that come of them. */
import type { Context, Variables } from '../context.ts'
import type { At } from './key-spelling.ts'

/** The agent whose answer is reshaped. */
export interface TransformingAgent {
  readonly name: string
  readonly description: string
  readonly methods: Readonly<Record<string, unknown>>
}

/** What a transform gets after the value and the raw result. */
export interface TransformOptions<C extends object = Variables> {
  /** `contact.name` */
  readonly field: string
  readonly context: Context<C>
  readonly agent: TransformingAgent
}

// biome-ignore lint/suspicious/noExplicitAny: without a schema nobody knows what the model gives
type Anything = any

/** A method, so that a transform may declare a narrower type for its value. */
type Transform<Raw, C extends object, Value> = {
  call(value: Value, raw: Raw, options: TransformOptions<C>): unknown
}['call']

interface Source<Raw, C extends object, Method extends string, Value, From> {
  /** Where the value lies: `data.prospects`, `items[0].name`. Keys are found in either spelling. */
  readonly from?: (From & string) | '' // the empty one makes the compiler keep a path as it is written
  /** The value from the whole raw result instead of one place in it. A transform of it must say what it takes. */
  readonly computed?: Method | ((raw: Raw, options: TransformOptions<C>) => unknown)
  /** For a value that is missing (undefined or null), and for a field that fails. */
  readonly default?: unknown | (() => unknown)
  readonly type?: FieldType
  /** Skipped where the value is missing. May be async. */
  readonly transform?: Method | Transform<Raw, C, Value>
}

/** One field. Without `from`, the value of the same name; `computed` fields have no source of their own. */
export interface Field<
  Raw = Anything,
  C extends object = Variables,
  Method extends string = string,
  Value = Anything,
  From = string,
> extends Source<Raw, C, Method, Value, From> {
  /** The value becomes an object of these, read from it; without `from`, from the raw result. */
  readonly fields?: Fields<Raw, C, Method>
  /** The value is a list, and each item of it becomes an object of these. */
  readonly items?: Fields<Raw, C, Method>
}

export type FieldType = keyof TypeOf

export interface Fields<Raw = Anything, C extends object = Variables, Method extends string = string> {
  readonly [name: string]: Field<Raw, C, Method>
}

/**
 * Fields as `defineAgent` takes them: a transform's value has the type of what lies at `from`, in a field and in those
 * right inside it; deeper it is any. `From` and `Inner` hold the paths by name, inferred from what is written.
 */
export type DeclaredFields<Raw, C extends object, Method extends string, From, Inner> = KnownKeys & {
  readonly [K in keyof From]: Source<Raw, C, Method, ValueAt<Answer<Raw>, From[K], K>, From[K]>
} & {
  readonly [K in keyof Inner]: {
    readonly fields?: InnerFields<Raw, C, Method, FieldsIn<Answer<Raw>, Of<From, K>, K>, Inner[K]>
    readonly items?: InnerFields<Raw, C, Method, ItemsIn<Answer<Raw>, Of<From, K>, K>, Inner[K]>
  }
}

type InnerFields<Raw, C extends object, Method extends string, Where, From> = {
  readonly [K in keyof From]: Field<Raw, C, Method, ValueAt<Where, From[K], K>, From[K]>
}

/** So that a misspelt key does not compile. */
interface KnownKeys {
  readonly [name: string]: { readonly [K in keyof Source<never, never, never, never, never>]?: unknown } & {
    readonly fields?: KnownKeys
    readonly items?: KnownKeys
  }
}

/** The model's answer, where a path may lead into `{ text, data }` too. */
interface Answer<Raw> {
  readonly [answer]: Raw
}
declare const answer: unique symbol

/** What a path, or the field's own name, finds: unknown where the type has no such place. */
type ValueAt<Where, From, Name> = unknown extends Where
  ? Where
  : Where extends Answer<infer Raw>
    ? Found<At<Raw, PathOf<From, Name>>, Found<At<{ text: string; data: Raw }, PathOf<From, Name>>>>
    : Found<At<Where, PathOf<From, Name>>>

type PathOf<From, Name> = (unknown extends From ? Name : From) & string
type Found<T, Otherwise = unknown> = [T] extends [never] ? Otherwise : NonNullable<T>
type FieldsIn<Where, From, Name> = unknown extends From ? Where : ValueAt<Where, From, Name>
type ItemsIn<Where, From, Name> = ValueAt<Where, From, Name> extends readonly (infer Item)[] ? Item : unknown
type Of<T, K> = K extends keyof T ? T[K] : unknown

/** What becomes of declared fields. `M` are the agent's methods. */
export type Transformed<F, M, Raw> = Made<F, M, Answer<Raw>>

type Made<F, M, Where> = { -readonly [K in keyof F]: MadeField<F[K], M, Where, K> | DefaultOf<F[K]> }

type MadeField<D, M, Where, Name> = D extends { readonly transform: infer T }
  ? Returned<T, M>
  : D extends { readonly fields: infer Inner }
    ? Made<Inner, M, FieldsIn<Where, Of<D, 'from'>, Name>>
    : D extends { readonly items: infer Inner }
      ? Made<Inner, M, ItemsIn<Where, Of<D, 'from'>, Name>>[]
      : D extends { readonly computed: infer T }
        ? Returned<T, M>
        : D extends { readonly type: infer T extends FieldType }
          ? TypeOf[T]
          : ValueAt<Where, Of<D, 'from'>, Name>

type DefaultOf<D> = D extends { readonly default: infer V } ? (V extends () => infer R ? R : V) : undefined

type Returned<T, M> = (T extends keyof M ? M[T] : T) extends (...args: never) => infer R ? Awaited<R> : Anything

interface TypeOf {
  string: string
  number: number
  integer: number
  boolean: boolean
  array: Anything[]
  object: Record<string, Anything>
}
