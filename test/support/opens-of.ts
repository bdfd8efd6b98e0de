/** How often this process has opened files with such an ending, until the test is over. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { TestContext } from 'node:test'

export function opensOf(t: TestContext, ending: string): () => number {
  const { openSync } = fs
  let opened = 0
  t.after(() => {
    fs.openSync = openSync
    syncBuiltinESMExports()
  })
  fs.openSync = (path, ...how) => {
    if (String(path).endsWith(ending)) opened++
    return openSync(path, ...how)
  }
  syncBuiltinESMExports()
  return () => opened
}
