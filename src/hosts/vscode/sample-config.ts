import { flatSample } from '../sample-config.ts'

export const sample = flatSample('PreToolUse')
