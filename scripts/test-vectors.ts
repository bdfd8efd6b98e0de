/** `npm run test:vectors -- FILE`: runs a file of step vectors against the plane. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RunTrace, runVector, type Vector } from '../test/hooks-vectors.ts'

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
  const runTrace = await traceRunner()
  let passed = 0
  const failed: string[] = []
  for (const vector of cases) {
    try {
      if (await runVector(vector, runTrace)) passed++
      else failed.push(`${vector.kind} ${vector.id}: there is no turn loop to run it`)
    } catch (cause) {
      failed.push(`${vector.kind} ${vector.id}: ${(cause as Error).message}`)
    }
  }
  for (const each of failed) console.log(`✖ ${each}`)
  console.log(`${passed} passed, ${failed.length} failed`)
  return failed.length === 0 ? 0 : 1
}

/** The turn loop's part of the traces. */
async function traceRunner(): Promise<RunTrace | undefined> {
  const path = join(import.meta.dirname, '../test/hooks-trace.ts')
  return existsSync(path) ? ((await import(path)) as { runTrace: RunTrace }).runTrace : undefined
}
