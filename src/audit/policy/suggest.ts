/**
 * Rules that the record calls for: the fewest allow rules that would have removed the most prompts, and deny rules from what
 * was denied. Each is tried on the record first: nothing that was ever denied and nothing destructive becomes allowed.
 */

import { callJudge, type Policy } from '../replay/judge-call.ts'
import type { RecordedCall } from '../replay/recorded-calls.ts'
import { isDestructive } from './destructive.ts'

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
  /** The settings allow it already. */
  readonly allowed: boolean
  suggested: readonly string[]
}

const mostGroups = 20_000
const mostCandidates = 60

export async function suggestRules(
  calls: Iterable<RecordedCall>,
  policy: Policy,
  { most = 10, fewestCalls = 2 }: { most?: number; fewestCalls?: number } = {},
): Promise<Suggestions> {
  const { groups, counted, truncated } = await groupCalls(calls, policy)
  const prompted = groups.filter(({ suggested }) => suggested.length > 0)
  const denied = groups.filter((group) => group.denied > 0)
  const dropped: Suggestions['dropped'][number][] = []
  const allow = await allowRules(prompted, groups, policy, { most, fewestCalls, dropped })
  const deny = await denyRules(denied, groups, policy, { most, dropped })
  const prompts = prompted.reduce((sum, { count }) => sum + count, 0)
  return { calls: counted, prompts, suggestions: [...allow, ...deny], dropped, truncated }
}

async function groupCalls(calls: Iterable<RecordedCall>, policy: Policy) {
  const judge = callJudge(policy)
  const groups = new Map<string, Group>()
  let counted = 0
  let truncated = false
  for (const call of calls) {
    if (call.was === null || call.was.by === 'gate') continue
    counted++
    const key = JSON.stringify([call.tool, call.projectDir, call.input])
    let group = groups.get(key)
    if (!group) {
      if (groups.size >= mostGroups) {
        truncated = true
        continue
      }
      const { decision, suggested = [] } = await judge(call)
      group = {
        call,
        agents: new Set(),
        count: 0,
        approved: 0,
        denied: 0,
        allowed: decision === 'allow',
        suggested: decision === 'ask' ? suggested : [],
      }
      groups.set(key, group)
    }
    const wasDenied = call.was.ended === 'deny' || call.was.decision === 'deny'
    group.count++
    group.agents.add(call.source)
    if (wasDenied && call.was.by !== 'nobody') group.denied++
    if (!wasDenied && call.was.decision === 'ask') group.approved++
  }
  return { groups: [...groups.values()], counted, truncated }
}

interface Limits {
  readonly most: number
  readonly fewestCalls?: number
  readonly dropped: { rule: string; why: string }[]
}

/** Greedy: the rule that removes most of the prompts that are left, as long as it is safe. */
async function allowRules(
  prompted: readonly Group[],
  all: readonly Group[],
  policy: Policy,
  { most, fewestCalls = 2, dropped }: Limits,
): Promise<Suggestion[]> {
  const chosen: Suggestion[] = []
  const rejected = new Set<string>()
  let left = prompted.filter(({ denied }) => denied === 0)
  while (chosen.length < most && rejected.size < mostCandidates) {
    const rule = mostWanted(left, rejected, fewestCalls)
    if (rule === undefined) break
    rejected.add(rule)
    const tried = callJudge(withRule(policy, 'allow', rule))
    const removed: Group[] = []
    let problem: string | undefined
    for (const group of all) {
      if (group.allowed || group.call.tool !== toolOf(rule)) continue
      if (group.suggested.length === 0 && group.denied === 0) continue
      if ((await tried(group.call)).decision !== 'allow') continue
      if (group.denied > 0) problem ??= `it would allow a call that was denied: ${shown(group.call)}`
      if (typeof group.call.input['command'] === 'string' && isDestructive(group.call.input['command']))
        problem ??= `it would allow a destructive command: ${shown(group.call)}`
      removed.push(group)
    }
    problem ??= isDestructive(rule) ? 'it speaks about a destructive command' : undefined
    if (problem !== undefined) {
      dropped.push({ rule: `allow:${rule}`, why: problem })
      continue
    }
    const gained = removed.filter((group) => left.includes(group))
    if (sum(gained) < fewestCalls) continue
    chosen.push(suggestion('allow', rule, gained))
    left = left.filter((group) => !removed.includes(group))
  }
  return chosen
}

/** What was denied, as rules, where no call that was allowed would be denied with it. */
async function denyRules(
  denied: readonly Group[],
  all: readonly Group[],
  policy: Policy,
  { most, dropped }: Limits,
): Promise<Suggestion[]> {
  const chosen: Suggestion[] = []
  const seen = new Set<string>()
  const today = callJudge(policy)
  for (const group of denied.toSorted((a, b) => b.denied - a.denied)) {
    if (chosen.length >= most) break
    if ((await today(group.call)).decision === 'deny') continue
    for (const rule of new Set([...group.suggested, ...exactRule(group.call)])) {
      if (seen.has(rule)) continue
      seen.add(rule)
      const tried = callJudge(withRule(policy, 'deny', rule))
      const hit: Group[] = []
      for (const each of all)
        if (each.call.tool === toolOf(rule) && (await tried(each.call)).decision === 'deny') hit.push(each)
      const good = hit.find((each) => each.denied < each.count)
      if (good)
        dropped.push({ rule: `deny:${rule}`, why: `it would deny a call that was allowed: ${shown(good.call)}` })
      else if (hit.length > 0) {
        chosen.push(suggestion('deny', rule, hit))
        break
      }
    }
  }
  return chosen
}

/** The very command: a rule cannot hold one with a `*` or several lines. */
function exactRule({ tool, input: { command, file_path } }: RecordedCall): string[] {
  if (tool === 'Bash')
    return typeof command === 'string' && !/[*\n]/.test(command) && command.length < 200 ? [`Bash(${command})`] : []
  return typeof file_path === 'string' && file_path.startsWith('/') ? [`${tool}(/${file_path})`] : []
}

function mostWanted(groups: readonly Group[], rejected: ReadonlySet<string>, fewest: number): string | undefined {
  const weights = new Map<string, number>()
  for (const { suggested, count } of groups)
    for (const rule of suggested) if (!rejected.has(rule)) weights.set(rule, (weights.get(rule) ?? 0) + count)
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

const suggestion = (behavior: Suggestion['behavior'], rule: string, groups: readonly Group[]): Suggestion => ({
  ...{ behavior, rule, calls: sum(groups) },
  answered: groups.reduce((total, each) => total + (behavior === 'allow' ? each.approved : each.denied), 0),
  writes: groups
    .filter(({ call }) => ['Write', 'Edit', 'NotebookEdit'].includes(call.tool))
    .reduce((n, each) => n + each.count, 0),
  agents: [...new Set(groups.flatMap(({ agents }) => [...agents]))].sort(),
  examples: [...new Set(groups.toSorted((a, b) => b.count - a.count).map(({ call }) => shown(call)))].slice(0, 3),
})

function shown({ tool, input: { command, file_path, url, ...rest } }: RecordedCall): string {
  const main = [command, file_path, url].find((each) => typeof each === 'string') as string | undefined
  return `${tool} ${main ?? JSON.stringify(rest)}`.replaceAll(/\s+/g, ' ').slice(0, 120)
}
