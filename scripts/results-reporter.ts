/**
 * A line of JSON per test as it ends, by the file that was run and not the one that a shared suite is written in; then one per
 * file with its duration and CPU time, and one at the end. Acceptance rows that name a test look it up here instead of running
 * it again.
 */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

export type Result = TestResult | FileResult | { readonly ended: true }

export interface TestResult {
  readonly file: string
  readonly name: string
  readonly passed: boolean
}

export interface FileResult {
  readonly file: string
  readonly ms: number
  /** Of its process and the children of it, where the system reports that. */
  readonly cpuMs?: number
  readonly crashed?: true
}

export async function* results(events: AsyncIterable<TestEvent>, cpuMsOf: (file: string) => number | undefined) {
  for await (const event of events) {
    const result = resultOf(event, cpuMsOf)
    if (result) yield result
  }
}

function resultOf({ type, data }: TestEvent, cpuMsOf: (file: string) => number | undefined): Result | undefined {
  if (type === 'test:summary') return data.file === undefined ? { ended: true } : undefined
  if (type !== 'test:complete') return undefined
  const at = (data as { entryFile?: string }).entryFile ?? data.file
  if (at === undefined || data.skip) return undefined
  const file = relative('.', at)
  const { duration_ms, passed, error } = data.details
  if (data.nesting > 0 || relative('.', data.name) !== file) return { file, name: data.name, passed }
  const crashed = !passed && (error as { failureType?: string }).failureType !== 'subtestsFailed'
  const cpuMs = cpuMsOf(at)
  return {
    file,
    ms: Math.round(duration_ms ?? 0),
    ...(cpuMs !== undefined && { cpuMs }),
    ...(crashed && { crashed }),
  }
}
