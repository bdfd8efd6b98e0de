/** What can be known of a model. */
import type { Effort } from './models.ts'

export interface ModelSpec {
  /** For people: `Claude Opus 5.5`. */
  readonly name?: string
  /** Tokens. */
  readonly contextWindow: number
  /** Tokens of one reply. */
  readonly maxOutput: number
  /** Undefined: unknown. */
  readonly price?: Price
  readonly thinking: Thinking
  /** The effort levels that the model takes, lowest first. */
  readonly efforts: readonly Effort[]
}

/** `adaptive`: the model decides how much. `budget`: the request says how many tokens. */
export type Thinking = 'adaptive' | 'budget' | 'none'

/** US dollars per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** A second price, for requests that read more tokens than this. */
  readonly above?: { readonly tokens: number; readonly price: Omit<Price, 'above'> }
}

/** By wire name. */
export type Prices = Readonly<Record<string, Price>>

/** What some source says about a model; the rest is left to the next source. */
export type PartialSpec = Partial<ModelSpec>

/** A model as its server lists it. */
export interface ListedModel extends PartialSpec {
  readonly id: string
  /** RFC 3339. */
  readonly createdAt?: string
  readonly retired?: true
}
