/** What several agents have in common. */
import { notStrict } from '../files/json-edit.ts'
import { type BrainHook, bootSources, momentOf, whatOf } from './hook.ts'
import type { Limit } from './host.ts'
import { namesIn } from './tools.ts'

/** For agents that do not document whether they accept a comment or a trailing comma. */
export const strictRemarks = (title: string) => (text: string, file: string) => {
  const at = text.trim() === '' ? null : notStrict(text)
  return at ? [`${file}:${at}: ${title} may not read a file with a comment or a trailing comma`] : []
}

/** What an agent loses of onBoot: the sources of a session start that it does not report. */
export function bootLimits(
  hook: BrainHook,
  title: string,
  { compact = true, resume = true }: { compact?: boolean; resume?: boolean },
): Limit[] {
  if (momentOf(hook) !== 'boot') return []
  const silent = [...(compact ? [] : ['compact']), ...(resume ? [] : ['resume', 'clear'])]
  const wanted = bootSources(whatOf(hook)) ?? ['startup', 'resume', 'clear', 'compact']
  const lost = wanted.filter((source) => silent.includes(source))
  if (lost.length === 0) return []
  const when = lost.map((source) => whens[source]).join(' or ')
  const dropped = lost.length === wanted.length
  return [{ hook, dropped, why: `${title} reports nothing when a conversation ${when}, so the hook does not run then` }]
}

const whens: Record<string, string> = { compact: 'was compacted', resume: 'is resumed', clear: 'is cleared' }

/** For agents in which writing and editing are one tool, when a filter means only one of the two. */
export function oneOfTwo(hook: BrainHook, because: string): Limit[] {
  const names = (hook.event === 'onTool' && namesIn(whatOf(hook))) || []
  if (names.includes('Write') === names.includes('Edit')) return []
  return [{ hook, dropped: false, why: `${because}, so the hook runs on both` }]
}

/** For agents that report a prompt to a hook and ignore its answer. */
export const talkLimits = (hook: BrainHook, why: string): Limit[] =>
  hook.event === 'onTalk' ? [{ hook, dropped: false, why }] : []
