/** `npm run test:vectors -- FILE`: runs a file of step vectors against the plane. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runVector, type Vector } from '../test/hooks/vectors.ts'
import { runTrace } from '../test/support/hooks-trace.ts'

const [file = join(import.meta.dirname, '../test/fixtures/step-vectors.json')] = process.argv.slice(2)
process.exitCode = await main(file)

async function main(file: string): Promise<number> {
  let cases: Vector[]
  try {
    cases = (JSON.parse(readFileSync(file, 'utf8')) as { cases: Vector[] }).cases
    if (!Array.isArray(cases)) throw new Error('it has no list "cases"')
  } catch (cause) {
    console.error(`${file} is no file of vectors: ${(cause as Error).message}`)
    return 2
  }
  let passed = 0
  const failed: string[] = []
  for (const vector of cases) {
    try {
      await runVector(vector, runTrace)
      passed++
    } catch (cause) {
      failed.push(`${vector.kind} ${vector.id}: ${(cause as Error).message}`)
    }
  }
  for (const each of failed) console.log(`✖ ${each}`)
  console.log(`${passed} passed, ${failed.length} failed`)
  return failed.length === 0 ? 0 : 1
}
