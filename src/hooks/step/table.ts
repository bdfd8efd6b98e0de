/** The 14 steps, one row each: what a handler is shown, what it may answer, and what each answer changes. */
import {
  boolean,
  either,
  integer,
  type JsonObject,
  json,
  list,
  literal,
  nullable,
  oneOf,
  optional,
  record,
  type Shape,
  string,
} from '../shape.ts'
import type { Block, Control, StepName, Steps, ToolResultBody } from '../steps.ts'
import { readBody, showBody, textBlock, textOf } from './blocks.ts'
import { isBlocks, isJson, isResult } from './fits.ts'

export interface StepRow<S extends StepName = StepName> {
  readonly fields: { readonly [F in keyof Steps[S]]: Field<Steps[S][F]> }
  /** Shown besides the fields. */
  readonly derived?: Readonly<Record<string, { readonly shape: Shape<unknown>; show(step: Steps[S]): unknown }>>
  /** What a verdict may say besides `control` and `stop_reason`. */
  readonly verdict: { readonly [key: string]: Entry<Steps[S]> }
  /** The field that names the tool, for matchers. */
  readonly tool?: keyof Steps[S] & string
  /** What the abstract veto means; by default the turn ends. */
  readonly veto?: Control
  /** A handler that fails here blocks, unless it says otherwise. */
  readonly isGate?: true
}

/** One field of a step. */
export interface Field<T> {
  /** Its key in the envelope; without it the field is not shown. */
  readonly wire?: string
  readonly shape?: Shape<unknown>
  show?(value: T): unknown
  /** From what the envelope shows; `value` as it is by default. */
  read?(value: never): T
  /** Where an envelope does not show it. */
  empty?(): T
  /** A writable field and its allowed values. The others are facts. */
  fits?(value: unknown): boolean
  /** A wrong value is ignored with a warning; elsewhere it spoils the whole verdict. */
  readonly lenient?: true
}

/** One key of a verdict. */
export interface Entry<Step> {
  readonly shape: Shape<unknown>
  /** The fields that it changes, undefined where it says nothing; a fault where the value cannot be read. */
  change?(value: unknown, step: Step, own: (key: string) => unknown): Partial<Step> | Fault | undefined
}

export class Fault {
  readonly reason: 'not_a_list' | 'entry_not_string' | undefined
  readonly isIgnored: boolean
  constructor(reason?: Fault['reason'], { isIgnored = false }: { isIgnored?: boolean } = {}) {
    this.reason = reason
    this.isIgnored = isIgnored
  }
}

const count = integer(undefined, { min: 0 })
export const stopReasons = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'] as const

const fact = <T>(wire: string, shape: Shape<T>): Field<T> => ({ wire, shape })
const ignoredUnlessNull = (value: unknown) => (value === null ? undefined : new Fault(undefined, { isIgnored: true }))

/** Text for the model, added in the field given. */
const adding = <F extends string>(field: F) => ({
  fields: { [field]: { empty: () => [], fits: isBlocks } } as unknown as { [K in F]: Field<Block[]> },
  verdict: {
    additional_context: {
      shape: nullable(list(string('put before the model'))),
      change(value: unknown, step: { [K in F]: Block[] }) {
        const added = texts(value)
        return added instanceof Fault ? added : ({ [field]: [...step[field], ...added] } as { [K in F]: Block[] })
      },
    },
  },
})
const context = adding('additionalContext')
const feedback = adding('feedback')

/** A string, or a list of strings. */
const oneOrMore = nullable(either(string(), list(string())))

const tool = fact('tool', string())
const isError = fact('is_error', boolean())

const wireBlock = either(
  record({ kind: literal('text'), text: string() }),
  record({
    kind: literal('image'),
    mime: string(),
    data: either(
      record({ kind: literal('base64'), encoded: string() }),
      record({ kind: literal('url'), url: string() }),
    ),
  }),
)
const wireBody = either(
  record({ kind: literal('text'), text: string() }),
  record({ kind: literal('json'), value: json() }),
  record({ kind: literal('content'), blocks: list(wireBlock) }),
)

export const steps: { readonly [S in StepName]: StepRow<S> } = {
  after_session_enter: {
    fields: { cwd: fact('cwd', string()), source: fact('source', oneOf(['new', 'resume'])), ...context.fields },
    verdict: context.verdict,
  },
  after_turn_enter: {
    fields: {
      isSubagent: fact('is_subagent', boolean()),
      agentType: fact('agent_type', nullable(string())),
      ...context.fields,
    },
    verdict: context.verdict,
  },
  before_ingest: {
    fields: {
      source: fact('source', oneOf(['user', 'continuation', 'background'])),
      input: {
        wire: 'input',
        shape: string('all text, joined'),
        show: textOf,
        read: (text: string) => [textBlock(text)],
        fits: isBlocks,
      },
    },
    derived: { input_len: { shape: count, show: ({ input }) => input.length } },
    verdict: {
      input: { shape: oneOrMore, change: (value) => placed(value, (blocks) => ({ input: blocks })) },
      prepend_input: {
        shape: oneOrMore,
        change: (value, { input }) => placed(value, (blocks) => ({ input: [...blocks, ...input] })),
      },
    },
    isGate: true,
  },
  after_ingest: { fields: { committedLen: fact('committed_len', count), ...context.fields }, verdict: context.verdict },
  before_compact: {
    fields: { tokenEstimate: fact('token_estimate', count), threshold: fact('threshold', count) },
    verdict: {},
    veto: { kind: 'skip' },
  },
  after_compact: {
    fields: {
      tokensBefore: fact('tokens_before', count),
      tokensAfter: fact('tokens_after', count),
      ...context.fields,
    },
    verdict: context.verdict,
  },
  before_generate: {
    fields: {
      model: { ...fact('model', string()), fits: isString, lenient: true },
      messageCount: fact('message_count', count),
      attempt: fact('attempt', count),
      assistantText: { empty: () => null, fits: (text) => text === null || isString(text), lenient: true },
    },
    verdict: {
      model: {
        shape: string('for this request'),
        change: (model) => (isString(model) ? { model } : ignoredUnlessNull(model)),
      },
      assistant: {
        shape: string('the reply; the model is not called'),
        change: (text) => (isString(text) ? { assistantText: text } : ignoredUnlessNull(text)),
      },
    },
  },
  after_generate: {
    fields: {
      model: fact('model', string()),
      usage: fact(
        'usage',
        record({
          input_tokens: nullable(count),
          output_tokens: nullable(count),
          cache_read_input_tokens: nullable(count),
          cache_creation_input_tokens: nullable(count),
        }),
      ),
      stop: fact('stop_reason', oneOf(stopReasons)),
      error: fact('error', nullable(string())),
    },
    verdict: {},
  },
  before_permission: {
    fields: {
      tool,
      decision: fact('decision', oneOf(['allow', 'ask', 'deny'])),
      resolved: { empty: () => null, fits: (said) => said === null || isBoolean(said), lenient: true },
    },
    verdict: {
      resolved: {
        shape: boolean('answers for the user'),
        change: (resolved) => (isBoolean(resolved) ? { resolved } : ignoredUnlessNull(resolved)),
      },
    },
    tool: 'tool',
    isGate: true,
  },
  after_permission: { fields: { tool, granted: fact('granted', boolean()) }, verdict: {}, tool: 'tool' },
  before_tool_apply: {
    fields: {
      toolName: tool,
      safety: fact('safety', oneOf(['read_only', 'mutating', 'destructive', 'network'])),
      args: { ...fact('args', json()), fits: isJson },
      result: { empty: () => null, fits: (result) => result === null || isResult(result) },
    },
    verdict: {
      args: { shape: json('replaces the arguments, whole'), change: (args) => ({ args }) },
      result: {
        shape: nullable(wireBody),
        change(value, _, own) {
          if (value === null) return undefined
          const body = readBody(value)
          return body === null ? new Fault() : { result: { body, isError: own('is_error') === true } }
        },
      },
      /** Read beside `result`. */
      is_error: { shape: boolean('of the result') },
    },
    tool: 'toolName',
    isGate: true,
  },
  after_tool_apply: {
    fields: {
      toolName: tool,
      isError,
      output: {
        wire: 'output',
        shape: json(),
        show: showBody,
        read: (output: unknown): ToolResultBody =>
          isString(output) ? { kind: 'text', text: output } : { kind: 'json', value: output },
      },
      ...context.fields,
    },
    verdict: context.verdict,
    tool: 'toolName',
  },
  after_tool_batch: {
    fields: {
      results: {
        wire: 'results',
        shape: list(record({ tool: string(), is_error: boolean() })),
        show: (results) => results.map(({ tool, isError }) => ({ tool, is_error: isError })),
        read: (results: { tool: string; is_error: boolean }[]) =>
          results.map(({ tool, is_error }) => ({ tool, isError: is_error })),
      },
      ...context.fields,
    },
    verdict: context.verdict,
  },
  before_turn_end: {
    fields: {
      stopReason: fact('stop_reason', oneOf(stopReasons)),
      continuesSoFar: fact('continues_so_far', count),
      voluntary: fact('voluntary', boolean()),
      ...feedback.fields,
    },
    verdict: feedback.verdict,
    veto: { kind: 'continue' },
  },
}

/** A step's row, whichever it is. */
export const stepRow = (name: StepName): StepRow => steps[name] as unknown as StepRow
export const fieldsOf = (name: StepName): [string, Field<unknown>][] =>
  Object.entries(steps[name].fields as Record<string, Field<unknown>>)

/** What a handler is shown of a step, without the header. */
export const envelopeShape = (name: StepName): Shape<unknown> =>
  record({
    ...Object.fromEntries(fieldsOf(name).flatMap(([, { wire, shape }]) => (wire && shape ? [[wire, shape]] : []))),
    ...Object.fromEntries(Object.entries(stepRow(name).derived ?? {}).map(([wire, { shape }]) => [wire, shape])),
  })

/** What a handler may answer at a step. */
export const verdictShape = (name: StepName): Shape<JsonObject> =>
  record({
    control: optional(
      nullable(oneOf(['proceed', 'break', 'continue', 'skip', 'veto'], 'absent or null: the step goes on as it is')),
    ),
    stop_reason: optional(string('with break: end_turn, max_tokens, max_turn_requests, refusal or cancelled')),
    ...Object.fromEntries(Object.entries(stepRow(name).verdict).map(([key, { shape }]) => [key, optional(shape)])),
  }) as Shape<JsonObject>

function isString(value: unknown): value is string {
  return typeof value === 'string'
}
function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

function texts(value: unknown): Block[] | Fault {
  if (value === null) return []
  if (!Array.isArray(value)) return new Fault('not_a_list')
  return value.every(isString) ? value.map(textBlock) : new Fault('entry_not_string')
}

function placed<T>(value: unknown, change: (blocks: Block[]) => T): T | Fault | undefined {
  if (value === null) return undefined
  const blocks = isString(value) ? [textBlock(value)] : texts(value)
  return blocks instanceof Fault ? blocks : change(blocks)
}
