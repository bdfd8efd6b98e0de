/** Makes a handler's reply part of the round. */
import type { EventName } from '../events.ts'
import type { Handler } from '../handler.ts'
import type { Reply } from '../handlers/ask.ts'
import { applyVerdict, controlIn, isGate, judged, sayVerdictError } from '../step/apply.ts'
import { textOf } from '../step/blocks.ts'
import { takeDraft } from '../step/draft.ts'
import type { StepName, Steps } from '../steps.ts'
import { endsRound, merge, reasonOf } from '../verdict.ts'
import { countsAsBlock, isControl, readEventReply, readStepReply, whyOf } from '../wire/messages.ts'
import { letRun } from './detached.ts'
import { now } from './invocation.ts'
import {
  type Asked,
  change,
  decide,
  guards,
  isAtStep,
  note,
  onceKey,
  type Prepared,
  type Round,
  refuse,
  write,
} from './state.ts'

/** Makes a reply part of the round, and writes its row. */
export function take(round: Round, handler: Prepared, reply: Reply, asked: Asked): void {
  const { shown, draft, startedAt, endedAt } = asked
  if (handler.once) round.settled.done.add(onceKey(round, handler))
  if (reply.kind === 'detached') {
    letRun(round, handler, reply, asked)
    return
  }
  const problem = isAtStep(round, handler) ? takeStep(round, handler, reply, draft) : takeEvent(round, handler, reply)
  write(round, handler, shown, {
    exitCode: countsAsBlock(handler.event, reply) ? 2 : reply.exitCode,
    stdout: reply.stdout,
    stderr:
      problem === undefined
        ? reply.stderr
        : `${reply.stderr ? `${reply.stderr.trimEnd()}\n` : ''}[SDLC_HOOK] ${problem}`,
    startedAt,
    completedAt: endedAt ?? now(),
    skippedReason: null,
  })
}

/** Makes the reply of an event's handler part of the round; gives what the audit must add to what it printed. */
function takeEvent(round: Round, handler: Prepared, reply: Reply): string | undefined {
  const name = handler.event as EventName
  const refuses = refusesOnFailure(round, handler)
  const { verdict, failure, warning } = readEventReply(handler, reply, refuses)
  if (failure !== undefined) round.settled.done.delete(onceKey(round, handler)) // it has not run yet
  if (warning !== undefined) note(round, handler, 'warned', warning)
  const interrupted = failure !== undefined && reply.kind === 'failure' && reply.cause === 'interrupted'
  if (interrupted && guards(round, handler)) refuse(round, `the hook ${handler.label} ${failure}`)
  const open = failure !== undefined && guards(round, handler) && verdict.decision !== 'deny' && !round.isOver
  if (failure !== undefined) note(round, handler, 'failed', open ? `${failure}; ${failedOpen(name)}` : failure, open)
  // only parallel hooks deny what another has denied already
  if (round.verdict.decision === 'deny' && verdict.decision === 'deny') round.reasons.push(verdict.reason)
  round.verdict = merge(round.verdict, verdict)
  if (verdict.input !== undefined) {
    change(round, 'tool_input', verdict.input)
    const { step } = round.subject
    if (step?.name === 'before_tool_apply') (step.state as Steps['before_tool_apply']).args = verdict.input
    note(round, handler, 'changed', 'changed the input')
  }
  if (verdict.decision === 'deny') note(round, handler, name === 'PreToolUse' ? 'denied' : 'blocked', reasonOf(verdict))
  if (verdict.decision === 'ask') note(round, handler, 'asked', verdict.reason)
  if (verdict.stop !== null) note(round, handler, 'stopped', verdict.stop)
  if (verdict.goOn) {
    note(round, handler, 'continued', verdict.context.join('\n'))
    decide(round, { kind: 'continue' })
  }
  if (endsRound(name, verdict)) {
    round.isOver = true
    if (name === 'PreCompact') decide(round, { kind: 'skip' })
  }
  return rowNote(reply.kind === 'failure' ? unsaid(reply) : (failure ?? warning), open, name)
}

const failedOpen = (name: EventName | StepName): string =>
  `failed open: ${name} went on unchecked ("onFailure": "refuse" refuses instead)`

/** Why it failed, where neither the exit code nor stderr says so: it answered, and the answer cannot be read. */
const unsaid = ({ why, exitCode, stderr }: Reply & { kind: 'failure' }): string | undefined =>
  exitCode || stderr?.includes(why) ? undefined : why

/** What the row adds to what a handler printed. */
const rowNote = (problem: string | undefined, open: boolean, name: EventName | StepName): string | undefined =>
  open ? `${problem === undefined ? '' : `${problem}; `}${failedOpen(name)}` : problem

/** The same for a step's handler, whose verdict changes the step, wholly or not at all. */
function takeStep(round: Round, handler: Prepared, reply: Reply, draft?: Steps[StepName]): string | undefined {
  const { name, state } = round.subject.step!
  if (reply.kind === 'failure') return failStep(round, handler, reply.why, unsaid(reply))
  const verdict = readStepReply(reply)
  if (reply.kind === 'answer' && reply.fault !== undefined)
    return failStep(round, handler, reply.fault, reply.fault, verdict)
  const applied = isControl(verdict) ? judged(name, verdict) : applyVerdict(name, (draft ?? state) as never, verdict)
  const taken = applied.ok && draft ? takeDraft(name, state as never, draft as never) : {}
  if (!applied.ok || taken.bad !== undefined) {
    const why = applied.ok ? `wrote what cannot stand in step.${taken.bad}` : sayVerdictError(applied.error)
    return failStep(round, handler, why, why, verdict)
  }
  const warning = [applied.warning, taken.warning].filter((text) => text !== undefined).join('; ') || undefined
  follow(round)
  if (warning !== undefined) note(round, handler, 'warned', warning)
  if (applied.control.kind === 'proceed') return warning
  const why = whyOf(verdict)
  if (why !== '' && !('additionalContext' in state || 'feedback' in state)) round.reasons.push(why)
  note(round, handler, effects[applied.control.kind], why)
  decide(round, applied.control)
  return warning
}

/** A step's handler failed; gives what the audit must add. A refusal in a bad verdict still counts. */
function failStep(
  round: Round,
  handler: Prepared,
  why: string,
  problem?: string,
  verdict?: unknown,
): string | undefined {
  const { name } = round.subject.step!
  round.settled.done.delete(onceKey(round, handler)) // it has not run yet
  const control = controlIn(name, verdict)
  const refuses = refusesOnFailure(round, handler)
  const open = guards(round, handler) && !refuses && control.kind === 'proceed'
  note(round, handler, 'failed', open ? `${why}; ${failedOpen(name)}` : why, open)
  if (control.kind !== 'proceed') decide(round, control)
  else if (refuses && guards(round, handler)) refuse(round, `the hook ${handler.label} ${why}; ${name} fails closed`)
  else if (refuses) {
    round.reasons.push(`the hook ${handler.label} ${why}`)
    decide(round, controlIn(name, { control: 'veto' }))
  }
  return rowNote(problem, open, name)
}

/** The event that a step raises shows what the step has become. */
function follow(round: Round): void {
  const { step } = round.subject
  if (step?.name === 'before_tool_apply') change(round, 'tool_input', (step.state as Steps['before_tool_apply']).args)
  if (step?.name === 'before_ingest') change(round, 'prompt', textOf((step.state as Steps['before_ingest']).input))
}

/** Whether a failure of the handler counts as exit code 2. */
export function refusesOnFailure(round: Round, handler: Handler): boolean {
  const { hookFailure } = round.settled
  if (hookFailure === 'forced') return true
  if (handler.onFailure) return handler.onFailure === 'refuse'
  return hookFailure === 'refuse' || (isAtStep(round, handler) && isGate(round.subject.step!.name))
}

const effects = { break: 'stopped', continue: 'continued', skip: 'blocked' } as const
