/** Which handlers of a round run. */
import { isForMainOnly, namesOf } from '../claude/contract.ts'
import { hasToolCall } from '../settings.ts'
import { isObject } from '../shape.ts'
import { safetyOf, toolOf } from '../step/apply.ts'
import type { Steps } from '../steps.ts'
import { matchQuery } from '../wire/matcher.ts'
import { canRefuse } from '../wire/messages.ts'
import { isAtStep, onceKey, type Prepared, type Round, toolName } from './state.ts'

export function concerns(round: Round, handler: Prepared): boolean {
  const { subject, settled } = round
  if (handler.once && settled.done.has(onceKey(round, handler))) return false
  if (round.scope.agentId !== undefined && isForMainOnly(handler)) return false
  if (isAtStep(round, handler)) {
    const { name, state } = subject.step!
    const tools = namesOf(toolOf(name, state as never))
    if (!tools.some((tool) => handler.matchesStep(tool, safetyOf(state)))) return false
  } else {
    const query = matchQuery(subject.event!.name, round.fields)
    const matches = (query: string) => namesOf(query).some((name) => handler.matches(name!))
    if (query === null ? !handler.takesAll : query !== undefined && !matches(query)) return false
  }
  return true
}

/** Whether the call in question matches a handler's rule. Where that is unknown, the handler runs. */
export async function meetsCondition(
  { subject, fields, settled, scope }: Round,
  { ifCondition, event }: Prepared,
): Promise<boolean> {
  if (!hasToolCall(event)) return false
  const tool = toolName(subject, fields)
  const { step } = subject
  const input = step?.name === 'before_tool_apply' ? (step.state as Steps['before_tool_apply']).args : fields.tool_input
  if (tool === null || !settled.matchesRule) return true
  return settled.matchesRule(ifCondition, tool, isObject(input) ? input : {}, scope)
}

/** Why a handler does not run although it is concerned. */
export function whySkipped(round: Round, handler: Prepared): string | undefined {
  const { settled, scope, subject, isOver } = round
  if (settled.disabled !== undefined) return settled.disabled
  if (handler.withheld !== undefined) return handler.withheld
  if (scope.signal?.aborted) return 'interrupted'
  if (!isOver) return undefined
  // What has already happened cannot be refused, so every handler gets to see it.
  return isAtStep(round, handler) || canRefuse(subject.event!.name) ? 'prior_block_or_deny' : undefined
}
