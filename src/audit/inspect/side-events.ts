/** What the transcript does not hold (events, hooks outside calls, sub-agents), and where it belongs in it. */
import { redact } from '../../hooks/secrets/redact.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { ReadDb } from '../../store/open.ts'
import { type HookRow, hookAnswer, hookColumns, second } from './hook-answer.ts'
import type { AgentItem, EntryRow, Item, PlanItem, Session } from './timeline-items.ts'

/** Both streams of a session, each read as far as the transcript has been. */
export interface SideEvents {
  readonly db: ReadDb
  readonly events: Ahead<EventRow>
  readonly hooks: Ahead<HookRow>
  agent(session: string): AgentItem
}

/** Those of this second and later ones; `since` is '' for all. */
export const openSideEvents = (
  db: ReadDb,
  session: Session,
  since: string,
  agent: SideEvents['agent'],
): SideEvents => ({
  db,
  events: new Ahead(eventsOf(db, session, since)),
  hooks: new Ahead(freeHooks(db, session, since)),
  agent,
})

interface EventRow {
  readonly id: number
  readonly type: string
  readonly at: string
  readonly detail: string | null
  /** The first event of a sub-agent: that is where it began. */
  readonly agent: string | null
}

/** By index, a page of each type at a time: nothing is sorted, and between pages nothing of the file is held. */
function* eventsOf(
  db: ReadDb,
  { id, conversationId, firstEvent, nextEvent }: Session,
  since: string,
): Generator<EventRow> {
  const columns = 'SELECT id, event_type AS type, timestamp AS at, detail, NULL AS agent FROM events'
  const from = { since, time: ({ at }: EventRow) => at }
  const ofType = (type: string) =>
    paged<EventRow>(
      (after, most) =>
        db.all(
          `${columns} WHERE session_id = ? AND event_type = ? AND id > ? ORDER BY id LIMIT ?`,
          ...[id, type, after, most],
        ),
      from,
    )
  const outside = paged<EventRow>(
    (after, most) =>
      db.all(
        `${columns} WHERE conversation_id = ? AND session_id IS NULL AND id >= ? AND id < ? AND id > ? ORDER BY id LIMIT ?`,
        ...[conversationId, firstEvent, nextEvent, after, most],
      ),
    from,
  )
  const first =
    'SELECT id, event_type AS type, timestamp AS at, detail FROM events WHERE session_id = ? ORDER BY id LIMIT 1'
  const agents = db
    .all<{ agent: string }>('SELECT session_id AS agent FROM ona_subagents WHERE parent_session_id = ?', id)
    .flatMap(({ agent }): EventRow[] => {
      const row = db.get<Omit<EventRow, 'agent'>>(first, agent)
      return row ? [{ ...row, agent }] : []
    })
    .sort((a, b) => a.id - b.id)
  const later = agents.filter(({ at }) => at >= since).values()
  const streams = [...typesOf(db, id).map(ofType), outside, later].map((rows) => new Ahead(rows))
  for (;;) {
    let next: Ahead<EventRow> | undefined
    for (const stream of streams) if (stream.head && !(next?.head && next.head.id <= stream.head.id)) next = stream
    if (!next?.head) return
    const { head } = next
    next.next()
    yield head
  }
}

/** The types of events in a session: one step of the index for each. Not by min(), which reads all rows of a session that is archived. */
function typesOf(db: ReadDb, session: string): string[] {
  const types: string[] = []
  const sql =
    'SELECT event_type AS type FROM events WHERE session_id = ? AND event_type > ? ORDER BY event_type LIMIT 1'
  for (let last = ''; ; ) {
    const next = db.get<{ type: string }>(sql, session, last)
    if (!next) return types
    types.push(next.type)
    last = next.type
  }
}

const pageRows = 500

/** At most so many rows that follow an id, by their ids. */
type Read<Row> = (after: number, most: number) => readonly Row[]

interface From<Row> {
  readonly since: string
  time(row: Row): string
}

function* paged<Row extends { readonly id: number }>(read: Read<Row>, from: From<Row>): Generator<Row> {
  for (let after = from.since === '' ? 0 : lastBefore(read, from); ; ) {
    const rows = read(after, pageRows)
    yield* rows
    if (rows.length < pageRows) return
    after = rows.at(-1)!.id
  }
}

/** The last row of an earlier time, by bisection: later rows have larger ids. */
function lastBefore<Row extends { readonly id: number }>(read: Read<Row>, { since, time }: From<Row>): number {
  let [low, high] = [0, mostRows]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = read(middle, 1)[0]
    if (row && time(row) < since) low = row.id
    else high = middle
  }
  return low
}

/** More than any record has. Its largest id would have to be looked for in all rows, where some are archived. */
const mostRows = 2 ** 40

/** Hooks that were asked about no call. A session without a transcript was imported: all of its hooks are such. */
const freeHooks = (db: ReadDb, { id, entries }: Session, since: string): Iterator<HookRow> =>
  paged(
    (after, most) =>
      db.all<HookRow>(
        `SELECT ${hookColumns} FROM hook_invocations
         WHERE session_id = ? ${entries === 0 ? '' : 'AND tool_use_id IS NULL'} AND id > ? ORDER BY id LIMIT ?`,
        ...[id, after, most],
      ),
    { since, time: ({ startedAt }) => second(startedAt) },
  )

interface Around {
  readonly before: Item[]
  /** What happened while the call ran whose result this is. */
  readonly during: Item[]
  readonly agents: AgentItem[]
}

/**
 * What belongs before an entry. Times are whole seconds, so that within one the kinds decide: a reply is an entry and an
 * event `model_reply`, and a call that runs leaves `tool_start`. These two are met on the way and tell where we are.
 */
export function around(sideEvents: SideEvents, { type, at, toolUseId, sequence }: EntryRow): Around {
  const { events, hooks } = sideEvents
  const found: Around = { before: [], during: [], agents: [] }
  let started = false
  for (let event = events.head; event && event.at <= at; event = events.head) {
    const isMark = event.type === 'model_reply' || event.type === 'tool_start'
    const own =
      event.type === 'tool_start' && type === 'tool_result' && event.detail?.includes(`"${toolUseId}"`) === true
    if (isMark && !own && event.at === at && event.agent === null) {
      if (type === 'assistant' && event.type === 'model_reply') events.next()
      break
    }
    if (isMark && !own && started && event.agent === null) break
    events.next()
    if (own) started = true
    else if (event.agent !== null && started) found.agents.push(sideEvents.agent(event.agent))
    else found[started ? 'during' : 'before'].push(...eventItems(sideEvents, event))
  }
  const ended: Item[] = []
  const begun: Item[] = []
  for (let hook = hooks.head; hook; hook = hooks.head) {
    const time = second(hook.startedAt)
    const place = hookPlaces[hook.event]
    const fits = place === type || (type === 'user' && sequence > 0 && begun.length === 0)
    if (time > at || (time === at && !fits)) break
    hooks.next()
    ;(place === undefined ? ended : begun).push({ kind: 'hook', tool: hook.toolName, ...hookAnswer(hook) })
  }
  // Within a second: the end of a turn, what came between, the beginning of the next.
  const before = [...ended, ...found.before, ...begun].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return { ...found, before }
}

/** Which entry follows on these; the others come at the end of a turn. */
const hookPlaces: Record<string, string> = {
  ...{ SessionStart: 'user', Setup: 'user', InstructionsLoaded: 'user', UserPromptSubmit: 'user' },
  ...{ after_session_enter: 'user', after_turn_enter: 'user', before_ingest: 'user' },
  ...{ after_ingest: 'assistant', before_generate: 'assistant', after_generate: 'assistant' },
}

/** What is left when the transcript ends, by time. */
export function* remaining(sideEvents: SideEvents): Generator<Item> {
  const { events, hooks } = sideEvents
  for (;;) {
    const { head: event } = events
    const { head: hook } = hooks
    if (event && (!hook || event.at <= second(hook.startedAt))) {
      events.next()
      yield* eventItems(sideEvents, event)
    } else if (hook) {
      hooks.next()
      yield { kind: 'hook', tool: hook.toolName, ...hookAnswer(hook) }
    } else return
  }
}

function* eventItems({ db, agent: agentItem }: SideEvents, { type, at, detail, agent }: EventRow): Generator<Item> {
  if (agent !== null) yield agentItem(agent)
  if (agent !== null || silent.includes(type)) return
  const facts = parsed(detail)
  const text = (key: string) => (typeof facts[key] === 'string' ? redact(facts[key]) : '')
  if (type === 'phase') yield { kind: 'phase', at, from: text('from'), to: text('to'), by: text('by') }
  else if (Object.hasOwn(planWords, type)) {
    const plan = typeof facts['plan'] === 'number' ? facts['plan'] : null
    const sql = 'SELECT content FROM plans WHERE id = ?'
    const content = type === 'plan_draft' && plan !== null ? db.get<{ content: string }>(sql, plan)?.content : undefined
    yield { kind: 'plan', at, what: planWords[type]!, plan, by: text('by'), content: redact(content ?? '') }
  } else if (type === 'turn_end') {
    if (facts['stop'] !== 'end_turn' || text('why') !== '')
      yield { kind: 'note', at, about: `the turn ended: ${text('stop')}`, text: text('why') }
  } else yield { kind: 'note', at, about: type.replaceAll('_', ' '), text: redact(factLine(facts) || (detail ?? '')) }
}

/** `key: value · key: value`. */
export function factLine(facts: JsonObject): string {
  const said = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.entries(facts)
    .map(([key, value]) => `${key}: ${said(value)}`)
    .join(' · ')
}

const silent = ['model_reply', 'tool_start', 'implementation_complete']
const planWords: Record<string, PlanItem['what']> = {
  plan_draft: 'drafted',
  plan_approved: 'approved',
  sign_off: 'signed off',
}

/** A stream whose next value can be looked at first. */
class Ahead<T> {
  head: T | undefined
  readonly #rows: Iterator<T>
  constructor(rows: Iterator<T>) {
    this.#rows = rows
    this.next()
  }
  next(): void {
    const { value, done } = this.#rows.next()
    this.head = done ? undefined : value
  }
}

/** Rows may come from elsewhere: what is no object tells nothing. */
export function parsed(json: string | null): JsonObject {
  try {
    const value = JSON.parse(json ?? '{}')
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
