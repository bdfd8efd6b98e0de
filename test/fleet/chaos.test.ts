/** Workers are killed all the time, the service twice, the server is restarted: every job ends once, no row is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sized } from '../support/campaign-size.ts'
import { postgresForTests } from '../support/fleet.ts'
import { survive } from './chaos.ts'

const postgres = postgresForTests()
const full = process.env['ONA_CHAOS'] === 'full'
const chaos = full
  ? { workers: 8, jobs: 500, slots: 2, killEveryMs: 4000, limitMs: 60 * 60_000 }
  : { workers: sized(2, 3), jobs: sized(9, 30), slots: 2, killEveryMs: 2500, limitMs: 10 * 60_000 }

test('workers that are killed, and jobs that all end once', async (t) => {
  const url = await postgres.database()
  const { kills, restarts, seconds, ...found } = await survive(
    postgres.server(),
    url,
    chaos,
    (text) => full && t.diagnostic(text),
  )
  t.diagnostic(`${kills} workers killed, ${restarts} jobs given out again, ${seconds} s`)
  const none = { twice: 0, lost: 0, doubled: 0, faults: 0, brokenChains: 0 }
  assert.deepEqual(found, { ended: chaos.jobs, done: chaos.jobs, outcomes: chaos.jobs, ...none })
})
