/** Schemas of any library that speaks Standard Schema: zod, valibot, arktype and others. */
import type { JsonSchema } from '../../hooks/shape.ts'

/** The contract of https://standardschema.dev, as far as we use it. */
export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): Validated<Output> | Promise<Validated<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    /** Libraries that can describe themselves do it here. */
    readonly jsonSchema?: { input(options: { target: 'draft-2020-12' }): Record<string, unknown> }
  }
}

export type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

export interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type InputOf<S> = S extends Schema<infer Input, unknown> ? Input : never
export type OutputOf<S> = S extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined }
}
  ? Output
  : never

/** What does not fit, in the words that a hook and the model are given. */
export interface Misfit {
  /** `prospects.0.score`; empty for the value itself. */
  readonly field: string
  readonly error: string
  /** Where the library says it. */
  readonly expectedType?: string
}

export type Fitted<T> = { ok: true; value: T } | { ok: false; misfits: readonly [Misfit, ...Misfit[]] }

/** A promise only where the schema itself is asynchronous. */
export function fit<T>(schema: Schema<unknown, T>, value: unknown): Fitted<T> | Promise<Fitted<T>> {
  const validated = schema['~standard'].validate(value)
  return validated instanceof Promise ? validated.then(fitted) : fitted(validated)
}

function fitted<T>(validated: Validated<T>): Fitted<T> {
  if (validated.issues === undefined) return { ok: true, value: validated.value }
  const [first = { message: 'does not fit' }, ...others] = validated.issues
  return { ok: false, misfits: [misfit(first), ...others.map(misfit)] }
}

function misfit(issue: Issue): Misfit {
  const parts = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
  const { expected } = issue as { expected?: unknown }
  return {
    field: parts.join('.'),
    error: issue.message,
    ...(typeof expected === 'string' && { expectedType: expected }),
  }
}

/** `score: must be a number; name: is missing` */
export const sayMisfits = (misfits: readonly Misfit[]): string =>
  misfits
    .slice(0, 20)
    .map(({ field, error }) => (field === '' ? error : `${field}: ${error}`))
    .join('; ')

/** The schema as the model sees it; undefined where the library cannot express it. */
export function jsonSchemaOf(schema: Schema): JsonSchema | undefined {
  const described = schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' })
  if (!described) return undefined
  const { $schema: _, ...shown } = described
  return shown
}

export const isSchema = (value: unknown): value is Schema =>
  ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
  typeof (value as Schema)['~standard']?.validate === 'function'
