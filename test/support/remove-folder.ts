import { appendFileSync, rmSync } from 'node:fs'

/**
 * For the folder of a test that has ended. In a run of scripts/test.ts it stays until all tests have ended, and then goes with
 * the others: some file systems look for a long time where they may put a file while others have just been removed.
 */
export function removeFolder(path: string): void {
  const list = process.env['ONA_TEST_REMOVED']
  if (list === undefined) rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  else appendFileSync(list, `${path}\n`)
}
