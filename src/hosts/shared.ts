/** What several agents have in common. */

import { notStrict } from '../files/json-edit.ts'
import { type BrainHook, whatOf } from './hook.ts'
import type { Limit } from './host.ts'
import { namesIn } from './tools.ts'

/** For agents that read strict JSON: a comment or a trailing comma makes them drop the whole file. */
export const strictRemarks = (title: string) => (text: string, file: string) => {
  const at = text.trim() === '' ? null : notStrict(text)
  return at
    ? [`${file}:${at}: ${title} reads strict JSON and will not read this file (a comment or a trailing comma)`]
    : []
}

/** What most agents lose of onBoot. */
export const noCompaction = (title: string) =>
  `${title} says nothing when a conversation was compacted, so it does not run again then`

/** Said of agents in which writing and editing are one tool, when a filter means only one of the two. */
export function oneOfTwo(hook: BrainHook, because: string): Limit[] {
  const names = namesIn(whatOf(hook)) ?? []
  if (names.includes('Write') === names.includes('Edit')) return []
  return [{ hook, dropped: false, why: `${because}, so the hook runs on both` }]
}
