// Reads the call on stdin; exit code 2 denies it, and stderr is the reason.
import { readFileSync } from 'node:fs'

const { tool_input: input } = JSON.parse(readFileSync(0, 'utf8'))
const words = String(input?.command ?? '').split(/\s+/)
const pushes = words.includes('push') && words.some((word) => word === 'git' || word.endsWith('/git'))
if (pushes && words.some((word) => word === '--force' || /^-[a-z]*f/.test(word))) {
  console.error('A forced push can lose the work of others. Use git push --force-with-lease.')
  process.exitCode = 2
}
