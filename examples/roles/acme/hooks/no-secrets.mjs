// Exit 2 says no in every agent, and stderr says why.
import { readFileSync } from 'node:fs'

const { tool_input: input = {} } = JSON.parse(readFileSync(0, 'utf8'))
const text = JSON.stringify(input)
// a path in most agents, a patch in Codex and, with some models, in opencode
if (/(^|[\\/"])\.env("|\.|$)/.test(input.file_path ?? '') || /File: (\S*\/)?\.env\b/.test(text)) {
  console.error('agents do not write .env files; ask the user to')
  process.exit(2)
}
