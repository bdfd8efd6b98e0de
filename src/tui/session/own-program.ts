/** Our own command line, run beside the conversation. */
import { join } from 'node:path'
import { packageRoot } from '../../package-root.ts'

export const ownProgram = (...words: string[]): { program: string; words: string[] } => ({
  program: process.execPath,
  words: [join(packageRoot, 'bin', 'ona.mjs'), ...words],
})
