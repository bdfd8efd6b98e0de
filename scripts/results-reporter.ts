/**
 * A line of JSON per test as it ends, by the file that was run and not the one that a shared suite is written in; then one per
 * file with its duration, and one at the end. Acceptance rows that name a test look it up here instead of running it again.
 */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

export type Result =
  | { readonly file: string; readonly name: string; readonly passed: boolean }
  | { readonly file: string; readonly ms: number; readonly crashed?: true }
  | { readonly ended: true }

export default async function* results(events: AsyncIterable<TestEvent>) {
  for await (const event of events) {
    const result = resultOf(event)
    if (result) yield `${JSON.stringify(result)}\n`
  }
}

function resultOf({ type, data }: TestEvent): Result | undefined {
  if (type === 'test:summary') return data.file === undefined ? { ended: true } : undefined
  if (type !== 'test:complete') return undefined
  const at = (data as { entryFile?: string }).entryFile ?? data.file
  if (at === undefined || data.skip) return undefined
  const file = relative('.', at)
  const { duration_ms, passed, error } = data.details
  if (data.nesting > 0 || relative('.', data.name) !== file) return { file, name: data.name, passed }
  const crashed = !passed && (error as { failureType?: string }).failureType !== 'subtestsFailed'
  return { file, ms: Math.round(duration_ms ?? 0), ...(crashed && { crashed }) }
}
