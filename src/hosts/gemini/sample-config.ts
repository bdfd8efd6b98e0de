import { groupsSample } from '../sample-config.ts'

export const sample = groupsSample('BeforeTool', '"ui": { "hideBanner": true }')
