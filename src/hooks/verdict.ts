/** What handlers of an event answer, and how several answers become one (spec 003 §5.6). */
import type { Profile } from './claude/profile.ts'
import { type EventName, events, type OnBlock } from './events.ts'
import type { Answer, Decision } from './plane.ts'
import type { JsonObject } from './shape.ts'
import type { AnySpecific, Output } from './wire/output.ts'

/** Of the same words as the answer of a whole round, and what the merge of several needs besides. */
export interface Verdict extends Pick<Answer, Alike> {
  readonly decision: Decision
  /** Why, of the handler that decided. */
  readonly reason: string
  /** Exit 2, handler by handler. */
  readonly blocks: readonly { readonly ordinal: number; readonly text: string }[]
  /** The turn must not end yet. */
  readonly goOn: boolean
  readonly input: JsonObject | undefined
  readonly toolOutput: unknown
  readonly claudeOutput: unknown
}

type Alike =
  | 'context'
  | 'messages'
  | 'stop'
  | 'suppressOutput'
  | 'permissionUpdates'
  | 'interrupt'
  | 'retry'
  | 'initialUserMessage'
  | 'watchPaths'
  | 'worktreePath'
  | 'elicitation'

/** The answer of a handler that has nothing to say. */
export const noOpinion: Verdict = {
  decision: 'none',
  reason: '',
  blocks: [],
  goOn: false,
  context: [],
  messages: [],
  stop: null,
  suppressOutput: false,
  input: undefined,
  permissionUpdates: [],
  interrupt: false,
  retry: false,
  initialUserMessage: null,
  watchPaths: [],
  worktreePath: null,
  elicitation: null,
  toolOutput: undefined,
  claudeOutput: undefined,
}

/** The stricter decision wins and keeps its reason; texts add up; of what can only be one, the later stands. */
export function merge(earlier: Verdict, later: Verdict): Verdict {
  if (earlier === noOpinion) return later
  if (later === noOpinion) return earlier
  const winner = strictness[later.decision] > strictness[earlier.decision] ? later : earlier
  return {
    decision: winner.decision,
    reason: winner.reason,
    blocks: [...earlier.blocks, ...later.blocks],
    goOn: earlier.goOn || later.goOn,
    context: [...earlier.context, ...later.context],
    messages: [...earlier.messages, ...later.messages],
    stop: earlier.stop ?? later.stop,
    suppressOutput: earlier.suppressOutput || later.suppressOutput,
    input: later.input ?? earlier.input,
    permissionUpdates: [...earlier.permissionUpdates, ...later.permissionUpdates],
    interrupt: earlier.interrupt || later.interrupt,
    retry: earlier.retry || later.retry,
    initialUserMessage: later.initialUserMessage ?? earlier.initialUserMessage,
    watchPaths: [...earlier.watchPaths, ...later.watchPaths],
    worktreePath: later.worktreePath ?? earlier.worktreePath,
    elicitation: later.elicitation ?? earlier.elicitation,
    toolOutput: later.toolOutput === undefined ? earlier.toolOutput : later.toolOutput,
    claudeOutput: later.claudeOutput === undefined ? earlier.claudeOutput : later.claudeOutput,
  }
}

const strictness: Record<Decision, number> = { none: 0, allow: 1, ask: 2, deny: 3 }

/** Why it was refused: a line for each handler that blocked, by ordinal, and the reason of the one that denied. */
export function reasonOf({ blocks, reason }: Verdict): string {
  const lines = blocks.toSorted((a, b) => a.ordinal - b.ordinal).map(({ ordinal, text }) => `[${ordinal}] ${text}`)
  return [...lines, ...(reason === '' ? [] : [reason])].join('\n')
}

/** Whether the remaining handlers can be skipped. What has already happened cannot be refused, so there all of them run. */
export const endsRound = (event: EventName, { decision }: Verdict): boolean =>
  decision === 'deny' && canRefuse(events[event].onBlock)

const canRefuse = (onBlock: OnBlock) => onBlock === 'deny' || onBlock === 'refuse'

/** Exit 2, or a timeout where it counts as one. */
export function blocked(event: EventName, ordinal: number, stderr: string): Verdict {
  const text = stderr.trimEnd()
  const { onBlock } = events[event]
  if (canRefuse(onBlock)) return { ...noOpinion, decision: 'deny', blocks: [{ ordinal, text }] }
  return telling(onBlock, text)
}

/** The verdict in a JSON answer that has been read already. */
export function verdictOf(event: EventName, output: Output, profile?: Profile): Verdict {
  const specific = (output.hookSpecificOutput ?? {}) as AnySpecific
  const shared: Verdict = {
    ...noOpinion,
    context: specific.additionalContext ? [capped(specific.additionalContext)] : [],
    messages: output.systemMessage ? [output.systemMessage] : [],
    stop: output.continue === false ? (output.stopReason ?? output.reason ?? 'a hook ended the turn') : null,
    suppressOutput: output.suppressOutput === true,
    input: specific.updatedInput,
    retry: specific.retry === true,
    initialUserMessage: specific.initialUserMessage ?? null,
    watchPaths: specific.watchPaths ?? [],
    worktreePath: specific.worktreePath ?? null,
    elicitation: specific.action
      ? { action: specific.action, ...(specific.content && { content: specific.content }) }
      : null,
    toolOutput: specific.updatedMCPToolOutput,
    claudeOutput: profile === 'claude' ? specific.updatedToolOutput : undefined,
  }
  return [decided(event, output), permitted(specific)].reduce(merge, shared)
}

/** Plain text on stdout: at these events it is for the model, at WorktreeCreate it is the path. */
export function plainText(event: EventName, text: string): Verdict {
  const said = text.trim()
  if (said === '') return noOpinion
  if (event === 'WorktreeCreate') return { ...noOpinion, worktreePath: said.split('\n').at(-1)! }
  return event === 'UserPromptSubmit' || event === 'SessionStart'
    ? { ...noOpinion, context: [capped(said)] }
    : noOpinion
}

/** `decision` at the top level. */
function decided(event: EventName, { decision, reason = '' }: Output): Verdict {
  if (decision === undefined) return noOpinion
  if (decision === 'approve') return event === 'PreToolUse' ? { ...noOpinion, decision: 'allow', reason } : noOpinion
  const { onBlock } = events[event]
  return canRefuse(onBlock) ? { ...noOpinion, decision: 'deny', reason } : telling(onBlock, reason)
}

function permitted({ permissionDecision, permissionDecisionReason = '', decision }: AnySpecific): Verdict {
  if (permissionDecision) {
    // nothing resumes a deferred call later, so the user is prompted now
    const now = permissionDecision === 'defer' ? 'ask' : permissionDecision
    return { ...noOpinion, decision: now, reason: permissionDecisionReason }
  }
  if (decision?.behavior === 'allow') {
    return {
      ...noOpinion,
      decision: 'allow',
      input: decision.updatedInput,
      permissionUpdates: decision.updatedPermissions ?? [],
    }
  }
  if (decision?.behavior === 'deny') {
    return { ...noOpinion, decision: 'deny', reason: decision.message ?? '', interrupt: decision.interrupt === true }
  }
  return noOpinion
}

/** A block where nothing can be refused any more. */
function telling(onBlock: OnBlock, text: string): Verdict {
  const shown = text === '' ? [] : [capped(text)]
  if (onBlock === 'go-on') return { ...noOpinion, goOn: true, context: shown }
  return onBlock === 'show-model' ? { ...noOpinion, context: shown } : { ...noOpinion, messages: shown }
}

/** More than this from one handler would crowd out the conversation. */
const contextLimit = 10_000
const capped = (text: string) =>
  text.length <= contextLimit
    ? text
    : `${text.slice(0, contextLimit)}\n[${text.length - contextLimit} characters left out]`
