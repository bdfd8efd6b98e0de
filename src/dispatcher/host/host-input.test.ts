/** What each host sends, read into one event; and what is said of input that cannot be read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventName, Json } from '../types.ts'
import { parseInput, recogniseDialect, toHostEvent } from './host-input.ts'

const said = (text: string, name: EventName = 'PreToolUse') => parseInput({ text }, name)

test('input that cannot be read is named, and a call in it was seen by no guard', () => {
  const unseen = (problem: string) => ({ raw: {}, problems: [problem], unseen: true })
  assert.deepEqual(parseInput({ problem: 'empty' }, 'Stop'), unseen('stdin was empty'))
  assert.deepEqual(parseInput({ problem: 'silent' }, 'Stop'), unseen('stdin stayed open and silent'))
  assert.deepEqual(parseInput({ problem: 'cut-off' }, 'Stop'), unseen('stdin broke off in the middle'))
  assert.deepEqual(parseInput({ problem: 'too-large' }, 'Stop'), unseen('stdin is over 128 MiB'))
  assert.deepEqual(said('[]'), unseen('stdin is not a JSON object'))
  assert.deepEqual(
    said('{'),
    unseen("stdin is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)"),
  )
  assert.deepEqual(said('{"a":1}'), { raw: { a: 1 }, problems: ['stdin names no tool'], unseen: true })
  assert.deepEqual(said('\uFEFF{"toolName":"x"}'), { raw: { toolName: 'x' }, problems: [], unseen: false })
  assert.deepEqual(said('{"tool_name":"x","hook_event_name":"Stop"}').problems, [
    'the host says Stop but this is registered for PreToolUse',
  ])
  assert.deepEqual(said(`{"tool_name":"x","hookEventName":"${'y'.repeat(60)}"}`).problems, [
    `the host says ${'y'.repeat(40)} but this is registered for PreToolUse`,
  ])
  assert.deepEqual(said('{"hook_event_name":"Stop"}').problems, [
    ...['the host says Stop but this is registered for PreToolUse', 'stdin names no tool'],
  ])
  for (const [named, name] of [
    ['PreToolUse', 'PreToolUse'],
    ['preToolUse', 'PreToolUse'],
    ['userPromptSubmitted', 'UserPromptSubmit'],
    ['sessionStart', 'SessionStart'],
  ] as const)
    assert.deepEqual([named, said(`{"tool_name":"x","hook_event_name":"${named}"}`, name).problems], [named, []])
  for (const named of ['preToolUse', 'userPromptSubmitted', 'toString'])
    assert.deepEqual(said(`{"hook_event_name":"${named}"}`, 'Stop').problems, [
      `the host says ${named} but this is registered for Stop`,
    ])
  assert.deepEqual(said('{}', 'Stop'), { raw: {}, problems: [], unseen: false })
})

const eventOf = (raw: Json, name: EventName = 'PreToolUse') => {
  const { paths, ...event } = toHostEvent(name, raw, '/repo')
  return { ...Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined)), paths }
}

test('the same event in the spelling of each host', (t) => {
  const before = process.env['COPILOT_SESSION_ID']
  t.after(() => {
    if (before !== undefined) process.env['COPILOT_SESSION_ID'] = before
    else delete process.env['COPILOT_SESSION_ID']
  })
  delete process.env['COPILOT_SESSION_ID']
  const snake = {
    ...{ tool_name: 'Read', tool_input: { file_path: 'a' }, tool_response: 'out', tool_error: 'no', tool_use_id: 'u' },
    ...{ prompt: 'p', transcript_path: '/t', agent_id: 'i', agent_type: 'Plan', subagentPrompt: 'sp' },
    ...{ last_assistant_message: 'said', compactSummary: 'c', custom_instructions: 'ci', stop_hook_active: true },
    ...{
      source: 's',
      trigger: 'auto',
      cwd: '/c',
      timestamp: 't',
      model: 'm',
      permission_mode: 'plan',
      session_id: 'sid',
    },
  }
  const camel = {
    ...{ toolName: 'Read', toolInput: { file_path: 'a' }, toolOutput: 'out', toolError: 'no', toolUseId: 'u' },
    ...{ prompt: 'p', transcriptPath: '/t', agentId: 'i', agentType: 'Plan', subagentPrompt: 'sp' },
    ...{ subagentResult: 'said', compactSummary: 'c', customInstructions: 'ci', stopHookActive: true },
    ...{
      source: 's',
      trigger: 'auto',
      cwd: '/c',
      timestamp: 't',
      model: 'm',
      permission_mode: 'plan',
      sessionId: 'sid',
    },
  }
  const expected = {
    ...{ name: 'PreToolUse', toolName: 'Read', tool: 'read_file', toolInput: { file_path: 'a' }, toolOutput: 'out' },
    ...{ toolError: 'no', toolUseId: 'u', prompt: 'p', transcript_path: '/t', subagentId: 'i', subagentType: 'Plan' },
    ...{ subagentPrompt: 'sp', subagentResult: 'said', compactSummary: 'c', customInstructions: 'ci' },
    ...{ stopHookActive: true, source: 's', trigger: 'auto', cwd: '/c', timestamp: 't', model: 'm' },
    ...{ permissionMode: 'plan', hostSessionId: 'sid', paths: ['a'] },
  }
  assert.deepEqual(eventOf(snake), expected)
  assert.deepEqual(eventOf(camel), expected)
  const bare = { name: 'PreToolUse', stopHookActive: false, paths: [] }
  assert.deepEqual(eventOf({}), bare)
  const copilot = {
    toolName: 'view',
    toolArgs: '{"path":"a"}',
    toolResult: { x: 1 },
    error: 'e',
    agentName: 'n',
    subagentId: 'z',
    timestamp: 0,
  }
  assert.deepEqual(eventOf(copilot), {
    ...{ ...bare, toolName: 'view', tool: 'read_file', toolInput: { path: 'a' }, toolOutput: { x: 1 }, toolError: 'e' },
    ...{ subagentType: 'n', subagentId: 'z', timestamp: '1970-01-01T00:00:00.000Z', paths: ['a'] },
  })
  assert.deepEqual(eventOf({ tool_input: 'plain text', subagentType: 'q', tool_result: 'r' }), {
    ...bare,
    subagentType: 'q',
    toolOutput: 'r',
  })
  assert.deepEqual(eventOf({ tool_input: '[1]' }), bare)
  process.env['COPILOT_SESSION_ID'] = 'from-env'
  assert.deepEqual(eventOf({}), { ...bare, hostSessionId: 'from-env' })
  // of several spellings of a field the first counts
  const others = { ...{ toolArgs: {}, toolResult: 1, error: 'x' }, ...{ agentName: 'x', subagentId: 'x' } }
  const { subagentResult: _, ...later } = { ...camel, tool_result: 1, toolInput: {}, toolOutput: 2 }
  const changed = Object.entries(later).map(([key, value]) => [key, typeof value === 'string' ? `not ${value}` : value])
  assert.deepEqual(eventOf({ ...others, ...Object.fromEntries(changed), ...snake }), expected)
  assert.deepEqual(eventOf({ ...others, subagentType: 'x', last_assistant_message: 'x', ...camel }), expected)
  assert.deepEqual(eventOf({ toolResult: 2, toolOutput: 1 }), { ...bare, toolOutput: 1, hostSessionId: 'from-env' })
  assert.deepEqual(eventOf({ toolOutput: 2, tool_result: 1 }), { ...bare, toolOutput: 1, hostSessionId: 'from-env' })
})

test('the dialect is what was asked for, or what the input and the environment show', (t) => {
  const names = ['CLAUDE_PROJECT_DIR', 'COPILOT_SESSION_ID', 'COPILOT_CLI']
  const before = names.map((name) => process.env[name])
  t.after(() => {
    for (const [at, name] of names.entries()) {
      delete process.env[name]
      if (before[at] !== undefined) process.env[name] = before[at]
    }
  })
  for (const name of names) delete process.env[name]
  const table: [string | undefined, Json, string][] = [
    ['vscode', {}, 'vscode'],
    ['claude', {}, 'claude'],
    ['copilot-cli', {}, 'copilot-cli'],
    ['auto', {}, 'vscode'],
    [undefined, {}, 'vscode'],
    ['constructor', {}, 'vscode'],
    [undefined, { permission_mode: 'plan' }, 'claude'],
    [undefined, { toolArgs: '{}' }, 'copilot-cli'],
    [undefined, { tool_result: 'x' }, 'copilot-cli'],
    [undefined, { tool_name: 'Read' }, 'copilot-cli'],
    [undefined, { toolName: 'read_file' }, 'vscode'],
  ]
  for (const [asked, raw, dialect] of table)
    assert.deepEqual([asked, raw, recogniseDialect(asked, raw)], [asked, raw, dialect])
  process.env['COPILOT_CLI'] = '1'
  assert.deepEqual(
    ['vscode', 'claude', 'copilot-cli', undefined].map((asked) => recogniseDialect(asked, {})),
    ['vscode', 'copilot-cli', 'copilot-cli', 'copilot-cli'],
  )
})

test('the files of a patch are paths of the call, also where the whole input is the patch', () => {
  const patch =
    '*** Begin Patch\n*** Add File: a\n+x\n  *** Add File: b\n*** Update File: c\n*** Move to: d\n*** End Patch'
  for (const toolArgs of [{ input: patch }, JSON.stringify({ patch }), patch])
    assert.deepEqual(toHostEvent('PreToolUse', { toolName: 'apply_patch', toolArgs }, '/repo').paths, [
      'a',
      'b',
      'c',
      'd',
    ])
})
