/** Prints what failed, in full, and the totals; a passing test takes no line. */
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

export default async function* report(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.details.error.cause !== undefined && data.details.type !== 'suite') {
      yield `\n✖ ${data.name}\n  ${data.file}:${data.line}\n${inspect(data.details.error.cause)}\n`
    }
    if (type === 'test:stderr' || type === 'test:stdout') yield data.message
    if (type === 'test:diagnostic' && data.nesting === 0) yield `ℹ ${data.message}\n`
  }
}
