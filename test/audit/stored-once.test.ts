import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyChain } from '../../src/audit/evidence/verify.ts'
import type { Invocation } from '../../src/hooks/plane.ts'
import { listHookInvocations } from '../../src/store/audit.ts'
import { createConversation, createSession } from '../../src/store/conversations.ts'
import { openDb } from '../../src/store/open.ts'
import { commitToolCall } from '../../src/store/session/commit.ts'

test('a long output is stored once, and the log still shows what every hook was given', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-once-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const conversationId = createConversation(db, { projectDir: '/' }).id
  const { sessionId } = createSession(db, conversationId)
  const at = '2026-01-01T00:00:00.000Z'
  const given = (event: Invocation['event'], response: unknown): Invocation => ({
    ...{ event, ordinal: 0, matcher: '*', command: './hook.sh', toolUseId: 'call "1"', toolName: 'Bash' },
    inputJson: JSON.stringify({ hook_event_name: event, tool_response: response }),
    ...{ exitCode: 0, stdout: '', stderr: '', startedAt: at, completedAt: at, skippedReason: null },
  })
  const output = `${'a "quoted" line\n'.repeat(4000)}$& $1 end`
  const invocations = [
    given('PreToolUse', null),
    given('PostToolUse', { content: output, is_error: false }),
    given('PostToolUse', { stdout: output, stderr: '' }),
    given('PostToolUse', { content: `${output} as another hook changed it`, is_error: false }),
  ]
  const result = { tool_use_id: 'call "1"', content: output, is_error: false }
  commitToolCall(db, { sessionId, conversationId, invocations, result })
  commitToolCall(db, {
    ...{ sessionId, conversationId, invocations: [given('PostToolUse', { content: 'short' })] },
    result: { tool_use_id: 'call_2', content: 'short', is_error: false },
  })

  const lengths = db.all<{ n: number }>('SELECT length(input_json) AS n FROM hook_invocations ORDER BY id')
  assert.deepEqual(
    lengths.map(({ n }) => n < 300),
    [true, true, true, false, true],
  )
  assert.deepEqual(
    listHookInvocations(db).map(({ inputJson }) => inputJson),
    [...invocations, given('PostToolUse', { content: 'short' })].map(({ inputJson }) => inputJson),
  )
  assert.equal(verifyChain(db).fault, undefined)
})
