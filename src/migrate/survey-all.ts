/** Every agent that can be migrated from. */
import { surveyClaude } from './claude.ts'
import { surveyCodex } from './codex.ts'
import { surveyGemini } from './gemini.ts'
import { surveyOpencode } from './opencode.ts'
import type { Places, Survey } from './survey.ts'

const surveyors = { claude: surveyClaude, codex: surveyCodex, gemini: surveyGemini, opencode: surveyOpencode }

export const migrateHosts = Object.keys(surveyors) as readonly (keyof typeof surveyors)[]
export type MigrateHost = keyof typeof surveyors

/** Those of which something was found. */
export const surveyAll = (places: Places, only: readonly MigrateHost[] = migrateHosts): Survey[] =>
  only.map((host) => surveyors[host](places)).filter(({ items }) => items.length > 0)
