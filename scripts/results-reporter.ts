/**
 * A line of JSON for each test: what the rows of acceptance that name a test look up, instead of running it twice. By the file that
 * was run, not the one that a suite of tests is written in.
 */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

export default async function* results(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.skip) continue
    const file = (data as { entryFile?: string }).entryFile ?? data.file
    if (file === undefined) continue
    yield `${JSON.stringify({ file: relative('.', file), name: data.name, passed: type === 'test:pass' })}\n`
  }
}
