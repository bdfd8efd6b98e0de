import { groupsSample, type SampleConfig } from '../sample-config.ts'

export const sample: SampleConfig = {
  ...groupsSample('PreToolUse', '"description": "guards"'),
  strict: true,
  fixedPositions: true,
}
