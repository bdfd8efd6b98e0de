/** A step in the hands of a function: a copy to change, which counts when the function has succeeded and made sense. */

import { isObject, type JsonObject } from '../shape.ts'
import type { StepName, Steps } from '../steps.ts'
import { ignoring } from './apply.ts'
import { fieldsOf } from './table.ts'

/** A copy that a function may change without the step noticing until it has succeeded. */
export function draftOf<S extends StepName>(name: S, step: Steps[S]): Steps[S] {
  const draft = { ...step } as Record<string, unknown>
  for (const [field] of writable(name)) draft[field] = copy(draft[field])
  return draft as unknown as Steps[S]
}

/** Takes over what was changed in a draft, facts left out. A bad field spoils it all; a lenient one is ignored. */
export function takeDraft<S extends StepName>(
  name: S,
  step: Steps[S],
  draft: Steps[S],
): { readonly bad?: string; readonly warning?: string } {
  const changed = draft as Record<string, unknown>
  const wrong = writable(name).filter(([field, { fits }]) => !fits!(changed[field]))
  const bad = wrong.find(([, { lenient }]) => !lenient)
  if (bad) return { bad: bad[0] }
  const ignored = wrong.map(([field]) => field)
  for (const [field] of writable(name))
    if (!ignored.includes(field)) (step as Record<string, unknown>)[field] = changed[field]
  return ignored.length > 0 ? { warning: ignored.map((field) => ignoring(`step.${field}`)).join('; ') } : {}
}

const writable = (name: StepName) => fieldsOf(name).filter(([, { fits }]) => fits !== undefined)

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
