/**
 * Loaded before each test file in place of node:test, by a query of its own: with `left`, the path of what this run leaves out, its
 * `test` skips those tests; with `costs`, a folder, it writes what each test costs there.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { test as each, type TestContext } from 'node:test'
import { cpuMs } from './cpu-time.ts'
import type { Sample } from './test-sample.ts'

export { after, afterEach, before, beforeEach, describe, it, mock, run, snapshot, suite } from 'node:test'

/** Why a test was skipped. */
export const leftOut = 'not in this sample'

type Body = (t: TestContext) => void | Promise<void>

const { searchParams } = new URL(import.meta.url)
const [path, costs] = [searchParams.get('left'), searchParams.get('costs')]
const file = relative('.', process.argv[1] ?? '')
const left = path === null ? [] : ((JSON.parse(readFileSync(path, 'utf8')) as Sample)[file] ?? [])
export const test = (left.length === 0 && costs === null ? each : replaced()) as typeof each
if (test !== each)
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'node:test' ? { url: import.meta.url, shortCircuit: true } : next(specifier, context),
  })

function replaced() {
  const test = (name: string, ...rest: [object, Body] | [Body]) => {
    const options = rest.length === 2 ? rest[0] : {}
    const body = rest.at(-1) as Body
    return each(
      name,
      left.includes(name) ? { ...options, skip: leftOut } : options,
      costs === null ? body : timed(name, body),
    )
  }
  return Object.assign(test, each)
}

/** With the children that it waited for. */
const timed =
  (name: string, body: Body): Body =>
  async (t) => {
    const before = cpuMs() ?? 0
    try {
      await body(t)
    } finally {
      const cost = { file, name, ms: (cpuMs() ?? 0) - before }
      appendFileSync(`${costs}/costs.jsonl`, `${JSON.stringify(cost)}\n`)
    }
  }
