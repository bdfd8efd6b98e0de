/** Sends what is new on record to the collector when a session ends; for a few seconds at most. */
import type { Session } from '../../agent/session/session.ts'
import { contentChoice, ship } from '../../audit/otel/ship.ts'
import { warned } from '../print.ts'

const mostMs = 2000

export async function flush({ db, runtime: { env } }: Session): Promise<void> {
  const options = { ...contentChoice(env), timeoutMs: mostMs / 2, signal: AbortSignal.timeout(mostMs) }
  const { problem } = await ship(db, env, options)
  if (problem !== undefined) warned(`telemetry: the collector took no more: ${problem}; the rest is sent the next time`)
}
