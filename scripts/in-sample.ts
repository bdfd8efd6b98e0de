/**
 * Loaded before each test file of a sampled run, with the path of the shares in the query. A file that has a share imports
 * this module in place of node:test, so that its `test` skips what is not in the share.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { test as each } from 'node:test'
import type { Sample, Share } from './test-sample.ts'

export { after, afterEach, before, beforeEach, describe, it, mock, run, snapshot, suite } from 'node:test'

/** Why a test was skipped. */
export const leftOut = 'not in this sample'

const path = new URL(import.meta.url).searchParams.get('shares')
const shares: Sample['shares'] = path === null ? {} : JSON.parse(readFileSync(path, 'utf8'))
const share = shares[relative('.', process.argv[1] ?? '')]
export const test = share === undefined ? each : some(share)
if (share !== undefined)
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'node:test' ? { url: import.meta.url, shortCircuit: true } : next(specifier, context),
  })

function some({ step, first, always, isNamed }: Share): typeof each {
  const patterns = always.map((pattern) => new RegExp(pattern))
  let count = 0
  const test = (name: string, ...rest: [object, () => void] | [() => void]) => {
    const index = count++
    const isIn = index % step === first || (isNamed && index === 0) || patterns.some((pattern) => pattern.test(name))
    const options = rest.length === 2 ? rest[0] : {}
    return each(name, isIn ? options : { ...options, skip: leftOut }, rest.at(-1) as () => void)
  }
  return Object.assign(test, each) as typeof each
}
