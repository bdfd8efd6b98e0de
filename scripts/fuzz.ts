/**
 * Texts that nobody would write, at every door: `npm run test:fuzz -- 300 7` goes on for 300 seconds from seed 7. What fails is
 * saved in test/fixtures/fuzz/regressions.json, which the test suite plays from then on. Exit 1 when something failed.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { doors } from '../test/fuzz/doors.ts'
import { closeDoors, fuzz } from '../test/fuzz/run.ts'

const [seconds = '120', seed = String(Date.now() % 1_000_000), ...names] = process.argv.slice(2)
if (!/^\d+$/.test(seconds) || !/^\d+$/.test(seed)) {
  console.error('usage: npm run test:fuzz -- SECONDS SEED [DOOR…]')
  process.exit(2)
}
const file = join(import.meta.dirname, '../test/fixtures/fuzz/regressions.json')
const until = Date.now() + Number(seconds) * 1000
const wanted = Object.keys(doors).filter((door) => names.length === 0 || names.includes(door))
let cases = 0
let failures = 0

for (let round = 0; Date.now() < until && wanted.length > 0; round++) {
  for (const door of wanted) {
    if (Date.now() > until) break
    const count = /^(frames|requests) of/.test(door) ? 10 : 200
    const found = await fuzz(door, { from: Number(seed) * 1_000_000 + round * count, count })
    cases += count
    failures += found.length
    for (const { why, text } of found)
      console.log(`${door}: ${why.split('\n').slice(0, 4).join('\n  ')}\n  ${JSON.stringify(text).slice(0, 300)}`)
    keep(
      door,
      found.map(({ text }) => text),
    )
  }
}
console.log(`${cases} texts at ${wanted.length} doors from seed ${seed}: ${failures} failed`)
await closeDoors()
process.exit(failures > 0 ? 1 : 0)

/** At most three a door: the first shows the fault, the others are likely the same. */
function keep(door: string, texts: readonly string[]): void {
  if (texts.length === 0) return
  const known: Record<string, string[]> = JSON.parse(readFileSync(file, 'utf8'))
  const kept = known[door] ?? []
  const fresh = texts.filter((text) => !kept.includes(text)).sort((a, b) => a.length - b.length)
  known[door] = [...kept, ...fresh.slice(0, 3)]
  writeFileSync(file, `${JSON.stringify(known, null, 2)}\n`)
}
