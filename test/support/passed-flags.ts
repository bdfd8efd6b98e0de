/** Proves that flags are passed to the program that tests start, and not only mentioned in them. */
import assert from 'node:assert/strict'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { readArgs } from '../../src/cli/args.ts'
import { flags } from '../../src/cli/flags.ts'
import { started } from './program.ts'

/** Flags that are part of something else, and the tests of it; all others are passed by test/headless/headless.test.ts. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  'test/headless/asks.test.ts': ['permission-prompt-tool'],
  'test/headless/plugins.test.ts': ['plugin-dir', 'plugin-dir-no-mcp'],
  'test/hooks/events.test.ts': ['worktree'],
  'test/cli.test.ts': ['version', 'help'],
}

/** Called at the end of a file: its last test looks at what the others have started. */
export function testPassedFlags(file: string): void {
  const name = relative(join(import.meta.dirname, '../..'), file)
  const ofParts = Object.values(elsewhere).flat()
  const wanted = elsewhere[name] ?? Object.keys(flags).filter((flag) => !ofParts.includes(flag))
  // of a sample, or of tests by their names, no more can be told than that they pass
  const isPartial = process.execArgv.some((arg) => /in-sample|--test-name-pattern/.test(arg))
  test(`an ona was started with each of these flags: ${wanted.join(', ')}`, { skip: isPartial }, () => {
    const passed = started.map((words) => readArgs(words, flags)).flatMap((read) => (read.ok ? [read.flags] : []))
    const missing = wanted.filter((flag) => !passed.some((given) => Object.hasOwn(given, flag)))
    assert.deepEqual(missing, [])
  })
}
