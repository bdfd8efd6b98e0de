/** A hook as a program: the check that it exports by default, run on the event of stdin. What cannot be checked is denied. */
export const hookProgram = (check: string): string => `#!/usr/bin/env node
${check.trim()}

import { readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  let reason
  try {
    reason = check(JSON.parse(readFileSync(0, 'utf8')))
  } catch (error) {
    reason = \`the call could not be checked: \${error.message}\`
  }
  if (reason) console.error(reason)
  process.exitCode = reason ? 2 : 0
}
`
