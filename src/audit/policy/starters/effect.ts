/** What a starter would have changed on the record: its rules against the settings in force, its hook as a function. */
import { matchesRule } from '../../../permissions/rules/rule-applies.ts'
import type { Policy } from '../../replay/judge-call.ts'
import type { RecordedCall } from '../../replay/recorded-calls.ts'
import { replay } from '../../replay/replay.ts'
import { shownCall } from '../shown-call.ts'
import type { Starter, StarterHook } from './starter.ts'

export interface Effect {
  readonly calls: number
  readonly newly_denied: number
  readonly newly_asked: number
  /** Some of the calls that would have come out differently. */
  readonly examples: readonly string[]
}

/** The default export of a starter's hook: why it denies a call; undefined: it does not. */
export type Check = (event: { tool_name: string; tool_input: object; cwd: string }) => string | undefined

const mostExamples = 3

/** Undefined: it acts at the end of a turn, and a record of calls shows nothing of that. */
export async function effectOf(
  { permissions, hook }: Starter,
  calls: Iterable<RecordedCall>,
  { baseline, check }: { readonly baseline: Policy; readonly check: Check | undefined },
): Promise<Effect | undefined> {
  if (hook?.event === 'Stop') return undefined
  if (hook && check) return await hookEffect(hook, check, calls, baseline)
  const { allow = [], ask = [], deny = [] } = baseline.permissions
  const rules = {
    ...baseline.permissions,
    ...{ allow, ask: [...ask, ...(permissions?.ask ?? [])], deny: [...deny, ...(permissions?.deny ?? [])] },
  }
  const examples = new Set<string>()
  const summary = await replay(
    calls,
    { ...baseline, permissions: rules },
    ({ call }) => examples.size < mostExamples && examples.add(shownCall(call)),
    { baseline },
  )
  const { calls: judged, newlyDenied, newlyAsked } = summary
  return { calls: judged, newly_denied: newlyDenied, newly_asked: newlyAsked, examples: [...examples] }
}

async function hookEffect(
  hook: StarterHook,
  check: Check,
  calls: Iterable<RecordedCall>,
  { permissions, mode, home }: Policy,
): Promise<Effect> {
  const tools = new Set(hook.matcher.split('|'))
  const examples = new Set<string>()
  let [judged, denied] = [0, 0]
  for (const call of calls) {
    if (call.was === null) continue
    judged++
    const { tool, input, projectDir: cwd, was } = call
    if (!tools.has(tool) || was.decision === 'deny') continue
    const question = { settings: permissions, mode, tool, input, hook: 'none' as const, cwd, projectDir: cwd, home }
    if (hook.if !== undefined && !(await matchesRule(hook.if, question))) continue
    if (check({ tool_name: tool, tool_input: input, cwd }) === undefined) continue
    denied++
    if (examples.size < mostExamples) examples.add(shownCall(call))
  }
  return { calls: judged, newly_denied: denied, newly_asked: 0, examples: [...examples] }
}
