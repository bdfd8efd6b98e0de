/** A line of JSON for each test: what the rows of acceptance that name a test look up, instead of running it twice. */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

export default async function* results(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events)
    if ((type === 'test:pass' || type === 'test:fail') && data.file !== undefined && !data.skip)
      yield `${JSON.stringify({ file: relative('.', data.file), name: data.name, passed: type === 'test:pass' })}\n`
}
