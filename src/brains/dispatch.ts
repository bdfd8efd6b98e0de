/** A role's transforms of ona's own prompts and tool calls. */

import { Problem } from '../files/problem.ts'
import { defineStepHook, type StepArgs } from '../hooks/define.ts'
import type { Handler } from '../hooks/handler.ts'
import { textBlock, textOf } from '../hooks/step/blocks.ts'
import { type ActInput, type AskInput, authorOf, type Role, type Transforms } from './role.ts'

/** The prompt after every role's transform, in the order of the roles. */
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

/**
 * The transforms of the roles that are linked in a repository, as handlers of ona's own steps; `problems` are roles that
 * could not be loaded. Runs the code that declares them, so it is for a folder that is trusted.
 */
export async function linkedDispatch({ from }: { from: string }): Promise<{ handlers: Handler[]; problems: string[] }> {
  const { findRoles, hasCodeRoles } = await import('./roles/find.ts')
  if (!hasCodeRoles(from)) return { handlers: [], problems: [] }
  const found = await findRoles(from, { runCode: true })
  const roles = found.roles.filter(({ linked, role }) => linked && role.hooks?.onDispatch).map(({ role }) => role)
  return {
    handlers: roles.length > 0 ? dispatchHandlers(roles) : [],
    problems: [...found.problems, ...found.failed.map(({ why }) => why)],
  }
}

/** A prompt passes the roles before it is ingested, a tool's input before the tool runs. */
export function dispatchHandlers(roles: readonly Role[]): Handler[] {
  const ask = async ({ step }: StepArgs<'before_ingest'>) => {
    if (step.source !== 'user') return undefined
    const given = textOf(step.input)
    const { ask } = await applyOnAsk(roles, { ask: given })
    if (ask !== given) step.input = [textBlock(ask), ...step.input.filter(({ type }) => type !== 'text')]
    return undefined
  }
  const act = async ({ step }: StepArgs<'before_tool_apply'>) => {
    const input = step.args as ActInput['input']
    step.args = (await applyOnAct(roles, { skill: step.toolName, input })).input
    return undefined
  }
  return [
    defineStepHook('before_ingest', ask, { name: 'roles: onInvokeAskInput' }),
    defineStepHook('before_tool_apply', act, { name: 'roles: onInvokeActInput' }),
  ]
}
