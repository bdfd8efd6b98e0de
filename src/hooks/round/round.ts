/** A round: those with a say are asked, one after another, and their answers become one. */

import { type ClaudeHost, claudeInput, isDetaching, isForMainOnly, namesOf, setsEnv } from '../claude/contract.ts'
import type { EventName } from '../events.ts'
import type { Env, Handler, Wrap } from '../handler.ts'
import { questionFor, type Reply, readExit, replyOf } from '../handlers/ask.ts'
import type { AskModel } from '../handlers/prompt.ts'
import { defaultTimeout } from '../handlers/timeout.ts'
import { askInOrder, type Policy, type Question } from '../kernel.ts'
import type { Ordered } from '../order.ts'
import type { Answer, HookNote, Raised, Scope } from '../plane.ts'
import type { Redact } from '../redact.ts'
import { hasToolCall } from '../settings.ts'
import { isObject, type JsonObject } from '../shape.ts'
import {
  addContext,
  applyVerdict,
  controlIn,
  isGate,
  judged,
  proceed,
  safetyOf,
  sayVerdictError,
  toolOf,
} from '../step/apply.ts'
import { textOf } from '../step/blocks.ts'
import { copy, draftOf, takeDraft } from '../step/draft.ts'
import type { Control, StepName, Steps } from '../steps.ts'
import { endsRound, merge, noOpinion, reasonOf, type Verdict } from '../verdict.ts'
import { type Matcher, matchQuery, type StepMatcher } from '../wire/matcher.ts'
import {
  canRefuse,
  countsAsBlock,
  eventInput,
  isControl,
  readEventReply,
  readStepReply,
  stepInput,
  whyOf,
} from '../wire/messages.ts'
import { Background } from './background.ts'
import { invocationOf, notAsked, now, type Outcome } from './invocation.ts'

/** What is asked about: a step, the event that it raises, or an event alone. */
export interface Subject {
  readonly step?: { readonly name: StepName; readonly state: Steps[StepName] }
  readonly event?: Raised
}

/** A handler with its conditions compiled. */
export type Prepared = Ordered & {
  readonly takesAll: boolean
  readonly matches: Matcher
  readonly matchesStep: StepMatcher
  readonly label: string
}

/** What holds for every round of a plane. */
export interface Settled {
  readonly env: Env
  readonly redact: Redact
  readonly withhold?: Redact
  readonly disabled: string | undefined
  readonly matchesRule?: MatchesRule
  readonly askModel?: AskModel
  readonly wrap?: Wrap
  readonly hookFailure?: 'refuse' | 'forced'
  readonly claude?: ClaudeHost
  readonly background: Background
  /** Handlers that are asked once a session, and have been. */
  readonly done: Set<string>
}

export type MatchesRule = (
  rule: string,
  toolName: string,
  toolInput: JsonObject,
  scope: Scope,
) => boolean | Promise<boolean>

export async function runRound(
  asked: readonly Prepared[],
  subject: Subject,
  scope: Scope,
  settled: Settled,
): Promise<Answer> {
  const round: Round = {
    subject,
    scope,
    settled,
    fields: { ...(subject.event?.fields as JsonObject | undefined) },
    verdict: noOpinion,
    control: proceed,
    reasons: [],
    isOver: false,
    refused: undefined,
    notes: [],
  }
  await askInOrder(asked, policyOf(round))
  return answerOf(round)
}

/** A round over the kernel: the first decision ends it, a guard that fails refuses, and every handler is a row. */
const policyOf = (round: Round): Policy<Prepared, Reply, Asked> => ({
  admit(handler) {
    if (!concerns(round, handler)) return false
    if (handler.ifCondition === '') return whySkipped(round, handler) ?? true
    return holds(round, handler).then((applies) => applies && (whySkipped(round, handler) ?? true))
  },
  question: (handler) => openQuestion(round, handler),
  settle(handler, outcome, asked) {
    if (asked) take(round, handler, replyOf(outcome), asked)
    else if (outcome.kind === 'skipped') {
      write(round, handler, JSON.stringify(shown(round, handler)), notAsked(outcome.why))
      if (outcome.why === 'interrupted' && guards(round, handler)) refuse(round, outcome.why)
    }
    return round.isOver
  },
})

/** One handler being asked. */
interface Asked extends Question<Reply> {
  readonly inputJson: string
  readonly startedAt: string
  /** For a function at a step: its copy of the step. */
  readonly draft: Steps[StepName] | undefined
}

/** The round as it goes. */
interface Round {
  readonly subject: Subject
  readonly scope: Scope
  readonly settled: Settled
  /** The event's fields as those still to come are shown them. */
  readonly fields: JsonObject
  verdict: Verdict
  control: Control
  /** Why a step's handler ended it, where the step has no place for the words. */
  readonly reasons: string[]
  /** It is decided; nobody else needs to be asked. */
  isOver: boolean
  /** Why it must not go on although nobody said so: a guard failed. */
  refused: string | undefined
  readonly notes: HookNote[]
}

const isAtStep = ({ subject }: Round, handler: Handler) => handler.event === subject.step?.name

/** Whether a failure of the handler counts as exit code 2. */
function refusesOnFailure(round: Round, handler: Handler): boolean {
  const { hookFailure } = round.settled
  if (hookFailure === 'forced') return true
  if (handler.onFailure) return handler.onFailure === 'refuse'
  return hookFailure === 'refuse' || (isAtStep(round, handler) && isGate(round.subject.step!.name))
}

/** Whether the handler can refuse what the round is about. */
const guards = (round: Round, handler: Handler) =>
  isAtStep(round, handler) ? isGate(round.subject.step!.name) : canRefuse(round.subject.event!.name)

function concerns(round: Round, handler: Prepared): boolean {
  const { subject, settled } = round
  if (handler.once && settled.done.has(onceKey(round, handler))) return false
  if (round.scope.agentId !== undefined && isForMainOnly(handler)) return false
  if (isAtStep(round, handler)) {
    const { name, state } = subject.step!
    const tools = namesOf(toolOf(name, state as never))
    if (!tools.some((tool) => handler.matchesStep(tool, safetyOf(state)))) return false
  } else {
    const query = matchQuery(subject.event!.name, round.fields)
    const matches = (query: string) => namesOf(query).some((name) => handler.matches(name!))
    if (query === null ? !handler.takesAll : query !== undefined && !matches(query)) return false
  }
  return true
}

/** Whether the call in question matches a handler's rule. Where that cannot be told, the handler is asked. */
async function holds({ subject, fields, settled, scope }: Round, { ifCondition, event }: Prepared): Promise<boolean> {
  if (!hasToolCall(event)) return false
  const tool = toolName(subject, fields)
  const { step } = subject
  const input = step?.name === 'before_tool_apply' ? (step.state as Steps['before_tool_apply']).args : fields.tool_input
  if (tool === null || !settled.matchesRule) return true
  return settled.matchesRule(ifCondition, tool, isObject(input) ? input : {}, scope)
}

/** Why a handler is not asked although it is concerned. */
function whySkipped(round: Round, handler: Prepared): string | undefined {
  const { settled, scope, subject, isOver } = round
  if (settled.disabled !== undefined) return settled.disabled
  if (handler.withheld !== undefined) return handler.withheld
  if (scope.signal?.aborted) return 'interrupted'
  if (!isOver) return undefined
  // What has happened already cannot be refused, so all who listen to it are told.
  return isAtStep(round, handler) || canRefuse(subject.event!.name) ? 'prior_block_or_deny' : undefined
}

function openQuestion(round: Round, handler: Prepared): Asked {
  const { subject, scope, settled } = round
  const input = shown(round, handler)
  const inputJson = settled.withhold?.(JSON.stringify(input)) ?? JSON.stringify(input)
  const isFunction = handler.kind === 'function'
  const draft =
    isFunction && isAtStep(round, handler) ? draftOf(subject.step!.name, subject.step!.state as never) : undefined
  const question = questionFor(handler, {
    input: isFunction ? copy(input) : input,
    inputJson,
    scope,
    timeoutMs: handler.timeoutMs ?? defaultTimeout(handler, settled.env),
    env: settled.env,
    askModel: settled.askModel,
    ...(settled.wrap && { wrap: settled.wrap }),
    ...(settled.claude && setsEnv(handler) && { envFile: settled.claude.envFile(scope, envFileName(handler)) }),
    draft,
  })
  return { ...question, inputJson, draft, startedAt: now() }
}

const envFileName = ({ event, ordinal }: Prepared) => `${event.toLowerCase()}-hook-${ordinal}.sh`

/** Makes a reply part of the round, and writes its row. */
function take(round: Round, handler: Prepared, reply: Reply, asked: Asked): void {
  const { inputJson, draft, startedAt } = asked
  if (handler.once) round.settled.done.add(onceKey(round, handler))
  if (reply.kind === 'detached') {
    letRun(round, handler, reply, asked)
    return
  }
  const problem = isAtStep(round, handler) ? takeStep(round, handler, reply, draft) : takeEvent(round, handler, reply)
  write(round, handler, inputJson, {
    exitCode: countsAsBlock(handler.event, reply) ? 2 : reply.exitCode,
    stdout: reply.stdout,
    stderr:
      problem === undefined
        ? reply.stderr
        : `${reply.stderr ? `${reply.stderr.trimEnd()}\n` : ''}[SDLC_HOOK] ${problem}`,
    startedAt,
    completedAt: now(),
    skippedReason: null,
  })
}

/** The turn goes on; the row is written when the hook ends, and what it says then reaches the next turn. */
function letRun(round: Round, handler: Prepared, detached: Reply & { kind: 'detached' }, asked: Asked): void {
  const { settled, scope } = round
  const { inputJson, startedAt } = asked
  if (settled.background.isFull) {
    detached.stop()
    note(round, handler, 'failed', `was ended: ${Background.most} hooks run beside the turn already`)
  }
  settled.background.adopt(detached, (reply) => {
    const { verdict, failure } = readEventReply(handler, withoutFirstLine(reply), false)
    const row = { exitCode: reply.exitCode, stdout: reply.stdout, stderr: reply.stderr }
    write(round, handler, inputJson, { ...row, startedAt, completedAt: now(), skippedReason: null })
    const messages = [...verdict.messages, ...(failure ? [`the hook ${handler.label} failed: ${failure}`] : [])]
    const context = [...verdict.context, ...(verdict.decision === 'deny' ? [reasonOf(verdict)] : [])]
    if (context.length > 0 || messages.length > 0) settled.claude?.deliver(scope, { context, messages })
  })
}

/** What follows `{"async": true}` is the answer. */
function withoutFirstLine(reply: Reply): Reply {
  const { stdout } = reply
  if (reply.exitCode !== 0 || stdout === null || !isDetaching(stdout.split('\n', 1)[0]!)) return reply
  const rest = stdout.includes('\n') ? stdout.slice(stdout.indexOf('\n') + 1) : ''
  return { ...reply, ...readExit(0, rest, reply.stderr ?? '', true) }
}

/** Makes the reply of an event's handler part of the round; gives what the audit must add to what it printed. */
function takeEvent(round: Round, handler: Prepared, reply: Reply): string | undefined {
  const name = handler.event as EventName
  const refuses = refusesOnFailure(round, handler)
  const { verdict, failure, warning } = readEventReply(handler, reply, refuses)
  if (warning !== undefined) note(round, handler, 'warned', warning)
  const interrupted = failure !== undefined && reply.kind === 'failure' && reply.cause === 'interrupted'
  if (interrupted && guards(round, handler)) refuse(round, `the hook ${handler.label} ${failure}`)
  const open = failure !== undefined && guards(round, handler) && verdict.decision !== 'deny' && !round.refused
  if (failure !== undefined) note(round, handler, 'failed', open ? `${failure}; ${failedOpen(name)}` : failure, open)
  round.verdict = merge(round.verdict, verdict)
  if (verdict.input !== undefined) {
    round.fields.tool_input = verdict.input
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
  return rowNote(reply.kind === 'failure' ? undefined : (failure ?? warning), open, name)
}

const failedOpen = (name: EventName | StepName): string =>
  `failed open: ${name} went on unchecked ("onFailure": "refuse" refuses instead)`

/** What the row adds to what a handler printed. */
const rowNote = (problem: string | undefined, open: boolean, name: EventName | StepName): string | undefined =>
  open ? `${problem === undefined ? '' : `${problem}; `}${failedOpen(name)}` : problem

/** The same for a step's handler, whose verdict changes the step, wholly or not at all. */
function takeStep(round: Round, handler: Prepared, reply: Reply, draft?: Steps[StepName]): string | undefined {
  const { name, state } = round.subject.step!
  if (reply.kind === 'failure') return failStep(round, handler, reply.why)
  const verdict = readStepReply(reply)
  if (reply.kind === 'answer' && reply.fault !== undefined)
    return failStep(round, handler, reply.fault, reply.fault, verdict)
  const applied = isControl(verdict) ? judged(name, verdict) : applyVerdict(name, (draft ?? state) as never, verdict)
  const taken = applied.ok && draft ? takeDraft(name, state as never, draft as never) : {}
  if (!applied.ok || taken.bad !== undefined) {
    const why = applied.ok ? `wrote what cannot stand in step.${taken.bad}` : sayVerdictError(applied.error)
    return failStep(round, handler, why, why, verdict)
  }
  const warning = applied.warning ?? taken.warning
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
function follow({ subject, fields }: Round): void {
  const { step, event } = subject
  if (step?.name === 'before_tool_apply' && event?.name === 'PreToolUse') {
    fields.tool_input = (step.state as Steps['before_tool_apply']).args
  }
  if (step?.name === 'before_ingest' && event?.name === 'UserPromptSubmit') {
    fields.prompt = textOf((step.state as Steps['before_ingest']).input)
  }
}

/** The first word on control stands. */
function decide(round: Round, control: Control): void {
  if (round.control.kind === 'proceed') round.control = control
  round.isOver = true
}

function refuse(round: Round, why: string): void {
  round.refused ??= why
  round.isOver = true
}

function answerOf({ subject, verdict, control, reasons, refused, notes }: Round): Answer {
  const { step } = subject
  const { input, toolOutput, claudeOutput, goOn, blocks, ...told } = verdict
  const placed = step !== undefined && verdict.context.length > 0 && addContext(step.state, verdict.context)
  if (step?.name === 'before_permission' && (verdict.decision === 'allow' || verdict.decision === 'deny')) {
    ;(step.state as Steps['before_permission']).resolved = verdict.decision === 'allow'
  }
  return {
    ...told,
    control,
    decision: refused === undefined ? verdict.decision : 'deny',
    reason: [reasonOf(verdict), ...reasons, refused ?? ''].filter((text) => text !== '').join('\n'),
    context: placed ? [] : verdict.context,
    updatedInput: step?.name === 'before_tool_apply' ? undefined : input,
    updatedToolOutput: toolOutput,
    updatedClaudeOutput: claudeOutput,
    notes,
  }
}

function shown(round: Round, handler: Prepared): JsonObject {
  const { subject, scope, fields, settled } = round
  if (isAtStep(round, handler)) return stepInput(subject.step!.name, subject.step!.state, scope)
  if (handler.profile !== 'claude') return eventInput(subject.event!.name, fields, scope)
  const session = settled.claude?.sessionOf(scope)
  if (session?.problem) note(round, handler, 'warned', session.problem)
  return claudeInput(subject.event!, fields, scope, session)
}

function toolName({ step }: Subject, fields: JsonObject): string | null {
  const named = fields.tool_name ?? (step && toolOf(step.name, step.state as never))
  return typeof named === 'string' ? named : null
}

const onceKey = ({ scope }: Round, { ordinal }: Prepared) => `${scope.sessionId} ${ordinal}`
const effects = { break: 'stopped', continue: 'continued', skip: 'blocked' } as const

function note(
  { notes }: Round,
  { label, event }: Prepared,
  effect: HookNote['effect'],
  reason: string,
  failedOpen = false,
): void {
  notes.push({ hook: label, event, effect, reason, ...(failedOpen && { failedOpen }) })
}

function write({ scope, settled, fields, subject }: Round, handler: Prepared, inputJson: string, outcome: Outcome) {
  const useId = scope.toolUseId ?? fields.tool_use_id
  const about = {
    toolUseId: typeof useId === 'string' ? useId : null,
    toolName: toolName(subject, fields),
    inputJson,
  }
  scope.record(invocationOf(handler, about, outcome, settled.redact))
}
