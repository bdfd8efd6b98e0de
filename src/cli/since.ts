/** `--since 30d`: how commands name a time in the past. */

/** Milliseconds since 1970; undefined for what is no time. Takes 12h, 30d, 2w, or a date such as 2026-10-15. */
export function sinceMs(text: string, nowMs = Date.now()): number | undefined {
  const [, count, unit] = /^(\d{1,6})([hdw])$/.exec(text) ?? []
  const hours = { h: 1, d: 24, w: 168 }[unit ?? '']
  const ms = hours ? nowMs - Number(count) * hours * 3_600_000 : /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(new Date(ms).getTime()) ? undefined : ms
}

export const sinceProblem = (text: string): string =>
  `--since takes 30d, 12h, 2w or a date such as 2026-10-15, not "${text}"`

/** As the database writes times: `2026-10-15 00:00:00`. */
export const sqlTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
