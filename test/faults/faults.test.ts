/** The fault campaign in short; `npm run test:faults` is the long form, `ONA_TEST_FULL=1` one in between. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Tally, tallied } from '../support/campaign.ts'
import { sized } from '../support/campaign-size.ts'
import { killCampaign } from './kill.ts'
import { crowdCampaign, surroundingsCampaign } from './surroundings.ts'

function survived(tally: Tally): void {
  console.log(tallied(tally))
  assert.equal(tally.survived, tally.cases, tallied(tally))
}

test('killed at random moments of a busy session, nothing acknowledged is lost and it can be resumed', async () =>
  survived(await killCampaign(sized(3, 40))))

test('full disks, read-only files, locks, clocks, homes and paths are reported, and leave the database whole', async () =>
  survived(await surroundingsCampaign({ long: false, every: sized(2, 1) })))

test('two to eight processes on one database lose no update', async () =>
  survived(await crowdCampaign({ rounds: sized(1, 3) })))
