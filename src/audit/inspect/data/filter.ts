/** Which conversations an overview is about. The same filter chooses the list, the sums and the results of a search. */
import type { SqlValue } from '../../../store/open.ts'
import type { GroupKind } from './groups.ts'
import { everything, slotSeconds } from './tables.ts'

export interface Filter {
  readonly agent?: string
  readonly project?: string
  /** Only conversations in which something was denied. */
  readonly refused?: boolean
  /** Only conversations in which this hook ran. */
  readonly hook?: string
  /** Seconds since 1970; what happened before or after is not counted. */
  readonly from?: number
  readonly to?: number
  /** Of a fleet's record: only conversations of this node, or of this team. */
  readonly node?: string
  readonly team?: string
}

/** Reads a filter from an address. What is not a number is no limit. */
export function filterFrom(asked: URLSearchParams, isFleet = false): Filter {
  const text = (name: string) => asked.get(name) || undefined
  const seconds = (name: string) => {
    const value = Number(asked.get(name) || Number.NaN)
    return Number.isFinite(value) ? Math.floor(value) : undefined
  }
  return {
    ...{ agent: text('agent'), project: text('project'), hook: text('hook') },
    ...{ refused: asked.get('refused') === '1', from: seconds('from'), to: seconds('to') },
    ...(isFleet && { node: text('node'), team: text('team') }),
  }
}

export interface Scope {
  /** `WITH chosen AS …`. `?1` to `?7` are taken, in every statement. */
  readonly with: string
  /** A condition on `number`, with `AND` in front. */
  readonly numbers: string
  /** The same for the activity, which is found by its time as well. */
  readonly active: string
  /** A condition on `slot`, with `AND` in front. */
  readonly slots: string
  readonly values: readonly SqlValue[]
  /** SQL for the number of the group that it is about; undefined where the conversations are looked at one by one. */
  readonly group: string | undefined
  /** The slots that it is about, and nothing else. */
  readonly onlySlots: { readonly first: number; readonly last: number } | undefined
}

export function scopeOf({ agent, project, refused = false, hook, from, to, node, team }: Filter): Scope {
  const first = from === undefined ? 0 : Math.floor(from / slotSeconds)
  const last = to === undefined ? 2 ** 40 : Math.floor(to / slotSeconds)
  const isTimed = from !== undefined || to !== undefined
  const slots = isTimed ? 'AND slot BETWEEN ?4 AND ?5' : ''
  const conditions = [
    agent !== undefined && 'agent = ?1',
    project !== undefined && 'i.id IN (SELECT id FROM conversations WHERE project_dir = ?2)',
    hook !== undefined &&
      `EXISTS (SELECT 1 FROM ona_inspect_hooks h WHERE h.number = i.number ${slots} AND h.hook = (SELECT id FROM ona_inspect_names WHERE name = ?3))`,
    refused && `EXISTS (SELECT 1 FROM ona_inspect_activity a WHERE a.number = i.number ${slots} AND a.refused > 0)`,
    node !== undefined && `${ofFleet} AND f.node = ?6)`,
    team !== undefined && `${ofFleet} AND f.team = ?7)`,
    isTimed && `number IN (SELECT number FROM ona_inspect_activity a WHERE 1 ${slots})`,
  ].filter((each) => each !== false)
  const groups = [
    agent !== undefined && groupNamed('agent', '?1'),
    project !== undefined && groupNamed('project', '?2'),
    hook !== undefined && groupNamed('hook', '?3'),
    refused && groupNamed('refused', "''"),
  ].filter((each) => each !== false)
  const group = conditions.length === 0 ? String(everything) : conditions.length === 1 ? groups[0] : undefined
  const onlySlots = isTimed && conditions.length === 1 ? { first, last } : undefined
  const numbers = group === undefined ? 'AND number IN (SELECT number FROM chosen)' : `AND number = ${group}`
  return {
    with: `WITH given AS (SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7), chosen AS MATERIALIZED (
      SELECT number, id FROM ona_inspect_conversations i ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`})`,
    numbers,
    active: onlySlots ? `AND number > ${everything}` : numbers,
    slots,
    values: [agent ?? null, project ?? null, hook ?? null, first, last, node ?? null, team ?? null],
    group,
    onlySlots,
  }
}

/** NULL, which no row has, where there is no such group. */
const groupNamed = (kind: GroupKind, name: string): string =>
  `(SELECT number FROM ona_inspect_groups WHERE kind = '${kind}' AND name = ${name})`

const ofFleet = 'EXISTS (SELECT 1 FROM ona_fleet_conversations f WHERE f.id = i.id'
