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

/** Adds to a day that is kept. */
export function addDay(db: Db, day: string, { calls, refused, cost }: Sum): void {
  db.run(
    `INSERT INTO ona_inspect_days(zone, day, calls, refused, cost) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, refused = refused + excluded.refused, cost = cost + excluded.cost`,
    ...[zone(), day, calls, refused, cost],
  )
}

/** Days are summed again, once, when the time zone has changed. */
export function keepDays(db: Db, schema: Schema): void {
  if (isKept(db)) return
  inBatch(db, schema, () => {
    if (isKept(db)) return
    db.run('DELETE FROM ona_inspect_days')
    db.run("DELETE FROM ona_inspect_cursor WHERE name LIKE 'days of %'")
    for (const { day, ...sum } of sumDays(db, `WHERE number <> ${everything}`, [])) addDay(db, day, sum)
    setCursor(db, cursorName(), 1)
  })
}

/** Of all conversations, the oldest first. */
export const allDays = (db: Db): Day[] =>
  isKept(db)
    ? db.all<Day>('SELECT day, calls, refused, cost FROM ona_inspect_days WHERE zone = ? ORDER BY day', zone())
    : sumDays(db, `WHERE number <> ${everything}`, [])

/** `where` chooses rows of the activity. */
export function sumDays(db: Db, where: string, values: Parameters<Db['all']>[1][], chosen = ''): Day[] {
  const byDay = new Map<string, Sum>()
  for (const { slot, calls, refused, cost } of db.all<Sum & { slot: number }>(
    `${chosen} SELECT slot, sum(calls) AS calls, sum(refused) AS refused, sum(cost) AS cost
     FROM ona_inspect_activity ${where} GROUP BY slot`,
    ...values,
  )) {
    const day = dayOf(slot)
    const sum = byDay.get(day) ?? { calls: 0, refused: 0, cost: 0 }
    byDay.set(day, { calls: sum.calls + calls, refused: sum.refused + refused, cost: sum.cost + cost })
  }
  return Array.from(byDay, ([day, sum]) => ({ day, ...sum })).sort((a, b) => (a.day < b.day ? -1 : 1))
}

const isKept = (db: Db): boolean => cursor(db, cursorName()) === 1
const cursorName = (): string => `days of ${zone()}`
const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
