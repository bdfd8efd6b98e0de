/** Whether what a module returned is an action. All of it is taken, or nothing. */
import { errorOf } from '../hooks/kernel.ts'
import { isObject } from './session/paths.ts'
import type { HookAction, Json } from './types.ts'

const text = (value: unknown) => typeof value === 'string'
const listOf = (fits: (item: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(fits)
const reason = (value: unknown) => isObject(value) && text(value['reason'])

const fields: Record<keyof HookAction, { fits: (value: unknown) => boolean; must: string }> = {
  decision: { fits: (value) => value === 'allow' || value === 'ask' || value === 'deny', must: 'allow, ask or deny' },
  denyReason: { fits: text, must: 'a string' },
  inputMetadata: { fits: isObject, must: 'an object' },
  updatedInput: { fits: isObject, must: 'an object' },
  additionalContext: {
    fits: listOf((item) => isObject(item) && text(item['key']) && text(item['value'])),
    must: 'a list of {key, value}',
  },
  statePatch: { fits: isObject, must: 'an object' },
  emitEvents: { fits: listOf((item) => isObject(item) && text(item['kind'])), must: 'a list of events with a kind' },
  registerArtifacts: {
    fits: listOf((item) => isObject(item) && text(item['kind']) && text(item['ref'])),
    must: 'a list of artifacts with kind and ref',
  },
  warnings: { fits: listOf(text), must: 'a list of strings' },
  metrics: { fits: isObject, must: 'an object' },
  block: { fits: reason, must: 'an object with a reason' },
  stop: { fits: reason, must: 'an object with a reason' },
}

/** Copied as JSON, here and now: what JSON cannot say fails the module, and what it changes later is not ours. */
const copied: ReadonlySet<string> = new Set(['inputMetadata', 'updatedInput', 'statePatch', 'registerArtifacts'])

/** Undefined and null mean "nothing to say". Throws, like the module itself might, when it is no action. */
export function readAction(returned: unknown): HookAction {
  if (returned === undefined || returned === null) return {}
  if (!isObject(returned)) throw new Error('returned something that is not an action')
  try {
    return readFields(returned)
  } catch (cause) {
    const refusal = refusalIn(returned)
    throw refusal ? new BadAction(errorOf(cause).message, refusal) : cause
  }
}

/** An action that cannot be used, but for the refusal in it: a bad field never turns a no into a yes. */
export class BadAction extends Error {
  readonly refusal: HookAction
  constructor(message: string, refusal: HookAction) {
    super(message)
    this.refusal = refusal
  }
}

function refusalIn(returned: Json): HookAction | undefined {
  try {
    const { decision, denyReason, block, stop } = returned
    const refusal = {
      ...((decision === 'deny' || decision === 'ask') && { decision }),
      ...(typeof denyReason === 'string' && { denyReason }),
      ...(reason(block) && { block }),
      ...(reason(stop) && { stop }),
    } as HookAction
    return refusal.decision || refusal.block || refusal.stop ? refusal : undefined
  } catch {
    return undefined // a getter that throws
  }
}

function readFields(returned: Json): HookAction {
  const action: Json = {}
  for (const [key, value] of Object.entries(returned)) {
    if (value === undefined) continue
    const field = Object.hasOwn(fields, key) ? fields[key as keyof HookAction] : undefined
    if (!field) throw new Error(`returned an action with an unknown field "${key}"`)
    action[key] = copied.has(key) ? JSON.parse(JSON.stringify(value)) : value
    if (!field.fits(action[key])) throw new Error(`returned an action whose ${key} is not ${field.must}`)
  }
  return action
}
