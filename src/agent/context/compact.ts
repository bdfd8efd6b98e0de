/** Compaction: when the window fills, old bulky results are blanked first; then the conversation becomes a summary. */

import type { Answer } from '../../hooks/plane.ts'
import { textBlock } from '../../hooks/step/blocks.ts'
import type { Steps } from '../../hooks/steps.ts'
import { counted } from '../../hooks/text/counted.ts'
import type { Message } from '../../providers/model.ts'
import { approvedPlan } from '../../store/plans.ts'
import { saveSummary } from '../../store/session/summaries.ts'
import { askModel } from '../model/ask-model.ts'
import { contextShare } from '../model/spend.ts'
import type { Session } from '../session/session.ts'
import type { TurnEnd } from '../turn-end.ts'
import { tellInstructionsAgain } from './instructions.ts'
import { clipped, mostChars, transcriptPieces, transcriptText } from './window.ts'

/** Shares of the window. */
const blankAt = 0.6
const compactAt = 0.85
/** Results younger than this many messages, or shorter, are left alone. */
const keepLast = 10
const bulky = 2_000

/** A conversation that is full again right after it was compacted so often cannot go on. */
export const mostRefills = 3

/** Gives the turn's end when compacting does not help any more. */
export async function compactWhenDue(session: Session): Promise<TurnEnd | undefined> {
  const { env, settings } = session.runtime
  const share = contextShare(session)
  const override = Number(env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE)
  const due = override >= 1 && override <= 100 ? Math.min(override / 100, compactAt) : compactAt
  if (share < due) session.refills = 0
  const off = env.DISABLE_COMPACT || env.DISABLE_AUTO_COMPACT || settings.autoCompactEnabled === false
  if (share < Math.min(blankAt, due) || off) return undefined
  blankOldResults(session)
  if (share < due) return undefined
  if (session.refills >= mostRefills) {
    session.refills = 0
    const why = `the conversation filled the window again after ${mostRefills} compactions; /clear begins a new one, or a smaller request helps`
    return { stop: 'error', text: '', why, failure: { kind: 'invalid-request', message: why } }
  }
  return (await compact(session, 'auto', null)).end
}

const blanked = '[An old result, removed to make room. Run the tool again if it is needed.]'

function blankOldResults(session: Session): void {
  const until = session.messages.length - keepLast
  session.commit(() => {
    for (let index = 0; index < until; index++) {
      const message = session.messages[index]!
      if (!message.content.some((block) => isBulky(block))) continue
      const content = message.content.map((block) => {
        if (!isBulky(block)) return block
        session.append({ _t: 'content_replacement', tool_use_id: block.tool_use_id, content: blanked })
        return { ...block, content: blanked }
      })
      session.messages[index] = { ...message, content }
    }
  })
}

type Bulky = Extract<Message['content'][number], { type: 'tool_result' }>
const isBulky = (block: Message['content'][number]): block is Bulky =>
  block.type === 'tool_result' && block.content.length > bulky

/** The end that a step's hook puts to the turn. */
const endOf = ({ control, reason }: Answer): TurnEnd | undefined =>
  control.kind === 'break' ? { stop: control.reason, text: '', why: reason } : undefined

export type Compacted =
  | { readonly done: true; readonly summary: string; readonly end?: TurnEnd }
  | { readonly done: false; readonly why: string /** A hook ended the turn. */; readonly end?: TurnEnd }

/** Replaces the conversation by its summary; the task list, the plan and the instructions stay. */
export async function compact(
  session: Session,
  trigger: 'manual' | 'auto',
  instructions: string | null,
): Promise<Compacted> {
  if (session.messages.length === 0) return { done: false, why: 'there is nothing to compact yet' }
  const tokensBefore = session.contextTokens || estimate(session.messages)
  const before: Steps['before_compact'] = {
    tokenEstimate: tokensBefore,
    threshold: Math.floor(session.model.window * compactAt),
  }
  const answer = await session.ask('before_compact', before, () => ({
    name: 'PreCompact',
    fields: { trigger, custom_instructions: instructions },
  }))
  const end = endOf(answer)
  if (end || answer.control.kind === 'skip' || answer.decision === 'deny' || answer.stop !== null) {
    const why = answer.reason || answer.stop || 'a hook said no'
    session.emit({ type: 'notice', level: 'info', text: `Compaction skipped: ${why}` })
    return { done: false, why, ...(end && { end }) }
  }

  const asked = await summarise(session, instructions)
  if (!asked.ok || asked.text.trim() === '') {
    const why = asked.text.trim() || 'the model gave an empty summary'
    session.emit({ type: 'notice', level: 'warning', text: `Compaction failed: ${why}` })
    return { done: false, why }
  }
  const summary = clipped(asked.text.trim(), mostChars(session.model.window)) // not every server keeps to the limit of a reply
  session.commit(() => {
    session.append({ _t: 'system', subtype: 'compact_boundary', trigger, pre_tokens: tokensBefore })
    saveSummary(session.db, session.conversationId, summary)
    session.messages.length = 0
    session.say([textBlock(carriedOver(session, summary))])
  })
  session.contextTokens = estimate(session.messages)
  session.unreportedChars = 0
  if (trigger === 'auto') session.refills++

  const after: Steps['after_compact'] = { tokensBefore, tokensAfter: session.contextTokens, additionalContext: [] }
  const answered = await session.ask('after_compact', after, () => ({
    name: 'PostCompact',
    fields: { trigger, compact_summary: summary },
  }))
  if (after.additionalContext.length > 0) session.say(after.additionalContext)
  const again = await session.raise('SessionStart', () => ({
    source: 'compact' as const,
    ...(session.agentType && { agent_type: session.agentType }),
    model: session.model.wireModel,
  }))
  if (again.context.length > 0) session.say(again.context.map(textBlock))
  await tellInstructionsAgain(session)
  session.commit(() => {})
  session.emit({ type: 'compacted', trigger, tokensBefore, tokensAfter: session.contextTokens })
  const over = endOf(answered)
  return { done: true, summary, ...(over && { end: over }) }
}

/** The largest results are shortened first; what then does not fit into one request is summarised piece by piece. */
async function summarise(session: Session, instructions: string | null): Promise<{ ok: boolean; text: string }> {
  for (let most = room(session); ; most = Math.floor(most / 2)) {
    const { pieces, shortened } = transcriptPieces(session.messages, most)
    let asked: Awaited<ReturnType<typeof askModel>> = { ok: true, text: '' }
    for (const piece of pieces) {
      const before = asked.text && `The summary of what came before:\n${clipped(asked.text, most)}\n\nWhat followed:\n`
      asked = await askModel(session, before + piece, session.signal, summariser(instructions))
      if (!asked.ok || asked.text.trim() === '') break
    }
    // the text has more tokens than four characters each
    if (!asked.ok && asked.overflow && most > leastRoom) continue
    if (asked.ok && asked.text.trim() !== '' && (shortened > 0 || pieces.length > 1))
      session.emit({
        ...{ type: 'notice', level: shortened > 0 ? 'warning' : 'info' },
        text: `Summarised ${shortening(pieces.length, shortened)}`,
      })
    return asked
  }
}

/** Below this, a request is not what overflows the window. */
const leastRoom = 4_000

const shortening = (pieces: number, shortened: number): string =>
  [
    ...(pieces > 1 ? [`in ${pieces} pieces`] : []),
    ...(shortened > 0
      ? [
          `with ${counted(shortened, 'long input or result', 'long inputs and results')} shortened; the record keeps them whole`,
        ]
      : []),
  ].join(', ')

/** Characters that the summariser can take in, with room for its own words. */
const room = ({ model: { window, maxOutput } }: Session): number =>
  Math.floor(Math.max(window - Math.min(maxOutput, window / 4), window / 2) * 4 * 0.7)

function carriedOver(session: Session, summary: string): string {
  const plan = approvedPlan(session.db, session.conversationId)
  const todos = session.todos.map((todo) => `- [${todo.status}] ${todo.content}`)
  return [
    'The conversation so far, in summary:',
    summary,
    ...(todos.length > 0 ? ['', 'The task list:', ...todos] : []),
    ...(plan ? ['', 'The approved plan:', plan.content] : []),
  ].join('\n')
}

const summariser = (instructions: string | null) =>
  `Summarise this conversation between a user and a coding agent so that the agent can go on from the summary alone. Keep: what the user asked for, in their words where it matters; decisions and their reasons; files read and changed, with paths; commands and what they showed; errors and how they were solved; what is left to do, and the very next step. Leave out pleasantries. Plain Markdown.${instructions ? `\n\nThe user adds: ${instructions}` : ''}`

/** About four characters a token. */
const estimate = (messages: readonly Message[]): number => Math.ceil(transcriptText(messages).length / 4)
