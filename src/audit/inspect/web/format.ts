/** Numbers and times as users read them: their own time zone, their own language's separators. */

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`

export const dollars = (usd: number | null): string =>
  usd === null ? '–' : `$${usd.toFixed(usd !== 0 && usd < 1 ? 4 : 2)}`

export const short = (count: number): string =>
  count < 10_000 ? count.toLocaleString() : Intl.NumberFormat(undefined, { notation: 'compact' }).format(count)

/** The database's times are UTC: `2026-11-15 08:23:00`. */
export const dateOf = (utc: string): Date => new Date(`${utc.replace(' ', 'T')}Z`)

const sameDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const otherDay = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
const otherYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** As short as it can be said relative to now. */
export function when(utc: string, now = new Date()): string {
  const date = dateOf(utc)
  if (Number.isNaN(date.getTime())) return utc
  if (date.toDateString() === now.toDateString()) return sameDay.format(date)
  return (date.getFullYear() === now.getFullYear() ? otherDay : otherYear).format(date)
}

export const wholeTime = (utc: string): string =>
  dateOf(utc).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })

/** `in 3 h`, `in 12 min`, or `expired`. */
export function until(utc: string, now = Date.now()): string {
  const minutes = Math.ceil((dateOf(utc).getTime() - now) / 60_000)
  if (minutes <= 0) return 'expired'
  return minutes < 120 ? `expires in ${minutes} min` : `expires in ${Math.round(minutes / 60)} h`
}

/** Signs that turn the direction of writing around, or that cannot be seen, are spelt out. */
export const visible = (text: string): string =>
  text.replaceAll(
    /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]|\p{Surrogate}/gu,
    (sign) => `\\u${sign.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  )

export const milliseconds = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)
