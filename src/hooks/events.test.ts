import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventNames, eventShape, events, header, type OnBlock, rowOf } from './events.ts'
import type { Shape } from './shape.ts'

/** What exit 2 does, what matchers are held against, the step, and the closed lists of words (spec 003 §3, §5.4, appendix A). */
const table: Record<string, [OnBlock, matchOn: string, step: string, words?: Record<string, string>]> = {
  PreToolUse: ['deny', 'tool_name', 'before_tool_apply'],
  PostToolUse: ['show-model', 'tool_name', 'after_tool_apply'],
  PostToolUseFailure: ['show-model', 'tool_name', 'after_tool_apply'],
  PermissionDenied: ['show-user', 'tool_name', 'after_permission'],
  Notification: ['show-user', 'notification_type', ''],
  UserPromptSubmit: ['refuse', '', 'before_ingest'],
  SessionStart: ['show-user', 'source', 'after_session_enter', { source: 'startup resume clear compact' }],
  SessionEnd: [
    'show-user',
    'reason',
    '',
    { reason: 'clear resume logout prompt_input_exit other bypass_permissions_disabled' },
  ],
  Stop: ['go-on', '', 'before_turn_end'],
  StopFailure: [
    'show-user',
    'error',
    '',
    {
      error: 'authentication_failed billing_error rate_limit invalid_request server_error unknown max_output_tokens',
    },
  ],
  SubagentStart: ['show-user', 'agent_type', 'after_turn_enter'],
  SubagentStop: ['go-on', 'agent_type', 'before_turn_end'],
  PreCompact: ['refuse', 'trigger', 'before_compact', { trigger: 'manual auto' }],
  PostCompact: ['show-user', 'trigger', 'after_compact', { trigger: 'manual auto' }],
  PermissionRequest: ['deny', 'tool_name', 'before_permission'],
  Setup: ['show-user', 'trigger', '', { trigger: 'init maintenance' }],
  TeammateIdle: ['go-on', '', ''],
  TaskCreated: ['refuse', '', ''],
  TaskCompleted: ['refuse', '', ''],
  Elicitation: ['refuse', 'mcp_server_name', '', { mode: 'form url' }],
  ElicitationResult: ['refuse', 'mcp_server_name', '', { mode: 'form url', action: 'accept decline cancel' }],
  ConfigChange: [
    'refuse',
    'source',
    '',
    { source: 'user_settings project_settings local_settings policy_settings skills' },
  ],
  InstructionsLoaded: [
    'show-user',
    'load_reason',
    '',
    {
      memory_type: 'User Project Local Managed',
      load_reason: 'session_start nested_traversal path_glob_match include compact',
    },
  ],
  WorktreeCreate: ['refuse', '', ''],
  WorktreeRemove: ['show-user', '', ''],
  CwdChanged: ['show-user', '', ''],
  FileChanged: ['show-user', 'file_path', '', { event: 'change add unlink' }],
}

const wordsOf = (fields: Record<string, Shape<unknown>>) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, shape]) => {
      const { enum: words } = shape.schema() as { enum?: string[] }
      return words ? [[key, words.join(' ')]] : []
    }),
  )

test('the 27 events: what a block does, what is matched, the step and the closed lists of words', () => {
  assert.deepEqual([...eventNames], Object.keys(table))
  for (const name of eventNames) {
    const { onBlock, fields, ...row } = events[name] as {
      onBlock: OnBlock
      fields: Record<string, Shape<unknown>>
      matchOn?: string
      step?: string
    }
    const [expected, matchOn, step, words = {}] = table[name]!
    assert.deepEqual(
      [onBlock, row.matchOn ?? '', row.step ?? '', wordsOf(fields)],
      [expected, matchOn, step, words],
      name,
    )
  }
})

test('a matcher is ignored at these events, and at no other', () => {
  assert.deepEqual(
    eventNames.filter((name) => rowOf(name).takesNoMatcher),
    ['UserPromptSubmit', 'Stop', 'WorktreeCreate', 'WorktreeRemove', 'CwdChanged'],
  )
})

test('the fields of every event, with the header', (t) => {
  const shapes = eventNames.map(
    (name) => [name, eventShape(name).schema() as { properties: Record<string, unknown>; required: string[] }] as const,
  )
  const common = Object.keys(header)
  t.assert.snapshot(
    [
      `every event: ${fieldsOf(shapes[0]![1], (key) => common.includes(key))}`,
      ...shapes.map(([name, shape]) => `${name}: ${fieldsOf(shape, (key) => !common.includes(key))}`),
    ].join('\n'),
    { serializers: [(text) => text] },
  )
})

/** `name: schema` for each field, with a `?` where it may be missing. */
const fieldsOf = (
  { properties, required }: { properties: Record<string, unknown>; required: string[] },
  isWanted: (key: string) => boolean,
) =>
  Object.entries(properties)
    .filter(([key]) => isWanted(key))
    .map(([key, schema]) => `${key}${required.includes(key) ? '' : '?'} ${JSON.stringify(schema)}`)
    .join(', ')
