/**
 * Rules that the record calls for: the fewest allow rules that would have removed the most prompts, and deny rules from what
 * was denied. Each is tried on the record first: nothing that was ever denied and nothing destructive becomes allowed.
 */

import { callJudge, type Policy } from '../replay/judge-call.ts'
import type { RecordedCall } from '../replay/recorded-calls.ts'
import { candidatesOf, exactRule, isHarmless, isOftenHarmless, refusedRule, widerRules } from './candidates.ts'
import { wasDenied } from './denied-calls.ts'
import { isDestructive } from './destructive.ts'
import { shownCall } from './shown-call.ts'

export interface Suggestion {
  readonly behavior: 'allow' | 'deny'
  readonly rule: string
  /** Calls whose prompt it would have removed, or that it would have denied. */
  readonly calls: number
  /** Of these, how many were approved (allow) or denied (deny) by a user at the time. */
  readonly answered: number
  /** Of these, how many wrote files. */
  readonly writes: number
  readonly agents: readonly string[]
  readonly examples: readonly string[]
}

export interface Suggestions {
  readonly calls: number
  /** Calls for which the policy prompts today. */
  readonly prompts: number
  /** Of these, changes of files in the project: the mode acceptEdits answers for them, and no rule is proposed. */
  readonly edits: number
  readonly suggestions: readonly Suggestion[]
  /** Candidates that were dropped, and why. */
  readonly dropped: readonly { readonly rule: string; readonly why: string }[]
  /** More different calls than are compared; the rest did not count. */
  readonly truncated: boolean
}

/** The same call, made `count` times. */
interface Group {
  readonly call: RecordedCall
  readonly agents: Set<string>
  count: number
  approved: number
  denied: number
  /** What the settings say of it today. */
  readonly today: 'allow' | 'ask' | 'deny'
  /** The rules that a prompt for it would offer. */
  readonly offered: readonly string[]
  readonly candidates: readonly string[]
}

const mostGroups = 20_000
const mostCandidates = 200

/** `denied`: calls that were denied at any time, read where there is a rule to try on them; those among `calls` count anyway. */
export async function suggestRules(
  calls: Iterable<RecordedCall>,
  policy: Policy,
  {
    most = 10,
    fewestCalls = 2,
    denied = [],
  }: { most?: number; fewestCalls?: number; denied?: Iterable<RecordedCall> } = {},
): Promise<Suggestions> {
  const { groups, counted, truncated } = await groupCalls(calls, policy)
  const prompted = groups.filter(({ today }) => today === 'ask')
  const isWanted =
    mostWanted(new Set(prompted.filter((group) => group.denied === 0)), new Set(), fewestCalls) !== undefined
  const before = isWanted ? (await groupCalls(denied, policy)).groups : []
  const refused = [...groups.filter((group) => group.denied > 0), ...before]
  const dropped = new Map<string, string>()
  const allow = await allowRules(prompted, refused, policy, { most, fewestCalls, dropped })
  const deny = await denyRules(groups, policy, { most, dropped })
  return {
    ...{ calls: counted, prompts: sum(prompted), suggestions: [...allow, ...deny] },
    edits: sum(prompted.filter(({ call, offered }) => offered.length === 0 && writes.has(call.tool))),
    dropped: Array.from(dropped, ([rule, why]) => ({ rule, why })),
    truncated,
  }
}

async function groupCalls(calls: Iterable<RecordedCall>, policy: Policy) {
  const judge = callJudge(policy)
  const groups = new Map<string, Group>()
  let counted = 0
  let truncated = false
  for (const call of calls) {
    if (call.was === null || call.was.by === 'gate') continue
    counted++
    const denied = wasDenied(call)
    const key = JSON.stringify([call.tool, call.projectDir, call.input])
    let group = groups.get(key)
    if (!group) {
      // what was denied is never left out: a rule must not allow it
      if (groups.size >= mostGroups && !denied) {
        truncated = true
        continue
      }
      const { decision: today, suggested: offered = [] } = await judge(call)
      const candidates = candidatesOf(call, offered)
      group = { ...{ call, today, offered, candidates, agents: new Set<string>() }, count: 0, approved: 0, denied: 0 }
      groups.set(key, group)
    }
    group.count++
    group.agents.add(call.source)
    if (denied) group.denied++
    else if (call.was.decision === 'ask' && call.was.ended !== 'deny') group.approved++
  }
  return { groups: [...groups.values()], counted, truncated }
}

interface Limits {
  readonly most: number
  readonly fewestCalls?: number
  /** Rules that were looked at and are not proposed, and why. */
  readonly dropped: Map<string, string>
}

/** Greedy: the rule that removes most of the prompts that are left, as long as it is safe. */
async function allowRules(
  prompted: readonly Group[],
  refused: readonly Group[],
  policy: Policy,
  { most, fewestCalls = 2, dropped }: Limits,
): Promise<Suggestion[]> {
  const chosen: Suggestion[] = []
  const rejected = new Set<string>()
  const safety = (tool: string) => policy.tool(tool, {}, '/').safety
  const left = new Set(prompted.filter(({ denied }) => denied === 0))
  noteRefused([...left], safety, fewestCalls, dropped)
  while (chosen.length < most && rejected.size < mostCandidates) {
    const rule = mostWanted(left, rejected, fewestCalls)
    if (rule === undefined) break
    rejected.add(rule)
    const tried = callJudge(withRule(policy, 'allow', rule))
    const removed: Group[] = []
    let problem = refusedRule(rule, safety)
    for (const group of problem === undefined ? refused : []) {
      if (group.today === 'allow' || problem !== undefined) continue
      if ((await tried(group.call)).decision === 'allow')
        problem = `it would allow a call that was denied: ${shownCall(group.call)}`
    }
    for (const group of left) {
      if (problem !== undefined) break
      if (!mayConcern(rule, group) || (await tried(group.call)).decision !== 'allow') continue
      const { command } = group.call.input
      const about = { home: policy.home, cwd: group.call.projectDir, known: isHarmless(rule) || isOftenHarmless(rule) }
      if (typeof command === 'string' && (await isDestructive(command, about)))
        problem = `it would allow a command that destroys, or may: ${shownCall(group.call)}`
      removed.push(group)
    }
    if (problem !== undefined) {
      dropped.set(`allow:${rule}`, problem)
      continue
    }
    if (sum(removed) < fewestCalls) continue
    chosen.push(suggestion('allow', rule, removed))
    for (const group of removed) left.delete(group)
  }
  return chosen
}

/** The rules that a prompt would offer, where something narrower was tried in their place. */
function noteRefused(
  prompted: readonly Group[],
  safety: (tool: string) => string,
  fewest: number,
  dropped: Limits['dropped'],
): void {
  const counts = new Map<string, number>()
  for (const { offered, candidates, count } of prompted)
    for (const rule of offered) if (!candidates.includes(rule)) counts.set(rule, (counts.get(rule) ?? 0) + count)
  for (const [rule, count] of counts) {
    const why = count < fewest ? undefined : refusedRule(rule, safety)
    if (why !== undefined) dropped.set(`allow:${rule}`, why)
  }
}

/** Whether a rule can say anything of a call: of the same tool, and its first word is in the command. */
function mayConcern(rule: string, { call: { tool, input }, candidates }: Group): boolean {
  if (toolOf(rule) !== tool) return candidates.includes(rule)
  const { command } = input
  return tool !== 'Bash' || typeof command !== 'string' || command.includes(/^Bash\(([^\s)*]*)/.exec(rule)?.[1] ?? '')
}

/** What was denied, as the fewest rules that deny no call that was allowed: first the rule that covers most of what is left. */
async function denyRules(groups: readonly Group[], policy: Policy, { most, dropped }: Limits): Promise<Suggestion[]> {
  const chosen: Suggestion[] = []
  const tried = new Set<string>()
  const left = new Set(groups.filter(({ denied, today }) => denied > 0 && today !== 'deny'))
  while (chosen.length < most && tried.size < mostCandidates) {
    const rule = mostDenied(left, tried)
    if (rule === undefined) break
    tried.add(rule)
    const judge = callJudge(withRule(policy, 'deny', rule))
    const hit: Group[] = []
    for (const each of groups)
      if (mayConcern(rule, each) && (await judge(each.call)).decision === 'deny') hit.push(each)
    const good = hit.find((each) => each.denied < each.count)
    if (good) dropped.set(`deny:${rule}`, `it would deny a call that was allowed: ${shownCall(good.call)}`)
    else if (hit.some((each) => left.has(each))) {
      chosen.push(suggestion('deny', rule, hit))
      for (const each of hit) left.delete(each)
    }
  }
  return chosen
}

/** The rule that covers most of the denied calls; of two that cover the same, the narrower. */
function mostDenied(groups: ReadonlySet<Group>, tried: ReadonlySet<string>): string | undefined {
  const covered = new Map<string, { count: number; groups: number; isWide: boolean }>()
  for (const { call, offered, denied } of groups) {
    const [exact] = exactRule(call)
    const wide = widerRules(call)
    for (const rule of new Set([...offered, ...wide, ...(exact === undefined ? [] : [exact])])) {
      if (tried.has(rule)) continue
      const known = covered.get(rule) ?? { count: 0, groups: 0, isWide: wide.includes(rule) }
      covered.set(rule, { ...known, count: known.count + denied, groups: known.groups + 1 })
    }
  }
  let best: string | undefined
  for (const [rule, { count, groups: many, isWide }] of covered) {
    if (isWide && many < 2) continue // one command alone calls for no rule on others
    const before = best === undefined ? undefined : covered.get(best)!
    if (!before || count > before.count || (count === before.count && rule.length > best!.length)) best = rule
  }
  return best
}

function mostWanted(groups: ReadonlySet<Group>, rejected: ReadonlySet<string>, fewest: number): string | undefined {
  const weights = new Map<string, number>()
  for (const { candidates, count } of groups)
    for (const rule of candidates) if (!rejected.has(rule)) weights.set(rule, (weights.get(rule) ?? 0) + count)
  let best: string | undefined
  for (const [rule, weight] of weights)
    if (weight >= fewest && (best === undefined || weight > weights.get(best)!)) best = rule
  return best
}

const withRule = (policy: Policy, behavior: 'allow' | 'deny', rule: string): Policy => ({
  ...policy,
  permissions: { ...policy.permissions, [behavior]: [...(policy.permissions[behavior] ?? []), rule] },
})

const toolOf = (rule: string): string => /^[^(]+/.exec(rule)![0]
const sum = (groups: readonly Group[]): number => groups.reduce((total, { count }) => total + count, 0)
const writes: ReadonlySet<string> = new Set(['Write', 'Edit', 'NotebookEdit'])

const suggestion = (behavior: Suggestion['behavior'], rule: string, groups: readonly Group[]): Suggestion => ({
  ...{ behavior, rule, calls: sum(groups) },
  answered: groups.reduce((total, each) => total + (behavior === 'allow' ? each.approved : each.denied), 0),
  writes: sum(groups.filter(({ call }) => writes.has(call.tool))),
  agents: [...new Set(groups.flatMap(({ agents }) => [...agents]))].sort(),
  examples: [...new Set(groups.toSorted((a, b) => b.count - a.count).map(({ call }) => shownCall(call)))].slice(0, 3),
})
