/** A step in the hands of a function: a copy to change, which counts when the function has succeeded and made sense. */

import { isObject, type JsonObject } from '../shape.ts'
import type { StepName, Steps } from '../steps.ts'
import { isTooDeep } from '../text/json-text.ts'

/** A copy that a function may change without the step noticing until it has succeeded. */
export function draftOf<S extends StepName>(name: S, step: Steps[S]): Steps[S] {
  const draft = { ...step } as Record<string, unknown>
  for (const field of Object.keys(writable[name])) draft[field] = copy(draft[field])
  return draft as unknown as Steps[S]
}

/** Takes over what was changed in a draft, facts left out; names the field that cannot be, and then takes nothing. */
export function takeDraft<S extends StepName>(name: S, step: Steps[S], draft: Steps[S]): string | undefined {
  const fields = Object.entries<(value: unknown) => boolean>(writable[name])
  const changed = draft as Record<string, unknown>
  const bad = fields.find(([field, fits]) => !fits(changed[field]))
  if (bad) return bad[0]
  for (const [field] of fields) (step as Record<string, unknown>)[field] = changed[field]
  return undefined
}

/** JSON, copied; its strings are shared. */
export function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T
  if (!isObject(value)) return value
  const out: JsonObject = {}
  for (const [key, each] of Object.entries(value)) {
    // an own __proto__ stays a plain key
    if (key === '__proto__')
      Object.defineProperty(out, key, { value: copy(each), enumerable: true, writable: true, configurable: true })
    else out[key] = copy(each)
  }
  return out as T
}

function isJson(value: unknown): boolean {
  try {
    const text: string | undefined = JSON.stringify(value)
    return text !== undefined && !isTooDeep(text)
  } catch {
    return false // it refers to itself, or holds what JSON has no word for
  }
}

const isString = (value: unknown) => typeof value === 'string'
const isBlock = (block: unknown) =>
  isObject(block) &&
  (block.type === 'text'
    ? isString(block.text)
    : block.type === 'image' && isString(block.data) && isString(block.mimeType))
const isBlocks = (value: unknown) => Array.isArray(value) && value.every(isBlock)
const isResult = (value: unknown) => isObject(value) && typeof value.isError === 'boolean' && isBody(value.body)
const isBody = (body: unknown) =>
  isObject(body) &&
  (body.kind === 'text'
    ? isString(body.text)
    : body.kind === 'json'
      ? isJson(body.value)
      : body.kind === 'content' && isBlocks(body.blocks))

type Fits = (value: unknown) => boolean
const context = { additionalContext: isBlocks }

/** The fields of each step that may be written, and what can stand there. The rest are facts. */
const writable: { readonly [S in StepName]: { readonly [F in keyof Steps[S]]?: Fits } } = {
  after_session_enter: context,
  after_turn_enter: context,
  before_ingest: { input: isBlocks },
  after_ingest: context,
  before_compact: {},
  after_compact: context,
  before_generate: { model: isString, assistantText: (text) => text === null || isString(text) },
  after_generate: {},
  before_permission: { resolved: (said) => said === null || typeof said === 'boolean' },
  after_permission: {},
  before_tool_apply: { args: isJson, result: (result) => result === null || isResult(result) },
  after_tool_apply: context,
  after_tool_batch: context,
  before_turn_end: { feedback: isBlocks },
}
