/** A role's transforms of what ona itself is asked and does. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from './problem.ts'
import { type ActInput, type AskInput, authorOf, type Role, type Transforms } from './role.ts'

/** What is asked, after every role's say, in the order of the roles. */
export function applyOnAsk(roles: readonly Role[], input: AskInput): Promise<AskInput> {
  return pass(roles, 'onInvokeAskInput', input, (given) => typeof given.ask === 'string', 'text in "ask"')
}

/** What a skill or tool is run with, after every role's say. */
export function applyOnAct(roles: readonly Role[], input: ActInput): Promise<ActInput> {
  const fits = (given: ActInput) =>
    typeof given.skill === 'string' && typeof given.input === 'object' && given.input !== null
  return pass(roles, 'onInvokeActInput', input, fits, '"skill" and an object in "input"')
}

type Slot = 'onInvokeAskInput' | 'onInvokeActInput'

/** What a transform gives back is used whole; one that gives back nothing usable is a mistake of the role's and is named. */
async function pass<T extends object>(
  roles: readonly Role[],
  slot: Slot,
  input: T,
  fits: (given: T) => boolean,
  shape: string,
): Promise<T> {
  let current = input
  for (const role of roles) {
    const transforms = (role.hooks?.onDispatch?.[slot] ?? []) as unknown as Transforms<T>
    for (const [index, transform] of [transforms].flat().entries()) {
      const where = `${authorOf(role)}: hooks.onDispatch.${slot}[${index}]`
      let given: T
      try {
        given = await (transform as (input: T) => T | Promise<T>)(current)
      } catch (thrown) {
        throw new Problem(`${where} failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
      }
      if (typeof given !== 'object' || given === null || !fits(given))
        throw new Problem(`${where} must give back the input, with ${shape}`)
      current = given
    }
  }
  return current
}

export interface Dispatch {
  ask(input: AskInput): Promise<AskInput>
  act(input: ActInput): Promise<ActInput>
}

/**
 * The transforms of the roles that are linked in a repository; null when there are none, which is told without loading
 * anything. Only a role declared in code has transforms, so it is for a folder that is trusted to run its code.
 */
export async function linkedDispatch({ from }: { from: string }): Promise<Dispatch | null> {
  if (!existsSync(join(from, '.agent'))) return null
  const { findRoles } = await import('./roles/find.ts')
  const found = await findRoles(from, { runCode: true })
  const roles = found.roles.filter(({ linked, role }) => linked && role.hooks?.onDispatch).map(({ role }) => role)
  if (roles.length === 0) return null
  return { ask: (input) => applyOnAsk(roles, input), act: (input) => applyOnAct(roles, input) }
}
