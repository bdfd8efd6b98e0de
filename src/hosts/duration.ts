/** How long a hook may take: ISO 8601 text ("PT1M30S") or an object ({ minutes: 1, seconds: 30 }), one meaning. */
import { Problem } from '../files/problem.ts'

export type IsoDuration = string | DurationParts

export interface DurationParts {
  readonly weeks?: number
  readonly days?: number
  readonly hours?: number
  readonly minutes?: number
  readonly seconds?: number
  readonly milliseconds?: number
}

/** The duration in milliseconds. Years and months have no fixed length and are refused. */
export function durationMs(duration: IsoDuration): number {
  const parts = typeof duration === 'string' ? partsOf(duration) : checked(duration)
  let ms = 0
  for (const [unit, amount] of Object.entries(parts)) ms += amount * unitMs[unit as keyof DurationParts]
  // 0.1 + 0.2 is not 0.3, and a millisecond is the smallest thing that any agent counts in
  ms = Math.round(ms)
  if (ms <= 0)
    throw new Problem(`the duration ${shown(duration)} is not longer than nothing; say PT30S or { seconds: 30 }`)
  if (!Number.isSafeInteger(ms)) throw new Problem(`the duration ${shown(duration)} is too long`)
  return ms
}

/** The one spelling that we write: whole seconds where they are whole, as in "PT90S" and "PT0.5S". */
export const durationText = (ms: number): string => `PT${ms / 1000}S`

const unitMs: Record<keyof DurationParts, number> = {
  weeks: 604_800_000,
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
}

const pattern =
  /^P(?=[\dT])(?:(\d+(?:[.,]\d+)?)W)?(?:(\d+(?:[.,]\d+)?)D)?(?:T(?=\d)(?:(\d+(?:[.,]\d+)?)H)?(?:(\d+(?:[.,]\d+)?)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/

function partsOf(text: string): DurationParts {
  const match = pattern.exec(text)
  if (!match) {
    const calendar = /^P\d+[YM]/.test(text) ? ' (years and months have no fixed length)' : ''
    throw new Problem(`"${text}" is not an ISO 8601 duration${calendar}; say PT30S, PT5M or { seconds: 30 }`)
  }
  const [weeks, days, hours, minutes, seconds] = match
    .slice(1)
    .map((digits) => Number((digits ?? '0').replace(',', '.')))
  return { weeks: weeks!, days: days!, hours: hours!, minutes: minutes!, seconds: seconds! }
}

function checked(parts: DurationParts): DurationParts {
  for (const [unit, amount] of Object.entries(parts)) {
    if (!Object.hasOwn(unitMs, unit))
      throw new Problem(`a duration has no "${unit}"; its units are ${Object.keys(unitMs).join(', ')}`)
    if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0)
      throw new Problem(`${unit} of the duration ${shown(parts)} must be a number from 0 up`)
  }
  return parts
}

const shown = (duration: IsoDuration) => (typeof duration === 'string' ? `"${duration}"` : JSON.stringify(duration))
