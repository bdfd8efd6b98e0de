/** A round in progress: what it is about, what has been decided so far, and what its handlers have in common. */
import type { ClaudeHost } from '../claude/contract.ts'
import type { Profile } from '../claude/profile.ts'
import type { Env, Handler, Wrap } from '../handler.ts'
import type { Reply } from '../handlers/ask.ts'
import type { AskModel } from '../handlers/prompt.ts'
import type { Question } from '../kernel.ts'
import type { Ordered } from '../order.ts'
import type { HookNote, Raised, Scope } from '../plane.ts'
import type { Redact } from '../secrets/redact.ts'
import type { JsonObject } from '../shape.ts'
import { isGate, toolOf } from '../step/apply.ts'
import type { Control, StepName, Steps } from '../steps.ts'
import type { Verdict } from '../verdict.ts'
import type { Matcher, StepMatcher } from '../wire/matcher.ts'
import { canRefuse } from '../wire/messages.ts'
import type { Background } from './background.ts'
import { invocationOf, type Outcome } from './invocation.ts'

/** What a round is about: a step, the event that it raises, or an event alone. */
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

/** What all rounds of a plane have in common. */
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
  /** Handlers with "once" that have already run in their session. */
  readonly done: Set<string>
}

export type MatchesRule = (
  rule: string,
  toolName: string,
  toolInput: JsonObject,
  scope: Scope,
) => boolean | Promise<boolean>

/** What a handler is shown. */
export interface Shown {
  readonly input: JsonObject
  readonly json: string
  /** As the row keeps it. */
  readonly kept: string
}

/** One handler being asked. */
export interface Asked extends Question<Reply> {
  readonly shown: Shown
  readonly startedAt: string
  /** Set for a parallel handler: it may have to wait for earlier ones before its row is written. */
  endedAt: string | undefined
  /** For a function at a step: its copy of the step. */
  readonly draft: Steps[StepName] | undefined
}

/** The round as it goes. */
export interface Round {
  readonly subject: Subject
  readonly scope: Scope
  readonly settled: Settled
  /** The event's fields as the remaining handlers see them. Changed by `change` alone. */
  readonly fields: JsonObject
  /** What was made of these fields for the last handler; the next one is mostly shown the same. */
  lastShown: { readonly profile: Profile | undefined; readonly shown: Shown } | undefined
  verdict: Verdict
  control: Control
  /** Why a step's handler ended it, where the step has no place for the words, and why other hooks denied as well. */
  readonly reasons: string[]
  /** It is decided; no other handler needs to run. */
  isOver: boolean
  /** Why it is refused although no handler denied it: a guard failed. */
  refused: string | undefined
  readonly notes: HookNote[]
}

/** The remaining handlers see this. */
export function change(round: Round, field: 'tool_input' | 'prompt', value: unknown): void {
  round.fields[field] = value
  round.lastShown = undefined
}

export const isAtStep = ({ subject }: Round, handler: Handler) => handler.event === subject.step?.name

/** Whether the handler can refuse what the round is about. */
export const guards = (round: Round, handler: Handler) =>
  isAtStep(round, handler) ? isGate(round.subject.step!.name) : canRefuse(round.subject.event!.name)

/** The first word on control stands. */
export function decide(round: Round, control: Control): void {
  if (round.control.kind === 'proceed') round.control = control
  round.isOver = true
}

export function refuse(round: Round, why: string): void {
  round.refused ??= why
  round.isOver = true
}

export function toolName({ step }: Subject, fields: JsonObject): string | null {
  const named = fields.tool_name ?? (step && toolOf(step.name, step.state as never))
  return typeof named === 'string' ? named : null
}

export const onceKey = ({ scope }: Round, { ordinal }: Prepared) => `${scope.sessionId} ${ordinal}`

export function note(
  { notes }: Round,
  { label, event }: Prepared,
  effect: HookNote['effect'],
  reason: string,
  failedOpen = false,
): void {
  notes.push({ hook: label, event, effect, reason, ...(failedOpen && { failedOpen }) })
}

export function write({ scope, settled, fields, subject }: Round, handler: Prepared, shown: Shown, outcome: Outcome) {
  const useId = scope.toolUseId ?? fields.tool_use_id
  const about = {
    toolUseId: typeof useId === 'string' ? useId : null,
    toolName: toolName(subject, fields),
    inputJson: shown.kept,
  }
  scope.record(invocationOf(handler, about, outcome, settled.redact))
}
