/** Prints what failed, in full and as it happens, and the totals; a passing test takes no line. */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

/** `onFailure` gets a line for the list at the end, which a reader sees without scrolling. */
export async function* report(events: AsyncIterable<TestEvent>, onFailure: (line: string) => void) {
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.details.error.cause !== undefined && data.details.type !== 'suite') {
      onFailure(`${relative('.', data.file ?? '')}:${data.line} ${data.name}`)
      yield `\n✖ ${data.name}\n  ${data.file}:${data.line}\n${inspect(data.details.error.cause)}\n`
    }
    if (type === 'test:stderr' || type === 'test:stdout') yield data.message
    if (type === 'test:diagnostic' && data.nesting === 0) yield `ℹ ${data.message}\n`
  }
}
