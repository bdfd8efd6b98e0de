/** What the overview shows: totals, days, hooks, denials, prompts and conversations, all under one filter. */
import { redact } from '../../../hooks/secrets/redact.ts'
import { isObject } from '../../../hooks/shape.ts'
import type { Db, ReadDb } from '../../../store/open.ts'
import { parsed } from '../side-events.ts'
import { daysBetween, daysOf, sumDays } from './days.ts'
import { type Filter, type Scope, scopeOf } from './filter.ts'
import type { Choices, ConversationRow, Day, HookStat, RulingStat, Totals } from './shapes.ts'
import { addDurations, type Durations } from './sums.ts'
import { everything } from './tables.ts'

export function totals(db: Db, filter: Filter): Totals {
  const { with: chosen, active, slots, values } = scopeOf(filter)
  const sums = db.get<Omit<Totals, 'conversations' | 'cost'> & { cost: number; priced: number }>(
    `${chosen} SELECT coalesce(sum(prompts), 0) AS prompts, coalesce(sum(calls), 0) AS calls,
       coalesce(sum(refused), 0) AS refused, coalesce(sum(asked), 0) AS asked, coalesce(sum(tokens), 0) AS tokens,
       coalesce(sum(cost), 0) AS cost, coalesce(sum(priced), 0) AS priced
     FROM ona_inspect_activity WHERE 1 ${active} ${slots}`,
    ...values,
  )!
  const { priced, cost, ...counts } = sums
  return { conversations: countConversations(db, filter), ...counts, cost: priced === 0 ? null : cost }
}

/** Conversations that the index has not met yet count too, where nothing is filtered. */
export function countConversations(db: Db, filter: Filter): number {
  const { with: chosen, values, group } = scopeOf(filter)
  const counted =
    group === undefined
      ? 'count(*) AS count FROM chosen'
      : group === String(everything)
        ? 'count(*) AS count FROM conversations'
        : `coalesce(sum(conversations), 0) AS count FROM ona_inspect_groups WHERE number = ${group}`
  return db.get<{ count: number }>(`${chosen} SELECT ${counted}`, ...values)!.count
}

export function days(db: Db, filter: Filter): Day[] {
  const { with: chosen, active, slots, values, group, onlySlots } = scopeOf(filter)
  if (onlySlots) return daysBetween(db, onlySlots.first, onlySlots.last)
  if (group === undefined) return sumDays(db, `WHERE 1 ${active} ${slots}`, [...values], chosen)
  return daysOf(db, db.get<{ number: number | null }>(`${chosen} SELECT ${group} AS number`, ...values)!.number)
}

const mostHooks = 20

export function hooks(db: Db, filter: Filter): HookStat[] {
  const { with: chosen, numbers, slots, values } = scopeOf(filter)
  const one = filter.hook === undefined ? '' : 'AND hook = (SELECT id FROM ona_inspect_names WHERE name = ?3)'
  const stats = db.all<{ id: number; runs: number; denied: number; failed: number; durations: string }>(
    `${chosen} SELECT hook AS id, sum(runs) AS runs, sum(denied) AS denied, sum(failed) AS failed,
       group_concat(durations, ' ') AS durations
     FROM ona_inspect_hooks WHERE 1 ${numbers} ${slots} ${one} GROUP BY hook ORDER BY 2 DESC, 1 LIMIT ${mostHooks}`,
    ...values,
  )
  return stats.map(({ id, durations: text, ...counts }) => {
    const hook = db.get<{ name: string }>('SELECT name FROM ona_inspect_names WHERE id = ?', id)!.name
    const durations: Durations = new Map()
    addDurations(durations, text)
    const ordered = [...durations].sort(([a], [b]) => a - b)
    return {
      hook,
      ...counts,
      p50: percentile(ordered, counts.runs * 0.5),
      p95: percentile(ordered, counts.runs * 0.95),
    }
  })
}

/** The shortest duration that so many runs did not exceed. */
function percentile(ordered: readonly (readonly [ms: number, runs: number])[], wanted: number): number {
  let seen = 0
  for (const [ms, runs] of ordered) {
    seen += runs
    if (seen >= wanted) return ms
  }
  return 0
}

const mostRulings = 8

/** What was denied most often, by what. */
export const denials = (db: Db, filter: Filter): RulingStat[] => rulings(db, scopeOf(filter), "decision = 'deny'")

/** What users were prompted for most often, whatever they said. */
export const prompts = (db: Db, filter: Filter): RulingStat[] =>
  rulings(db, scopeOf(filter), "decider IN ('person', 'operator', 'nobody', 'approval')")

const rulings = (db: Db, { with: chosen, numbers, slots, values }: Scope, which: string): RulingStat[] =>
  db.all<RulingStat>(
    `${chosen} SELECT tool, decider, (SELECT name FROM ona_inspect_names n WHERE n.id = cause) AS cause,
       sum(times) AS times, sum(iif(decision = 'allow', times, 0)) AS allowed
     FROM ona_inspect_rulings WHERE ${which} ${numbers} ${slots}
     GROUP BY tool, decider, cause ORDER BY times DESC, tool, cause LIMIT ${mostRulings}`,
    ...values,
  )

/** Newest first. */
export function conversations(db: Db, filter: Filter, { limit = 50, offset = 0 } = {}): ConversationRow[] {
  const { with: chosen, values } = scopeOf(filter)
  const ids = db.all<{ id: string }>(
    `${chosen} SELECT id FROM conversations c ${whichOf(db, filter)}
     ORDER BY last_active DESC, rowid DESC LIMIT ?8 OFFSET ?9`,
    ...values,
    limit,
    offset,
  )
  return conversationRows(
    db,
    ids.map(({ id }) => id),
  )
}

/** Of few, all are sorted; of many, the newest are met soon on the way through all conversations, which are in order. */
function whichOf(db: Db, filter: Filter): string {
  const { group, onlySlots, slots } = scopeOf(filter)
  if (group === String(everything)) return ''
  // what was active since a time is among the newest
  if (onlySlots && filter.to === undefined)
    return `WHERE EXISTS (SELECT 1 FROM ona_inspect_conversations i JOIN ona_inspect_activity a ON a.number = i.number
      WHERE i.id = c.id ${slots})`
  if (group === undefined) return 'WHERE id IN (SELECT id FROM chosen)'
  if (filter.project !== undefined)
    return 'WHERE project_dir = ?2 AND EXISTS (SELECT 1 FROM ona_inspect_conversations i WHERE i.id = c.id)'
  const members = `SELECT i.number FROM ona_inspect_members m JOIN ona_inspect_conversations i ON i.number = m.number WHERE m.grp = ${group}`
  return countConversations(db, filter) <= fewConversations
    ? `WHERE id IN (${members.replace('i.number', 'i.id')})`
    : `WHERE EXISTS (${members} AND i.id = c.id)`
}

const fewConversations = 500

/** In the order given. */
export const conversationRows = (db: Db, ids: readonly string[]): ConversationRow[] =>
  ids.flatMap((id) => {
    const row = db.get<Omit<ConversationRow, 'title' | 'cost'> & { name: string | null; cost: number; priced: number }>(
      `SELECT c.id, (SELECT value FROM state WHERE conversation_id = c.id AND key = 'name') AS name,
         coalesce(i.agent, 'ona') AS agent, c.project_dir AS project, c.phase, c.last_active AS lastActive,
         coalesce(sum(a.calls), 0) AS calls, coalesce(sum(a.refused), 0) AS refused, coalesce(sum(a.cost), 0) AS cost,
         coalesce(sum(a.priced), 0) AS priced
       FROM conversations c LEFT JOIN ona_inspect_conversations i ON i.id = c.id
       LEFT JOIN ona_inspect_activity a ON a.number = i.number WHERE c.id = ? GROUP BY c.id`,
      id,
    )
    if (!row) return []
    const { name, cost, priced, ...rest } = row
    return [{ ...rest, title: redact(name || firstPrompt(db, id)), cost: priced === 0 ? null : cost }]
  })

/** The beginning of what was first asked for; '' where it is in an archive that is not open. */
export function firstPrompt(db: ReadDb, conversation: string): string {
  const row = db.get<{ payload: string }>(
    `SELECT payload_json AS payload FROM transcript_entries WHERE session_id = (
       SELECT session_id FROM sessions s WHERE conversation_id = ? AND NOT EXISTS
         (SELECT 1 FROM ona_subagents a WHERE a.session_id = s.session_id) ORDER BY rowid LIMIT 1)
       AND entry_type = 'user' ORDER BY sequence LIMIT 1`,
    conversation,
  )
  const { content } = parsed(row?.payload ?? null)
  const block = Array.isArray(content) ? content.find((each) => isObject(each) && typeof each['text'] === 'string') : ''
  const text = isObject(block) ? String(block['text']) : ''
  return text.trim().split('\n', 1)[0]!.slice(0, 200)
}

/** What a filter can be set to. */
export const choices = (db: Db, isFleet: boolean): Choices => ({
  agents: names(db, `${differing('agent', 'ona_inspect_conversations')} SELECT name FROM found WHERE name IS NOT NULL`),
  projects: names(
    db,
    `${differing('project_dir', 'conversations')} SELECT name FROM found WHERE name <> ''
     ORDER BY (SELECT max(last_active) FROM conversations WHERE project_dir = name) DESC LIMIT 200`,
  ),
  hooks: names(
    db,
    `SELECT name FROM ona_inspect_names WHERE id IN (SELECT hook FROM ona_inspect_hooks WHERE number = ${everything})
     ORDER BY 1 LIMIT 200`,
  ),
  nodes: isFleet ? names(db, 'SELECT DISTINCT node AS name FROM ona_fleet_conversations ORDER BY 1 LIMIT 2000') : [],
  teams: isFleet
    ? names(db, "SELECT DISTINCT team AS name FROM ona_fleet_conversations WHERE team <> '' ORDER BY 1 LIMIT 500")
    : [],
})

/** The values of a column, in order: one step of its index for each, however many rows there are. */
const differing = (column: string, table: string): string =>
  `WITH RECURSIVE found(name) AS (
     SELECT min(${column}) FROM ${table}
     UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > name) FROM found WHERE name IS NOT NULL)`

const names = (db: Db, sql: string): string[] => db.all<{ name: string }>(sql).map(({ name }) => name)
