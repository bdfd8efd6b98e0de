/** The short form of the fuzzing: what once failed, and a few hundred texts at every door. `npm run test:fuzz` is the long one. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sized } from '../support/campaign-size.ts'
import { doors } from './doors.ts'
import { closeDoors, fuzz } from './run.ts'

/** Doors behind which a process has to be started or asked take fewer. */
const slow: Readonly<Record<string, number>> = {
  'frames of an MCP server': 10,
  'requests to our MCP server': 60,
  'requests of an editor (ACP)': 60,
}
const regressions: Record<string, readonly string[]> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/fuzz/regressions.json'), 'utf8'),
)

after(closeDoors)

for (const door of Object.keys(doors)) {
  const count = Math.ceil((slow[door] ?? (door.startsWith('history of') ? 25 : 200)) / sized(8, 1))
  const known = regressions[door] ?? []
  test(`${door}: ${count} texts and ${known.length} that once failed`, async () => {
    assert.deepEqual(await fuzz(door, { from: 1, count }), [])
    assert.deepEqual(await fuzz(door, { texts: known }), [])
  })
}

test('every regression has its door', () => {
  assert.deepEqual(
    Object.keys(regressions).filter((door) => !Object.hasOwn(doors, door)),
    [],
  )
})
