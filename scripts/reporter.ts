/** Prints what failed, in full and as it happens, and the totals; a passing test takes no line. */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import { type Batches, batchedFile, isOnlyItsTests } from './test-batch.ts'

/** `onFailure` gets a line for the list at the end, which a reader sees without scrolling. */
export async function* report(
  events: AsyncIterable<TestEvent>,
  batches: Batches,
  onFailure: (line: string) => void,
): AsyncGenerator<string> {
  const ended = new Set<string>()
  // the suite that a batch makes of each file is none; where it fails by itself it counts as a test that failed
  const extra = { suites: 0, tests: 0, fail: 0 }
  for await (const { type, data } of events) {
    if (type === 'test:complete') {
      const file = batchedFile(batches, data)
      if (file !== undefined) ended.add(file)
      for (const lost of (batches.get(data.name) ?? []).filter((each) => !ended.has(each))) {
        onFailure(`${lost} did not end: the process that it shares with other files ended before it`)
        yield `\n✖ ${lost} did not end; its process, shared with other files, did\n`
      }
    }
    if ((type === 'test:pass' || type === 'test:fail') && batchedFile(batches, data) !== undefined) {
      if (type === 'test:fail' && !isOnlyItsTests(data.details.error)) {
        onFailure(`${data.name} ${String((data.details.error.cause as Error).message).split('\n')[0]}`)
        yield `\n✖ ${data.name}\n${inspect(data.details.error.cause)}\n`
        extra.tests--
        extra.fail--
      }
      extra.suites++
      continue
    }
    if (type === 'test:fail' && data.details.error.cause !== undefined && data.details.type !== 'suite') {
      const at = placeOf(data)
      onFailure(`${relative('.', at)} ${data.name}`)
      yield `\n✖ ${data.name}\n  ${at}\n${inspect(data.details.error.cause)}\n`
    }
    if (type === 'test:stderr' || type === 'test:stdout') yield data.message
    if (type === 'test:diagnostic' && data.nesting === 0)
      yield `ℹ ${data.message.replace(/^(suites|tests|fail) (\d+)$/, (_, word: keyof typeof extra, count) => `${word} ${count - extra[word]}`)}\n`
  }
}

/** Where a test is written; in a sampled run a test is called by in-sample.ts, and only its file is known. */
function placeOf(data: { file?: string | undefined; line?: number | undefined }): string {
  const { entryFile = '' } = data as { entryFile?: string }
  return data.file?.endsWith('in-sample.ts') ? entryFile : `${data.file}:${data.line}`
}
