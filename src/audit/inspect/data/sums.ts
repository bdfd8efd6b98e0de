/** Adds up what a batch of rows says, and writes each sum once. */
import { redact } from '../../../hooks/secrets/redact.ts'
import type { Db } from '../../../store/open.ts'
import { addDay, dayOf } from './days.ts'
import { type GroupKind, groupsOf, join } from './groups.ts'
import type { Day } from './shapes.ts'
import { slotSeconds } from './tables.ts'

interface Activity {
  prompts: number
  calls: number
  refused: number
  asked: number
  tokens: number
  cost: number
  priced: number
}

export interface HookRun {
  readonly hook: string
  readonly ms: number
  readonly denied: number
  readonly failed: number
}

export interface RulingOf {
  readonly decision: string
  readonly decider: string
  readonly tool: string
  readonly cause: string
}

/**
 * Everything is added by conversation number and by the slot of a time such as `2026-11-15 08:23:00` (UTC), and once more for
 * each group that the conversation is a member of.
 */
export function sums(db: Db) {
  const activity = new Map<string, { key: [number, number]; sum: Activity }>()
  const hooks = new Map<string, { key: [number, number, number]; sum: HookSum }>()
  const rulings = new Map<string, { key: RulingKey; times: number }>()
  const days = new Map<string, { group: number; day: { -readonly [K in keyof Day]: Day[K] } }>()

  const addActivity = (key: [number, number], more: Partial<Activity>) => {
    const { sum } = entry(activity, key, () => ({ key, sum: { ...none } }))
    for (const [name, count] of Object.entries(more)) sum[name as keyof Activity] += count
  }
  const addRuns = (key: [number, number, number], { runs, denied, failed, durations }: HookSum) => {
    const { sum } = entry(hooks, key, () => ({ key, sum: { runs: 0, denied: 0, failed: 0, durations: new Map() } }))
    sum.runs += runs
    sum.denied += denied
    sum.failed += failed
    for (const [ms, times] of durations) count(sum.durations, ms, times)
  }
  const addRulings = (key: RulingKey, times: number) => {
    entry(rulings, key, () => ({ key, times: 0 })).times += times
  }
  const addToGroup = (group: number, slot: number, sum: Activity) => {
    addActivity([group, 0], sum)
    const name = dayOf(slot)
    const { day } = entry(days, [group, name], () => ({ group, day: { day: name, calls: 0, refused: 0, cost: 0 } }))
    for (const key of ['calls', 'refused', 'cost'] as const) day[key] += sum[key]
  }

  /** What a new member has on record already. */
  const addStored = (number: number, group: number) => {
    for (const { slot, ...sum } of db.all<Activity & { slot: number }>(storedActivity, number))
      addToGroup(group, slot, sum)
    for (const { hook, durations, ...counts } of db.all<StoredRuns>(storedRuns, number)) {
      const read: Durations = new Map()
      addDurations(read, durations)
      addRuns([group, 0, hook], { ...counts, durations: read })
    }
    for (const { decision, decider, tool, cause, times } of db.all<StoredRulings>(storedRulings, number))
      addRulings([group, 0, decision, decider, tool, cause], times)
  }

  return {
    activity(number: number, at: string, more: Partial<Activity>) {
      addActivity([number, slotOf(at)], more)
    },
    hook(number: number, at: string, { hook, ms, denied, failed }: HookRun) {
      const durations = new Map([[twoDigits(ms), 1]])
      addRuns([number, slotOf(at), nameId(db, hook)], { runs: 1, denied, failed, durations })
    },
    ruling(number: number, at: string, { decision, decider, tool, cause }: RulingOf) {
      addRulings([number, slotOf(at), decision, decider, redact(tool), nameId(db, redact(cause))], 1)
    },
    /** `numbers`: every conversation that rows were read of. */
    write(numbers: Iterable<number>) {
      const [ownActivity, ownRuns, ownRulings] = [[...activity.values()], [...hooks.values()], [...rulings.values()]]
      const enter = (number: number, kind: GroupKind, name: string) => {
        const group = join(db, number, kind, name)
        if (group !== undefined) addStored(number, group)
      }
      for (const number of numbers) {
        const { agent, project } = db.get<{ agent: string; project: string | null }>(factsOf, number)!
        enter(number, 'agent', agent)
        if (project) enter(number, 'project', project)
      }
      for (const { key, sum } of ownActivity) if (sum.refused > 0) enter(key[0], 'refused', '')
      for (const { key } of ownRuns) enter(key[0], 'hook', nameOf(db, key[2]))
      const groups = new Map<number, readonly number[]>()
      const groupsIn = (number: number) => {
        const known = groups.get(number) ?? groupsOf(db, number)
        groups.set(number, known)
        return known
      }
      for (const { key, sum } of ownActivity) for (const group of groupsIn(key[0])) addToGroup(group, key[1], sum)
      for (const { key, sum } of ownRuns) for (const group of groupsIn(key[0])) addRuns([group, 0, key[2]], sum)
      for (const { key, times } of ownRulings)
        for (const group of groupsIn(key[0])) addRulings([group, 0, key[2], key[3], key[4], key[5]], times)
      for (const { key, sum } of activity.values())
        db.run(storeActivity, ...key, sum.prompts, sum.calls, sum.refused, sum.asked, sum.tokens, sum.cost, sum.priced)
      for (const { group, day } of days.values()) addDay(db, group, day)
      for (const { key, sum } of hooks.values()) {
        const known = db.get<{ durations: string }>(durationsOf, ...key)
        if (known) addDurations(sum.durations, known.durations)
        const text = Array.from(sum.durations, (each) => each.join(':')).join(' ')
        db.run(storeRuns, ...key, sum.runs, sum.denied, sum.failed, text)
      }
      for (const { key, times } of rulings.values()) db.run(storeRulings, ...key, times)
    },
  }
}

interface HookSum {
  runs: number
  denied: number
  failed: number
  readonly durations: Durations
}
type RulingKey = [number: number, slot: number, decision: string, decider: string, tool: string, cause: number]
type StoredRuns = Omit<HookSum, 'durations'> & { readonly hook: number; readonly durations: string }
type StoredRulings = Omit<RulingOf, 'cause'> & { readonly cause: number; readonly times: number }

const factsOf = `SELECT agent, (SELECT project_dir FROM conversations c WHERE c.id = i.id) AS project
  FROM ona_inspect_conversations i WHERE number = ?`
const storedActivity = `SELECT slot, prompts, calls, refused, asked, tokens, cost, priced FROM ona_inspect_activity WHERE number = ?`
const storedRuns = 'SELECT hook, runs, denied, failed, durations FROM ona_inspect_hooks WHERE number = ?'
const storedRulings = 'SELECT decision, decider, tool, cause, times FROM ona_inspect_rulings WHERE number = ?'

const none: Activity = { prompts: 0, calls: 0, refused: 0, asked: 0, tokens: 0, cost: 0, priced: 0 }

function entry<T>(map: Map<string, T>, key: readonly (string | number)[], make: () => T): T {
  const name = key.join('\u0000')
  const found = map.get(name)
  if (found) return found
  const made = make()
  map.set(name, made)
  return made
}

const slotOf = (at: string): number => Math.floor(Date.parse(`${at.replace(' ', 'T')}Z`) / 1000 / slotSeconds) || 0

/** How many runs took how many milliseconds. Stored as `35:2 40:1`: one row for all of them. */
export type Durations = Map<number, number>

const count = (durations: Durations, ms: number, runs: number): void =>
  void durations.set(ms, (durations.get(ms) ?? 0) + runs)

/** Read sign by sign: an overview adds up hundreds of thousands of them. */
export function addDurations(to: Durations, text: string): void {
  let [ms, number] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (sign === 58) ms = number
    if (sign === 32) count(to, ms, number)
    number = sign === 58 || sign === 32 ? 0 : number * 10 + sign - 48
  }
  count(to, ms, number)
}

/** 1234 is 1200: a percentile needs no more, and there are fewer sums to keep. */
function twoDigits(ms: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, ms))) - 1)
  return Math.round(ms / unit) * unit
}

const nameOf = (db: Db, id: number): string =>
  db.get<{ name: string }>('SELECT name FROM ona_inspect_names WHERE id = ?', id)!.name

function nameId(db: Db, name: string): number {
  const known = db.get<{ id: number }>('SELECT id FROM ona_inspect_names WHERE name = ?', name)
  return known?.id ?? db.run('INSERT INTO ona_inspect_names(name) VALUES (?)', name).lastId
}

const storeActivity = `INSERT INTO ona_inspect_activity(number, slot, prompts, calls, refused, asked, tokens, cost, priced)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET prompts = prompts + excluded.prompts,
    calls = calls + excluded.calls, refused = refused + excluded.refused, asked = asked + excluded.asked,
    tokens = tokens + excluded.tokens, cost = cost + excluded.cost, priced = priced + excluded.priced`

const durationsOf = 'SELECT durations FROM ona_inspect_hooks WHERE number = ? AND slot = ? AND hook = ?'

const storeRuns = `INSERT INTO ona_inspect_hooks(number, slot, hook, runs, denied, failed, durations) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET runs = runs + excluded.runs, denied = denied + excluded.denied,
    failed = failed + excluded.failed, durations = excluded.durations`

const storeRulings = `INSERT INTO ona_inspect_rulings(number, slot, decision, decider, tool, cause, times)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET times = times + excluded.times`
