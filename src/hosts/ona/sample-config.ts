import { groupsSample } from '../sample-config.ts'

export const sample = groupsSample('PreToolUse', '"permissions": { "allow": ["Bash(npm test)"], "deny": [] }')
