/** The steps on the wire as shapes: for their JSON Schemas, and for reading a made-up step from a file. */

import {
  boolean,
  either,
  type Infer,
  integer,
  json,
  list,
  literal,
  nullable,
  oneOf,
  optional,
  type Parsed,
  parse,
  record,
  type Shape,
  string,
} from '../shape.ts'
import type { StepName, Steps } from '../steps.ts'
import { textBlock } from './blocks.ts'

const count = integer(undefined, { min: 0 })
const stopReason = oneOf(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'])

/** What a handler is shown of each step, without the header. */
export const envelopes = {
  after_session_enter: record({ cwd: string(), source: oneOf(['new', 'resume']) }),
  after_turn_enter: record({ is_subagent: boolean(), agent_type: nullable(string()) }),
  before_ingest: record({
    source: oneOf(['user', 'continuation', 'background']),
    input: string('all text, joined'),
    input_len: count,
  }),
  after_ingest: record({ committed_len: count }),
  before_compact: record({ token_estimate: count, threshold: count }),
  after_compact: record({ tokens_before: count, tokens_after: count }),
  before_generate: record({ model: string(), message_count: count, attempt: count }),
  after_generate: record({
    model: string(),
    usage: record({
      input_tokens: nullable(count),
      output_tokens: nullable(count),
      cache_read_input_tokens: nullable(count),
      cache_creation_input_tokens: nullable(count),
    }),
    stop_reason: stopReason,
    error: nullable(string()),
  }),
  before_permission: record({ tool: string(), decision: oneOf(['allow', 'ask', 'deny']) }),
  after_permission: record({ tool: string(), granted: boolean() }),
  before_tool_apply: record({
    tool: string(),
    safety: oneOf(['read_only', 'mutating', 'destructive', 'network']),
    args: json(),
  }),
  after_tool_apply: record({ tool: string(), is_error: boolean(), output: json() }),
  after_tool_batch: record({ results: list(record({ tool: string(), is_error: boolean() })) }),
  before_turn_end: record({ stop_reason: stopReason, continues_so_far: count, voluntary: boolean() }),
} satisfies Record<StepName, Shape<unknown>>

const control = {
  control: optional(
    nullable(oneOf(['proceed', 'break', 'continue', 'skip', 'veto'], 'absent or null: the step goes on as it is')),
  ),
  stop_reason: optional(string('with break: end_turn, max_tokens, max_turn_requests, refusal or cancelled')),
}
const context = { additional_context: optional(nullable(list(string('put before the model')))) }
const texts = either(string(), list(string()))
const block = either(
  record({ kind: literal('text'), text: string() }),
  record({ kind: literal('image'), mime: string(), data: record({ kind: literal('base64'), encoded: string() }) }),
)
const body = either(
  record({ kind: literal('text'), text: string() }),
  record({ kind: literal('json'), value: json() }),
  record({ kind: literal('content'), blocks: list(block) }),
)

/** What a handler may answer at each step. */
export const verdicts = {
  after_session_enter: record({ ...control, ...context }),
  after_turn_enter: record({ ...control, ...context }),
  before_ingest: record({
    ...control,
    input: optional(nullable(texts)),
    prepend_input: optional(nullable(texts)),
  }),
  after_ingest: record({ ...control, ...context }),
  before_compact: record(control),
  after_compact: record({ ...control, ...context }),
  before_generate: record({
    ...control,
    model: optional(string('for this request')),
    assistant: optional(string('the reply; the model is not called')),
  }),
  after_generate: record(control),
  before_permission: record({ ...control, resolved: optional(boolean('answers for the person')) }),
  after_permission: record(control),
  before_tool_apply: record({
    ...control,
    args: optional(json('replaces the arguments, whole')),
    result: optional(nullable(body)),
    is_error: optional(boolean('of the result')),
  }),
  after_tool_apply: record({ ...control, ...context }),
  after_tool_batch: record({ ...control, ...context }),
  before_turn_end: record({ ...control, ...context }),
} satisfies Record<StepName, Shape<unknown>>

/** A step as its envelope tells it; what an envelope does not show is empty. */
export function readEnvelope<S extends StepName>(name: S, value: unknown): Parsed<Steps[S]> {
  const shape: Shape<unknown> = envelopes[name]
  const parsed = parse(shape, value)
  return parsed.ok ? { ok: true, value: builders[name](parsed.value as never) as Steps[S] } : parsed
}

const additionalContext = () => ({ additionalContext: [] })

const builders: { [S in StepName]: (envelope: Infer<(typeof envelopes)[S]>) => Steps[S] } = {
  after_session_enter: ({ cwd, source }) => ({ cwd, source, ...additionalContext() }),
  after_turn_enter: ({ is_subagent, agent_type }) => ({
    isSubagent: is_subagent,
    agentType: agent_type,
    ...additionalContext(),
  }),
  before_ingest: ({ source, input }) => ({ source, input: [textBlock(input)] }),
  after_ingest: ({ committed_len }) => ({ committedLen: committed_len, ...additionalContext() }),
  before_compact: ({ token_estimate, threshold }) => ({ tokenEstimate: token_estimate, threshold }),
  after_compact: ({ tokens_before, tokens_after }) => ({
    tokensBefore: tokens_before,
    tokensAfter: tokens_after,
    ...additionalContext(),
  }),
  before_generate: ({ model, message_count, attempt }) => ({
    model,
    messageCount: message_count,
    attempt,
    assistantText: null,
  }),
  after_generate: ({ model, usage, stop_reason, error }) => ({ model, usage, stop: stop_reason, error }),
  before_permission: ({ tool, decision }) => ({ tool, decision, resolved: null }),
  after_permission: ({ tool, granted }) => ({ tool, granted }),
  before_tool_apply: ({ tool, safety, args }) => ({ toolName: tool, safety, args, result: null }),
  after_tool_apply: ({ tool, is_error, output }) => ({
    toolName: tool,
    isError: is_error,
    output: typeof output === 'string' ? { kind: 'text', text: output } : { kind: 'json', value: output },
    ...additionalContext(),
  }),
  after_tool_batch: ({ results }) => ({
    results: results.map(({ tool, is_error }) => ({ tool, isError: is_error })),
    ...additionalContext(),
  }),
  before_turn_end: ({ stop_reason, continues_so_far, voluntary }) => ({
    stopReason: stop_reason,
    continuesSoFar: continues_so_far,
    voluntary,
    feedback: [],
  }),
}
