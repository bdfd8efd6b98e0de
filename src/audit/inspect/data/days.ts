/** Activity by day, in local time: a server is asked for all days at every look, so that they are summed as rows are read. */
import type { Db } from '../../../store/open.ts'
import type { Day } from './shapes.ts'
import { cursor, everything, inBatch, type Schema, setCursor, slotSeconds } from './tables.ts'

type Sum = Omit<Day, 'day'>

/** `2026-11-15` */
export function dayOf(slot: number): string {
  const date = new Date(slot * slotSeconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** The slot that the day of a slot begins with, or one so many days later. */
function dayStart(slot: number, later = 0): number {
  const date = new Date(slot * slotSeconds * 1000)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + later).getTime() / 1000 / slotSeconds
}

/** Adds to a day that is kept. */
export function addDay(db: Db, group: number, { day, calls, refused, cost }: Day): void {
  db.run(
    `INSERT INTO ona_inspect_days(zone, number, day, calls, refused, cost) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, refused = refused + excluded.refused, cost = cost + excluded.cost`,
    ...[zone(), group, day, calls, refused, cost],
  )
}

/** Days are summed again, once, when the time zone has changed. */
export function keepDays(db: Db, schema: Schema): void {
  if (isKept(db)) return
  inBatch(db, schema, () => {
    if (isKept(db)) return
    db.run('DELETE FROM ona_inspect_days')
    db.run("DELETE FROM ona_inspect_cursor WHERE name LIKE 'days of %'")
    for (const day of sumDays(db, ofAll, [])) addDay(db, everything, day)
    for (const { number } of db.all<{ number: number }>('SELECT number FROM ona_inspect_groups'))
      for (const day of sumDays(db, ofMembers, [number])) addDay(db, number, day)
    setCursor(db, cursorName(), 1)
  })
}

const ofAll = `WHERE number > ${everything}`
const ofMembers = 'WHERE number IN (SELECT number FROM ona_inspect_members WHERE grp = ?)'

/** Of a group, or of all conversations, the oldest first. */
export function daysOf(db: Db, group: number | null): Day[] {
  if (!isKept(db)) return group === everything ? sumDays(db, ofAll, []) : sumDays(db, ofMembers, [group])
  return db.all<Day>(
    'SELECT day, calls, refused, cost FROM ona_inspect_days WHERE zone = ? AND number = ? ORDER BY day',
    zone(),
    group,
  )
}

/** Of all conversations, from a slot to another. Days that are part of it as a whole are those that are kept. */
export function daysBetween(db: Db, from: number, to: number): Day[] {
  const [first, last] = [from, to].map((slot) => Math.max(0, Math.min(slot, latestSlot))) as [number, number]
  const between = (begin: number, end: number) => sumDays(db, `${ofAll} AND slot >= ? AND slot < ?`, [begin, end])
  const [second, newest] = [dayStart(first, 1), dayStart(last)]
  if (second >= newest || !isKept(db)) return between(first, last + 1)
  const whole = db.all<Day>(
    'SELECT day, calls, refused, cost FROM ona_inspect_days WHERE zone = ? AND number = ? AND day >= ? AND day < ? ORDER BY day',
    ...[zone(), everything, dayOf(second), dayOf(newest)],
  )
  return [...between(first, second), ...whole, ...between(newest, last + 1)]
}

/** Dates end soon after it. */
const latestSlot = 2 ** 33

/** `where` chooses rows of the activity. */
export function sumDays(db: Db, where: string, values: Parameters<Db['all']>[1][], chosen = ''): Day[] {
  const days: { -readonly [K in keyof Day]: Day[K] }[] = []
  let end = -Infinity
  for (const { slot, calls, refused, cost } of db.all<Sum & { slot: number }>(
    `${chosen} SELECT slot, sum(calls) AS calls, sum(refused) AS refused, sum(cost) AS cost
     FROM ona_inspect_activity ${where} GROUP BY slot ORDER BY slot`,
    ...values,
  )) {
    if (slot >= end) {
      days.push({ day: dayOf(slot), calls: 0, refused: 0, cost: 0 })
      end = dayStart(slot, 1)
    }
    const day = days.at(-1)!
    day.calls += calls
    day.refused += refused
    day.cost += cost
  }
  return days
}

const isKept = (db: Db): boolean => cursor(db, cursorName()) === 1
const cursorName = (): string => `days of ${zone()}`
const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
