/**
 * A line of JSON per test as it ends, by the file that was run and not the one that a shared suite is written in; then one per
 * file with its duration and CPU time, and one at the end. Acceptance rows that name a test look it up here instead of running
 * it again.
 */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { type Batches, batchedFile, isOnlyItsTests } from './test-batch.ts'

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

export async function* results(
  events: AsyncIterable<TestEvent>,
  batches: Batches,
  cpuMsOf: (file: string) => number | undefined,
): AsyncGenerator<Result> {
  // the file that a batch is at
  const current = new Map<string, string>()
  for await (const { type, data } of events) {
    if (type === 'test:summary' && data.file === undefined) yield { ended: true }
    if (type === 'test:dequeue') {
      const file = batchedFile(batches, data)
      if (file !== undefined) current.set(entryFileOf(data), file)
    }
    if (type !== 'test:complete' || data.skip || batches.has(data.name)) continue
    const entry = entryFileOf(data)
    const at = current.get(entry) ?? entry
    if (at === '') continue
    const file = relative('.', at)
    const { duration_ms, passed, error } = data.details
    if (relative('.', data.name) !== file || (data.nesting > 0 && !batches.has(entry))) {
      yield { file, name: data.name, passed }
      continue
    }
    const cpuMs = cpuMsOf(at)
    yield {
      file,
      ms: Math.round(duration_ms ?? 0),
      ...(cpuMs !== undefined && { cpuMs }),
      ...(!passed && !isOnlyItsTests(error as Error) && { crashed: true as const }),
    }
  }
}

const entryFileOf = (data: { file?: string | undefined }): string =>
  (data as { entryFile?: string }).entryFile ?? data.file ?? ''
