/** `npm run test:faults [-- KILLS]`: the long fault campaign, with the number of cases and survivals of each part. */
import { killCampaign } from '../test/faults/kill.ts'
import { crowdCampaign, surroundingsCampaign } from '../test/faults/surroundings.ts'
import { type Tally, tallied } from '../test/support/campaign.ts'

const kills = Number(process.argv[2] ?? 1000)
const progress = (name: string) => (done: number) => {
  if (process.stderr.isTTY) process.stderr.write(`\r${name}: ${done} `)
}
const parts: [string, (onCase: (done: number) => void) => Promise<Tally>][] = [
  ['surroundings', (onCase) => surroundingsCampaign({ long: true }, onCase)],
  ['crowds', (onCase) => crowdCampaign({ rounds: 21 }, onCase)],
  ['kills', (onCase) => killCampaign(kills, onCase)],
]

let lost = 0
for (const [name, run] of parts) {
  const tally = await run(progress(name))
  if (process.stderr.isTTY) process.stderr.write('\r')
  console.log(tallied(tally))
  lost += tally.cases - tally.survived
}
process.exitCode = lost > 0 ? 1 : 0
