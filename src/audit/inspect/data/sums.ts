/** Adds up what a batch of rows says, and writes each sum once. */
import { redact } from '../../../hooks/secrets/redact.ts'
import type { Db } from '../../../store/open.ts'
import { addDay, dayOf } from './days.ts'
import { everything, slotSeconds } from './tables.ts'

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
 * all conversations together.
 */
export function sums(db: Db) {
  const activity = new Map<string, { key: [number, number]; sum: Activity }>()
  const hooks = new Map<
    string,
    { key: [number, number, number]; runs: number; denied: number; failed: number; durations: Durations }
  >()
  const rulings = new Map<string, { key: [number, number, string, string, string, number]; times: number }>()

  return {
    activity(number: number, at: string, more: Partial<Activity>) {
      for (const key of both(number, slotOf(at))) {
        const { sum } = entry(activity, key, () => ({ key, sum: { ...none } }))
        for (const [name, count] of Object.entries(more)) sum[name as keyof Activity] += count
      }
    },
    hook(number: number, at: string, { hook, ms, denied, failed }: HookRun) {
      for (const [of, slot] of both(number, slotOf(at))) {
        const key: [number, number, number] = [of, slot, nameId(db, hook)]
        const sum = entry(hooks, key, () => ({ key, runs: 0, denied: 0, failed: 0, durations: new Map() }))
        sum.runs++
        sum.denied += denied
        sum.failed += failed
        count(sum.durations, twoDigits(ms), 1)
      }
    },
    ruling(number: number, at: string, { decision, decider, tool, cause }: RulingOf) {
      for (const [of, slot] of both(number, slotOf(at))) {
        const key: [number, number, string, string, string, number] = [
          ...([of, slot, decision, decider, redact(tool), nameId(db, redact(cause))] as const),
        ]
        entry(rulings, key, () => ({ key, times: 0 })).times++
      }
    },
    write() {
      for (const { key, sum } of activity.values()) {
        db.run(addActivity, ...key, sum.prompts, sum.calls, sum.refused, sum.asked, sum.tokens, sum.cost, sum.priced)
        if (key[0] !== everything) addDay(db, dayOf(key[1]), sum)
      }
      for (const { key, runs, denied, failed, durations } of hooks.values()) {
        const known = db.get<{ durations: string }>(durationsOf, ...key)
        if (known) addDurations(durations, known.durations)
        const text = Array.from(durations, (each) => each.join(':')).join(' ')
        db.run(addHook, ...key, runs, denied, failed, text)
      }
      for (const { key, times } of rulings.values()) db.run(addRuling, ...key, times)
    },
  }
}

const both = (number: number, slot: number): [number, number][] => [
  [number, slot],
  [everything, 0],
]

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

function nameId(db: Db, name: string): number {
  const known = db.get<{ id: number }>('SELECT id FROM ona_inspect_names WHERE name = ?', name)
  return known?.id ?? db.run('INSERT INTO ona_inspect_names(name) VALUES (?)', name).lastId
}

const addActivity = `INSERT INTO ona_inspect_activity(number, slot, prompts, calls, refused, asked, tokens, cost, priced)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET prompts = prompts + excluded.prompts,
    calls = calls + excluded.calls, refused = refused + excluded.refused, asked = asked + excluded.asked,
    tokens = tokens + excluded.tokens, cost = cost + excluded.cost, priced = priced + excluded.priced`

const durationsOf = 'SELECT durations FROM ona_inspect_hooks WHERE number = ? AND slot = ? AND hook = ?'

const addHook = `INSERT INTO ona_inspect_hooks(number, slot, hook, runs, denied, failed, durations) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET runs = runs + excluded.runs, denied = denied + excluded.denied,
    failed = failed + excluded.failed, durations = excluded.durations`

const addRuling = `INSERT INTO ona_inspect_rulings(number, slot, decision, decider, tool, cause, times)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET times = times + excluded.times`
