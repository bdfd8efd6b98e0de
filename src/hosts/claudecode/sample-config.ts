import { groupsSample, type SampleConfig } from '../sample-config.ts'

export const sample: SampleConfig = {
  ...groupsSample('PreToolUse', '"permissions": { "allow": ["Bash(npm test)"], "deny": [] }'),
  strict: true,
}
