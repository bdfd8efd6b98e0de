/** The steps on the wire: what a handler is shown of a step, and what its verdict does to it (spec 004). */

import { isObject, type JsonObject } from '../shape.ts'
import type { Block, Control, Safety, StepName, Steps, StopReason } from '../steps.ts'
import { readBody, showBody, textBlock, textOf } from './blocks.ts'

/** Why a verdict was not applied. Nothing of it was: all or nothing. */
export type VerdictError =
  | { readonly kind: 'unknown_control'; readonly value: string }
  | { readonly kind: 'malformed'; readonly field: string; readonly reason?: 'not_a_list' | 'entry_not_string' }

export type Applied =
  | { readonly ok: true; readonly control: Control; readonly warning?: string }
  | { readonly ok: false; readonly error: VerdictError }

export const proceed: Control = { kind: 'proceed' }

/** What is shown of a step, without the header. */
export const toEnvelope = <S extends StepName>(name: S, step: Steps[S]): JsonObject => rows[name].envelope(step)

/** The name of the tool that a step is about, and its safety class, for matchers. */
export const toolOf = <S extends StepName>(name: S, step: Steps[S]): string | undefined => rows[name].tool?.(step)
export const safetyOf = (step: Steps[StepName]): Safety | undefined => ('safety' in step ? step.safety : undefined)

/** Whether a failing handler blocks here. */
export const isGate = (name: StepName): boolean =>
  name === 'before_tool_apply' || name === 'before_permission' || name === 'before_ingest'

/** Applies a verdict to the step, wholly or not at all. A verdict that is no object says nothing. */
export function applyVerdict<S extends StepName>(name: S, step: Steps[S], verdict: unknown): Applied {
  if (!isObject(verdict)) return { ok: true, control: proceed }
  const row = rows[name]
  const control = readControl(verdict, row.veto ?? endTurn)
  if ('error' in control) return { ok: false, error: control.error }
  const change = row.change?.(own(verdict), step)
  if (change && 'error' in change) return { ok: false, error: change.error }
  if (change) Object.assign(step, change.fields)
  return judged(name, control)
}

/** A control that has no meaning at this step counts as proceed, with a warning. */
export function judged(name: StepName, control: Control): Applied & { ok: true } {
  const place = placeOf[control.kind]
  if (!place || place === name) return { ok: true, control }
  return { ok: true, control: proceed, warning: `"${control.kind}" means nothing at ${name}, only at ${place}` }
}

/**
 * Several verdicts on one step: each sees what the ones before it changed, and the first control other than proceed
 * ends it. `onError` says what a bad verdict means: a control to end with, or undefined to pass over it.
 */
export function runStepPipeline<S extends StepName>(
  name: S,
  step: Steps[S],
  verdicts: Iterable<unknown>,
  onError: (error: VerdictError) => Control | undefined,
): Control {
  for (const verdict of verdicts) {
    const applied = applyVerdict(name, step, verdict)
    const control = applied.ok ? applied.control : onError(applied.error)
    if (control && (control.kind !== 'proceed' || !applied.ok)) return control
  }
  return proceed
}

export function sayVerdictError(error: VerdictError): string {
  if (error.kind === 'unknown_control') {
    return `control is ${error.value}; it must be one of proceed, break, continue, skip, veto`
  }
  if (error.field === 'result')
    return 'result must be {"kind":"text","text":…}, {"kind":"json","value":…} or {"kind":"content","blocks":[…]}'
  return error.reason === 'entry_not_string'
    ? `${error.field} must hold strings only`
    : `${error.field} must be a list of strings`
}

/** Puts text for the model on the step, where it has a place for it. */
export function addContext(step: Steps[StepName], texts: readonly string[]): boolean {
  const place = 'feedback' in step ? step.feedback : 'additionalContext' in step ? step.additionalContext : undefined
  if (!place) return false
  place.push(...texts.map(textBlock))
  return true
}

interface Row<S extends StepName> {
  envelope(step: Steps[S]): JsonObject
  tool?(step: Steps[S]): string
  /** The new values of the fields that a verdict changes. */
  change?(verdict: Own, step: Steps[S]): Change<S>
  /** What the abstract veto means; by default the turn ends. */
  readonly veto?: Control
}

type Change<S extends StepName> = { fields: Partial<Steps[S]> } | { error: VerdictError }
type Own = (key: string) => unknown
type Rows = { [S in StepName]: Row<S> }

const endTurn: Control = { kind: 'break', reason: 'end_turn' }
const placeOf: Partial<Record<Control['kind'], StepName>> = { continue: 'before_turn_end', skip: 'before_compact' }

/** A step whose verdict may add text for the model, in the field given. */
function adding<S extends StepName, F extends keyof Steps[S] & string>(field: F): Required<Pick<Row<S>, 'change'>> {
  return {
    change(verdict, step) {
      const added = texts(verdict('additional_context'), 'additional_context')
      if ('error' in added) return added
      return { fields: { [field]: [...(step[field] as Block[]), ...added.blocks] } as unknown as Partial<Steps[S]> }
    },
  }
}

const rows: Rows = {
  after_session_enter: {
    envelope: ({ cwd, source }) => ({ cwd, source }),
    ...adding('additionalContext'),
  },
  after_turn_enter: {
    envelope: ({ isSubagent, agentType }) => ({ is_subagent: isSubagent, agent_type: agentType }),
    ...adding('additionalContext'),
  },
  before_ingest: {
    envelope: ({ source, input }) => ({ source, input: textOf(input), input_len: input.length }),
    change(verdict, step) {
      const replaced = oneOrMore(verdict('input'), 'input')
      if ('error' in replaced) return replaced
      const prepended = oneOrMore(verdict('prepend_input'), 'prepend_input')
      if ('error' in prepended) return prepended
      return { fields: { input: [...(prepended.blocks ?? []), ...(replaced.blocks ?? step.input)] } }
    },
  },
  after_ingest: {
    envelope: ({ committedLen }) => ({ committed_len: committedLen }),
    ...adding('additionalContext'),
  },
  before_compact: {
    envelope: ({ tokenEstimate, threshold }) => ({ token_estimate: tokenEstimate, threshold }),
    veto: { kind: 'skip' },
  },
  after_compact: {
    envelope: ({ tokensBefore, tokensAfter }) => ({ tokens_before: tokensBefore, tokens_after: tokensAfter }),
    ...adding('additionalContext'),
  },
  before_generate: {
    envelope: ({ model, messageCount, attempt }) => ({ model, message_count: messageCount, attempt }),
    change(verdict) {
      const model = verdict('model')
      const assistant = verdict('assistant')
      return {
        fields: {
          ...(typeof model === 'string' && { model }),
          ...(typeof assistant === 'string' && { assistantText: assistant }),
        },
      }
    },
  },
  after_generate: {
    envelope: ({ model, usage, stop, error }) => ({ model, usage, stop_reason: stop, error }),
  },
  before_permission: {
    envelope: ({ tool, decision }) => ({ tool, decision }),
    tool: ({ tool }) => tool,
    change(verdict) {
      const resolved = verdict('resolved')
      return { fields: typeof resolved === 'boolean' ? { resolved } : {} }
    },
  },
  after_permission: {
    envelope: ({ tool, granted }) => ({ tool, granted }),
    tool: ({ tool }) => tool,
  },
  before_tool_apply: {
    envelope: ({ toolName, safety, args }) => ({ tool: toolName, safety, args }),
    tool: ({ toolName }) => toolName,
    change(verdict) {
      const args = verdict('args')
      const given = verdict('result')
      const body = given === undefined || given === null ? undefined : readBody(given)
      if (body === null) return { error: { kind: 'malformed', field: 'result' } }
      return {
        fields: {
          ...(args !== undefined && { args }),
          ...(body && { result: { body, isError: verdict('is_error') === true } }),
        },
      }
    },
  },
  after_tool_apply: {
    envelope: ({ toolName, isError, output }) => ({ tool: toolName, is_error: isError, output: showBody(output) }),
    tool: ({ toolName }) => toolName,
    ...adding('additionalContext'),
  },
  after_tool_batch: {
    envelope: ({ results }) => ({ results: results.map(({ tool, isError }) => ({ tool, is_error: isError })) }),
    ...adding('additionalContext'),
  },
  before_turn_end: {
    envelope: ({ stopReason, continuesSoFar, voluntary }) => ({
      stop_reason: stopReason,
      continues_so_far: continuesSoFar,
      voluntary,
    }),
    ...adding('feedback'),
    veto: { kind: 'continue' },
  },
}

const stopReasons: readonly string[] = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']

function readControl(verdict: JsonObject, veto: Control): Control | { error: VerdictError } {
  const word = Object.hasOwn(verdict, 'control') ? verdict.control : null
  if (word === null || word === undefined || word === 'proceed') return proceed
  if (word === 'continue' || word === 'skip') return { kind: word }
  if (word === 'veto') return veto
  if (word === 'break') {
    const reason = verdict.stop_reason as StopReason
    return { kind: 'break', reason: stopReasons.includes(reason) ? reason : 'end_turn' }
  }
  return { error: { kind: 'unknown_control', value: typeof word === 'string' ? word : JSON.stringify(word) } }
}

/** Only what the verdict itself holds: never a name that its prototype has. */
const own =
  (verdict: JsonObject): Own =>
  (key) =>
    Object.hasOwn(verdict, key) ? verdict[key] : undefined

function texts(value: unknown, field: string): { blocks: Block[] } | { error: VerdictError } {
  if (value === undefined || value === null) return { blocks: [] }
  if (!Array.isArray(value)) return { error: { kind: 'malformed', field, reason: 'not_a_list' } }
  if (!value.every((text) => typeof text === 'string')) {
    return { error: { kind: 'malformed', field, reason: 'entry_not_string' } }
  }
  return { blocks: value.map(textBlock) }
}

function oneOrMore(value: unknown, field: string): { blocks?: Block[] } | { error: VerdictError } {
  if (value === undefined || value === null) return {}
  return typeof value === 'string' ? { blocks: [textBlock(value)] } : texts(value, field)
}
