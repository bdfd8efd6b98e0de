import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Raised, Scope } from '../plane.ts'
import { claudeInput, claudeToolName, isDetaching, isForMainOnly, namesOf, setsEnv } from './contract.ts'

const scope: Scope = { sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: '/w', record() {} }
const session = { sessionId: 'main', transcriptPath: '/t.jsonl', agentTranscriptPath: '/a.jsonl' }

test('what a hook written for Claude Code reads', () => {
  const call: Raised = { name: 'PreToolUse', fields: { tool_name: 'Bash', tool_input: {}, tool_use_id: 't' } }
  const header = { session_id: 'main', transcript_path: '/t.jsonl', cwd: '/w' }
  assert.deepEqual(claudeInput(call, { ...call.fields }, scope, session), {
    ...{ ...header, hook_event_name: 'PreToolUse', ...call.fields },
  })
  const whole = { ...scope, permissionMode: 'plan', agentId: 'a', agentType: 'explore' }
  assert.deepEqual(claudeInput(call, { tool_name: 'Brief' }, whole, session), {
    ...{ ...header, permission_mode: 'plan', agent_id: 'a', agent_type: 'explore' },
    ...{ hook_event_name: 'PreToolUse', tool_name: 'SendUserMessage' },
  })
  // the form of a field that Claude Code has otherwise goes before ona's own
  const answered = { ...call, claude: () => ({ tool_name: 'ReadMcpResource', tool_response: { a: 1 } }) } as Raised
  assert.deepEqual(claudeInput(answered, { tool_name: 'x', tool_response: 'a' }, scope), {
    ...{ session_id: 's', transcript_path: '', cwd: '/w', hook_event_name: 'PreToolUse' },
    ...{ tool_name: 'ReadMcpResourceTool', tool_response: { a: 1 } },
  })
  const stop = { name: 'SubagentStop', fields: {} } as unknown as Raised
  assert.deepEqual(
    [session, undefined].map((each) => claudeInput(stop, {}, scope, each)['agent_transcript_path']),
    ['/a.jsonl', ''],
  )
  assert.equal('agent_transcript_path' in claudeInput(call, {}, scope, session), false)
})

test('the names of tools, there and in matchers', () => {
  const names = ['ListMcpResources', 'ReadMcpResource', 'Brief', 'Bash', 'Agent', 'toString']
  assert.deepEqual(names.map(claudeToolName), [
    ...['ListMcpResourcesTool', 'ReadMcpResourceTool', 'SendUserMessage', 'Bash', 'Agent', 'toString'],
  ])
  assert.deepEqual([...names, undefined].map(namesOf), [
    ['ListMcpResources', 'ListMcpResourcesTool'],
    ['ReadMcpResource', 'ReadMcpResourceTool'],
    ['Brief', 'SendUserMessage'],
    ['Bash'],
    ['Agent', 'Task'],
    ['toString'],
    [undefined],
  ])
})

test('where such a hook is for the main session alone, and where it can set variables', () => {
  const events = ['UserPromptSubmit', 'SessionStart', 'Setup', 'CwdChanged', 'FileChanged', 'Stop'] as const
  const of = (profile?: 'claude') =>
    events.map((event) => {
      const hook = { event, ...(profile && { profile }) }
      return [isForMainOnly(hook), setsEnv(hook)]
    })
  const no = [false, false]
  const env = [false, true]
  assert.deepEqual(of('claude'), [[true, false], env, env, env, env, no])
  assert.deepEqual(of(), [no, no, no, no, no, no])
})

test('a first line that lets the hook go on alone', () => {
  const rows: Record<string, boolean> = {
    '{"async": true}': true,
    ' {"async":true,"asyncTimeout":5}': true,
    '{"async": "true"}': false,
    '{"async": false}': false,
    '{"async": true': false,
    '{}': false,
    null: false,
    'text {"async": true}': false,
    '': false,
  }
  for (const [line, detaches] of Object.entries(rows)) assert.equal(isDetaching(line), detaches, line)
})
