/** The steps on the wire: what a handler is shown of a step, and what its verdict does to it (spec 004). */

import { isObject, type JsonObject, type Parsed, parse } from '../shape.ts'
import type { Control, Safety, StepName, Steps, StopReason } from '../steps.ts'
import { textBlock } from './blocks.ts'
import { envelopeShape, Fault, fieldsOf, stepRow, steps, stopReasons } from './table.ts'

/** Why a verdict was not applied. Nothing of it was: all or nothing. */
export type VerdictError =
  | { readonly kind: 'unknown_control'; readonly value: string }
  | { readonly kind: 'malformed'; readonly field: string; readonly reason?: 'not_a_list' | 'entry_not_string' }

export type Applied =
  | { readonly ok: true; readonly control: Control; readonly warning?: string }
  | { readonly ok: false; readonly error: VerdictError }

export const proceed: Control = { kind: 'proceed' }

/** What is shown of a step, without the header. */
export function toEnvelope<S extends StepName>(name: S, step: Steps[S]): JsonObject {
  const shown: JsonObject = {}
  for (const [key, { wire, show }] of fieldsOf(name)) {
    if (wire === undefined) continue
    const value = step[key as keyof Steps[S]]
    shown[wire] = show ? show(value) : value
  }
  for (const [wire, { show }] of Object.entries(stepRow(name).derived ?? {})) shown[wire] = show(step as never)
  return shown
}

/** A step as its envelope shows it; what an envelope does not show is empty. */
export function readEnvelope<S extends StepName>(name: S, value: unknown): Parsed<Steps[S]> {
  const parsed = parse(envelopeShape(name), value)
  if (!parsed.ok) return parsed
  const shown = parsed.value as JsonObject
  const fields = fieldsOf(name).map(([key, { wire, read, empty }]) => [
    key,
    wire === undefined ? empty?.() : read ? read(shown[wire] as never) : shown[wire],
  ])
  return { ok: true, value: Object.fromEntries(fields) as Steps[S] }
}

/** The name of the tool that a step is about, and its safety class, for matchers. */
export function toolOf<S extends StepName>(name: S, step: Steps[S]): string | undefined {
  const { tool } = steps[name]
  return tool === undefined ? undefined : String(step[tool])
}
export const safetyOf = (step: Steps[StepName]): Safety | undefined => ('safety' in step ? step.safety : undefined)

/** Whether a failing handler blocks here. */
export const isGate = (name: StepName): boolean => steps[name].isGate === true

/** Applies a verdict to the step, wholly or not at all. A verdict that is no object says nothing. */
export function applyVerdict<S extends StepName>(name: S, step: Steps[S], verdict: unknown): Applied {
  if (!isObject(verdict)) return { ok: true, control: proceed }
  const row = stepRow(name)
  const control = readControl(verdict, row.veto ?? endTurn)
  if ('error' in control) return { ok: false, error: control.error }
  // only what the verdict itself holds: never a name that its prototype has
  const own = (key: string) => (Object.hasOwn(verdict, key) ? verdict[key] : undefined)
  const next = { ...step }
  const warnings: string[] = []
  for (const [key, { change }] of Object.entries(row.verdict)) {
    const value = own(key)
    if (value === undefined || !change) continue
    const changed = change(value, next as never, own)
    if (!(changed instanceof Fault)) Object.assign(next, changed)
    else if (changed.isIgnored) warnings.push(ignoring(key))
    else
      return { ok: false, error: { kind: 'malformed', field: key, ...(changed.reason && { reason: changed.reason }) } }
  }
  Object.assign(step, next)
  const placed = judged(name, control)
  const warning = [...warnings, placed.warning ?? ''].filter((text) => text !== '').join('; ')
  return warning === '' ? placed : { ...placed, warning }
}

export const ignoring = (field: string): string => `${field} has the wrong type; ignored`

/** What a verdict says on control, whatever else is wrong with it. */
export function controlIn(name: StepName, verdict: unknown): Control {
  if (!isObject(verdict)) return proceed
  const control = readControl(verdict, stepRow(name).veto ?? endTurn)
  return 'error' in control ? proceed : judged(name, control).control
}

/** A control that has no meaning at this step counts as proceed, with a warning. */
export function judged(name: StepName, control: Control): Applied & { ok: true } {
  const place = placeOf[control.kind]
  if (!place || place === name) return { ok: true, control }
  return { ok: true, control: proceed, warning: `"${control.kind}" means nothing at ${name}, only at ${place}` }
}

/**
 * Several verdicts on one step: each sees what the ones before it changed, and the first control other than proceed
 * ends it. `onError` says what a bad verdict means: a control to end with, or undefined to pass over it.
 */
export function runStepPipeline<S extends StepName>(
  name: S,
  step: Steps[S],
  verdicts: Iterable<unknown>,
  onError: (error: VerdictError) => Control | undefined,
): Control {
  for (const verdict of verdicts) {
    const applied = applyVerdict(name, step, verdict)
    const control = applied.ok ? applied.control : onError(applied.error)
    if (control && (control.kind !== 'proceed' || !applied.ok)) return control
  }
  return proceed
}

export function sayVerdictError(error: VerdictError): string {
  if (error.kind === 'unknown_control') {
    return `control is ${error.value}; it must be one of proceed, break, continue, skip, veto`
  }
  if (error.field === 'result')
    return 'result must be {"kind":"text","text":…}, {"kind":"json","value":…} or {"kind":"content","blocks":[…]}'
  return error.reason === 'entry_not_string'
    ? `${error.field} must hold strings only`
    : `${error.field} must be a list of strings`
}

/** Puts text for the model on the step, where it has a place for it. */
export function addContext(step: Steps[StepName], texts: readonly string[]): boolean {
  const place = 'feedback' in step ? step.feedback : 'additionalContext' in step ? step.additionalContext : undefined
  if (!place) return false
  place.push(...texts.map(textBlock))
  return true
}

const endTurn: Control = { kind: 'break', reason: 'end_turn' }
const placeOf: Partial<Record<Control['kind'], StepName>> = { continue: 'before_turn_end', skip: 'before_compact' }

function readControl(verdict: JsonObject, veto: Control): Control | { error: VerdictError } {
  const word = Object.hasOwn(verdict, 'control') ? verdict.control : null
  if (word === null || word === undefined || word === 'proceed') return proceed
  if (word === 'continue' || word === 'skip') return { kind: word }
  if (word === 'veto') return veto
  if (word === 'break') {
    const reason = verdict.stop_reason as StopReason
    return { kind: 'break', reason: (stopReasons as readonly string[]).includes(reason) ? reason : 'end_turn' }
  }
  return { error: { kind: 'unknown_control', value: typeof word === 'string' ? word : JSON.stringify(word) } }
}
