/** Hooks written for Claude Code, pattern by pattern. */
import { patterns } from './hook-patterns.ts'
import { testPattern } from './run-pattern.ts'

for (const pattern of patterns) testPattern(pattern)
