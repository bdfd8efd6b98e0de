/** A hook as it stands in a brain: whose it is, when it runs, what it runs. */
import { visible } from '../hooks/text/visible.ts'
import { durationMs, durationText, type IsoDuration } from './duration.ts'

export type BrainHookEvent = 'onBoot' | 'onTool' | 'onStop'

/** Which tools, and on which side of their run: two questions, two fields. */
export interface BrainHookFilter {
  /** Tools by the names that Claude Code gives them: "Bash", "Write|Edit", "*", or a regular expression. */
  readonly what: string
  /** "before" unless it says "after". */
  readonly when?: 'before' | 'after'
}

export interface BrainHook {
  /** Whose it is: "repo=acme/role=mechanic". */
  readonly author: string
  readonly event: BrainHookEvent
  readonly command: string
  readonly timeout: IsoDuration
  /** Only with onTool; none means every tool, before it runs. */
  readonly filter?: BrainHookFilter
}

/** What tells one hook from another; filter and timeout are what may change about it. */
export type BrainHookUnique = Pick<BrainHook, 'author' | 'event' | 'command'>

export const events: readonly BrainHookEvent[] = ['onBoot', 'onTool', 'onStop']

export const uniqueOf = ({ author, event, command }: BrainHookUnique): string =>
  JSON.stringify([author, event, command])

/** Where in an agent's life the hook runs. */
export type Moment = 'boot' | 'before' | 'after' | 'stop'

export function momentOf({ event, filter }: BrainHook): Moment {
  if (event === 'onBoot') return 'boot'
  if (event === 'onStop') return 'stop'
  return filter?.when ?? 'before'
}

export const eventOf: Record<Moment, BrainHookEvent> = {
  boot: 'onBoot',
  before: 'onTool',
  after: 'onTool',
  stop: 'onStop',
}

/** The same hook in its one spelling: the timeout as text, a tool hook with its filter written out. */
export function settled(hook: BrainHook, unitMs = 1): BrainHook {
  const { author, event, command } = hook
  const ms = Math.ceil(durationMs(hook.timeout) / unitMs) * unitMs
  const filter = event === 'onTool' && { what: whatOf(hook), when: hook.filter?.when ?? 'before' }
  return { author, event, command, timeout: durationText(ms), ...(filter && { filter }) }
}

/** The tools that the hook is for; "*" is all. */
export const whatOf = ({ filter }: BrainHook): string => filter?.what.trim() || '*'

/** Whether two hooks of one key also agree in what may change. */
export function sameHook(a: BrainHook, b: BrainHook, unitMs = 1): boolean {
  return JSON.stringify(settled(a, unitMs)) === JSON.stringify(settled(b, unitMs))
}

/** The hook in a few words: `onTool before Write|Edit: node guard.mjs`. */
export function described(hook: BrainHook): string {
  const tools = hook.event === 'onTool' ? ` ${momentOf(hook)} ${whatOf(hook)}` : ''
  return visible(`${hook.event}${tools}: ${hook.command}`)
}
