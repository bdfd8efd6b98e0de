/** A role's hook as it is in an agent's config: its author, when it runs, what it runs. */
import { visible } from '../hooks/text/visible.ts'
import { durationMs, durationText, type IsoDuration } from './duration.ts'

export type BrainHookEvent = 'onBoot' | 'onTool' | 'onStop' | 'onTalk'

export interface BrainHookFilter {
  /**
   * onTool: tools by Claude Code's names ("Bash", "Write|Edit", "*", or a regular expression). onBoot: where the fresh
   * context comes from ("startup|resume|clear|compact"), or rhachet's words "SessionStart", "PostCompact" and "PreCompact".
   */
  readonly what: string
  /** Before or after the tool; "before" by default. */
  readonly when?: 'before' | 'after'
}

/** What a hook's crash, timeout or unreadable answer means for the call that it guards. */
export type OnFailure = 'refuse' | 'pass'

export interface BrainHook {
  /** Whose it is: "repo=acme/role=mechanic". */
  readonly author: string
  readonly event: BrainHookEvent
  readonly command: string
  readonly timeout: IsoDuration
  /** None: every tool, before it runs; every start of a context. */
  readonly filter?: BrainHookFilter
  /** Before a tool only; "pass" by default. */
  readonly onFailure?: OnFailure
}

/** The key of a hook; filter, timeout and onFailure may change. */
export type BrainHookUnique = Pick<BrainHook, 'author' | 'event' | 'command'>

export const events: readonly BrainHookEvent[] = ['onBoot', 'onTalk', 'onTool', 'onStop']

/** The key as one text; neither a name nor a command can hold a null character. */
export const uniqueOf = ({ author, event, command }: BrainHookUnique): string => `${author}\0${event}\0${command}`

/** Where in an agent's life the hook runs. */
export type Moment = 'boot' | 'compact' | 'talk' | 'before' | 'after' | 'stop'

export function momentOf({ event, filter }: BrainHook): Moment {
  if (event === 'onBoot') return filter?.what.trim() === 'PreCompact' ? 'compact' : 'boot'
  if (event === 'onTalk') return 'talk'
  if (event === 'onStop') return 'stop'
  return filter?.when ?? 'before'
}

export const eventOf: Record<Moment, BrainHookEvent> = {
  boot: 'onBoot',
  compact: 'onBoot',
  talk: 'onTalk',
  before: 'onTool',
  after: 'onTool',
  stop: 'onStop',
}

/** The filter of a hook that is found at this moment; `what`: as declared, or the agent's own matcher. */
export function filterAt(moment: Moment, what: string): { filter?: BrainHookFilter } {
  if (moment === 'before' || moment === 'after') return { filter: { what: what || '*', when: moment } }
  if (moment === 'compact') return { filter: { what: 'PreCompact' } }
  return moment === 'boot' && what !== '' && what !== '*' ? { filter: { what } } : {}
}

const sources = ['startup', 'resume', 'clear', 'compact', 'fork']

/** The sources of a session start that a boot filter means; null: every one. Undefined: it means none that exists. */
export function bootSources(what: string): readonly string[] | null | undefined {
  if (what === '*' || what === 'SessionStart') return null
  if (what === 'PostCompact') return ['compact']
  const names = what.split(/[|,]/).map((name) => name.trim())
  return names.every((name) => sources.includes(name)) ? names : undefined
}

/** Why the hook would never run in any agent; null when it may. */
export function deadFilter({ event, filter }: BrainHook): string | null {
  const what = filter?.what.trim() || '*'
  if (event === 'onBoot' && what !== 'PreCompact' && bootSources(what) === undefined)
    return `"${what}" is no start of a context; use ${sources.slice(0, 4).join(', ')}, PostCompact or PreCompact`
  const own = { onStop: 'Stop', onTalk: 'UserPromptSubmit' } as Record<string, string>
  if (own[event] && what !== '*' && what !== own[event])
    return `${event} has nothing that the filter "${what}" could match`
  return null
}

/** The same hook in its one spelling: the timeout as text, a tool hook with its filter written out. */
export function settled(hook: BrainHook, unitMs = 1): BrainHook {
  const { author, event, command, onFailure } = hook
  const ms = Math.ceil(durationMs(hook.timeout) / unitMs) * unitMs
  const moment = momentOf(hook)
  const what = moment === 'boot' && bootSources(whatOf(hook)) === null ? '*' : whatOf(hook)
  const refuses = onFailure === 'refuse' && moment === 'before'
  return {
    author,
    event,
    command,
    timeout: durationText(ms),
    ...filterAt(moment, what),
    ...(refuses && { onFailure: 'refuse' as const }),
  }
}

/** What the hook is for; "*" is all. */
export const whatOf = ({ filter }: BrainHook): string => filter?.what.trim() || '*'

/** Whether a failure of the hook refuses the call. */
export const refusesOnFailure = (hook: BrainHook): boolean => hook.onFailure === 'refuse' && momentOf(hook) === 'before'

/** Whether two hooks of one key also agree in what may change. */
export function sameHook(a: BrainHook, b: BrainHook, unitMs = 1): boolean {
  return JSON.stringify(settled(a, unitMs)) === JSON.stringify(settled(b, unitMs))
}

/** The hook in a few words: `onTool before Write|Edit: node guard.mjs`. */
export function described(hook: BrainHook): string {
  const tools = hook.event === 'onTool' ? ` ${momentOf(hook)} ${whatOf(hook)}` : hook.filter ? ` ${whatOf(hook)}` : ''
  return visible(`${hook.event}${tools}: ${hook.command}`)
}
