/** Judges recorded calls by another policy: what would it have said, and why? No tool is run and no row is written. */
import { type Because, judged, openAsker, type Policy, type Word } from './judge-call.ts'
import type { RecordedCall } from './recorded-calls.ts'

export interface Change {
  readonly call: RecordedCall
  readonly was: Word
  readonly would: Word
  readonly because: Because
}

export interface Summary {
  readonly calls: number
  readonly same: number
  readonly newlyDenied: number
  readonly newlyAsked: number
  readonly newlyAllowed: number
  /** Calls on record that came to no judgement then, and are not judged now. */
  readonly notJudged: number
  /** Among `calls`: a hook that was not asked, or a sandbox, may decide them otherwise. */
  readonly notReplayed: number
  /** Hooks that had a say and were not asked, because they are programs or need a model; and how often. */
  readonly notAsked: readonly { readonly hook: string; readonly calls: number }[]
  /** Hooks that failed, how often, and how the first time. */
  readonly failed: readonly { readonly hook: string; readonly calls: number; readonly why: string }[]
  /** By the agent whose calls they were. */
  readonly byAgent: Readonly<Record<string, { readonly calls: number; readonly changed: number }>>
}

/** Judges some calls, and reports every change as it is found. */
export type Replay = (calls: Iterable<RecordedCall>, onChange: (change: Change) => void) => Promise<Summary>

/** Deterministic as far as the hooks are: the same calls and the same policy give the same answer. */
export const replay = (
  calls: Iterable<RecordedCall>,
  policy: Policy,
  onChange: (change: Change) => void,
  { baseline }: { readonly baseline?: Policy } = {},
): Promise<Summary> => openReplay(policy, baseline)(calls, onChange)

/**
 * For a history in parts: what was worked out for one part serves the next. With a `baseline`, changes are from what that
 * policy says today instead of what was said then.
 */
export function openReplay(policy: Policy, baseline?: Policy): Replay {
  const asker = openAsker(policy)
  const before = baseline && { policy: baseline, asker: openAsker(baseline) }
  return async (calls, onChange) => {
    const byAgent: Record<string, { calls: number; changed: number }> = {}
    const count = { calls: 0, same: 0, newlyDenied: 0, newlyAsked: 0, newlyAllowed: 0, notJudged: 0, notReplayed: 0 }
    for (const call of calls) {
      if (call.was === null) {
        count.notJudged++
        continue
      }
      count.calls++
      byAgent[call.source] ??= { calls: 0, changed: 0 }
      const agent = byAgent[call.source]!
      agent.calls++
      const now = judged(call, policy, asker)
      const { decision: would, because, isPartial } = now instanceof Promise ? await now : now
      const then = before ? judged(call, before.policy, before.asker) : call.was
      const earlier = then instanceof Promise ? await then : then
      // what is open in both policies is no difference between them
      if (isPartial && !('isPartial' in earlier)) {
        count.notReplayed++
        continue
      }
      const { decision: was } = earlier
      if (would === was) {
        count.same++
        continue
      }
      count[kinds[would]]++
      agent.changed++
      onChange({ call, was, would, because })
    }
    const summary = { ...count, notAsked: tally(asker.notAsked), failed: tally(asker.failed), byAgent }
    asker.notAsked.clear()
    asker.failed.clear()
    return summary
  }
}

const kinds = { deny: 'newlyDenied', ask: 'newlyAsked', allow: 'newlyAllowed' } as const

const tally = <T extends object>(found: ReadonlyMap<string, T>) =>
  Array.from(found, ([hook, rest]) => ({ hook, ...rest }))

export const nothingYet: Summary = {
  ...{ calls: 0, same: 0, newlyDenied: 0, newlyAsked: 0, newlyAllowed: 0, notJudged: 0, notReplayed: 0 },
  ...{ notAsked: [], failed: [], byAgent: {} },
}

/** The summary of two parts, `one` before `two`. */
export function sumOf(one: Summary, two: Summary): Summary {
  const byAgent: Record<string, { calls: number; changed: number }> = { ...one.byAgent }
  for (const [name, { calls, changed }] of Object.entries(two.byAgent)) {
    const before = byAgent[name] ?? { calls: 0, changed: 0 }
    byAgent[name] = { calls: before.calls + calls, changed: before.changed + changed }
  }
  return {
    calls: one.calls + two.calls,
    same: one.same + two.same,
    newlyDenied: one.newlyDenied + two.newlyDenied,
    newlyAsked: one.newlyAsked + two.newlyAsked,
    newlyAllowed: one.newlyAllowed + two.newlyAllowed,
    notJudged: one.notJudged + two.notJudged,
    notReplayed: one.notReplayed + two.notReplayed,
    notAsked: joined(one.notAsked, two.notAsked),
    failed: joined(one.failed, two.failed),
    byAgent,
  }
}

/** Counts of the same hook become one; what else is known of it is of its first time. */
function joined<T extends { readonly hook: string; readonly calls: number }>(
  one: readonly T[],
  two: readonly T[],
): T[] {
  const known = new Map(one.map((each) => [each.hook, each]))
  for (const each of two) {
    const before = known.get(each.hook)
    known.set(each.hook, before ? { ...before, calls: before.calls + each.calls } : each)
  }
  return [...known.values()]
}
