/** A round: the handlers concerned run in order, and their answers become one. */
import { setsEnv } from '../claude/contract.ts'
import { questionFor, type Reply, replyOf } from '../handlers/ask.ts'
import { defaultTimeout } from '../handlers/timeout.ts'
import { askInOrder, type Policy } from '../kernel.ts'
import type { Answer, Scope } from '../plane.ts'
import type { JsonObject } from '../shape.ts'
import { addContext, proceed } from '../step/apply.ts'
import { copy, draftOf } from '../step/draft.ts'
import type { Steps } from '../steps.ts'
import { noOpinion, reasonOf } from '../verdict.ts'
import { concerns, meetsCondition, whySkipped } from './admit.ts'
import { notAsked, now } from './invocation.ts'
import { show } from './show.ts'
import {
  type Asked,
  guards,
  isAtStep,
  type Prepared,
  type Round,
  refuse,
  type Settled,
  type Subject,
  write,
} from './state.ts'
import { refusesOnFailure, take } from './take.ts'

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
    lastShown: undefined,
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
    return meetsCondition(round, handler).then((applies) => applies && (whySkipped(round, handler) ?? true))
  },
  isParallel: (handler) => handler.parallel === true && !isAtStep(round, handler),
  question: (handler) => openQuestion(round, handler),
  settle(handler, outcome, asked) {
    if (asked) take(round, handler, replyOf(outcome), asked)
    else if (outcome.kind === 'skipped') {
      write(round, handler, show(round, handler), notAsked(outcome.why))
      if (outcome.why === 'interrupted' && guards(round, handler)) refuse(round, outcome.why)
    }
    return round.isOver
  },
})

function openQuestion(round: Round, handler: Prepared): Asked {
  const { subject, scope, settled } = round
  const shown = show(round, handler)
  const isFunction = handler.kind === 'function'
  const draft =
    isFunction && isAtStep(round, handler) ? draftOf(subject.step!.name, subject.step!.state as never) : undefined
  const question = questionFor(handler, {
    input: isFunction ? copy(shown.input) : shown.input,
    inputJson: shown.json,
    scope,
    timeoutMs: handler.timeoutMs ?? defaultTimeout(handler, settled.env),
    env: settled.env,
    askModel: settled.askModel,
    mayDetach: mayDetach(round, handler),
    ...(settled.wrap && { wrap: settled.wrap }),
    ...(settled.claude && setsEnv(handler) && { envFile: settled.claude.envFile(scope, envFileName(handler)) }),
    draft,
  })
  const asked: Asked = {
    ...question,
    shown,
    draft,
    startedAt: now(),
    endedAt: undefined,
    ended() {
      asked.endedAt = now()
    },
  }
  return asked
}

/** Beside the turn nothing can be refused any more. What is declared `async` is no guard. */
function mayDetach(round: Round, handler: Prepared): boolean {
  if (handler.kind !== 'command' || handler.profile !== 'claude' || isAtStep(round, handler)) return false
  if (handler.async) return true
  return handler.onFailure !== 'refuse' && !(guards(round, handler) && refusesOnFailure(round, handler))
}

const envFileName = ({ event, ordinal }: Prepared) => `${event.toLowerCase()}-hook-${ordinal}.sh`

function answerOf({ subject, verdict, control, reasons, refused, notes }: Round): Answer {
  const { step } = subject
  const { input, toolOutput, claudeOutput, goOn, blocks, ...answer } = verdict
  const placed = step !== undefined && verdict.context.length > 0 && addContext(step.state, verdict.context)
  if (step?.name === 'before_permission' && (verdict.decision === 'allow' || verdict.decision === 'deny')) {
    ;(step.state as Steps['before_permission']).resolved = verdict.decision === 'allow'
  }
  return {
    ...answer,
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
