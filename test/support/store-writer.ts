/**
 * Writes to a session as fast as it can until it is killed, or `count` times: tool calls whole, and plain entries. What is
 * committed is said on stdout, one sequence number a line: whoever reads it may rely on the row.
 */
import { writeSync } from 'node:fs'
import type { Invocation } from '../../src/hooks/plane.ts'
import { openDb } from '../../src/store/open.ts'
import { commitToolCall } from '../../src/store/session/commit.ts'
import { appendEntry } from '../../src/store/session/transcript.ts'

const [path, sessionId, conversationId, count = 'Infinity'] = process.argv.slice(2) as [string, string, string, string?]
const db = openDb(path)

function callTool(id: string): number {
  const hook = (ordinal: number): Invocation => ({
    event: 'PreToolUse',
    ordinal,
    matcher: '',
    command: 'true',
    toolUseId: id,
    toolName: 'Bash',
    inputJson: '{}',
    exitCode: 0,
    stdout: 'x'.repeat(500),
    stderr: '',
    startedAt: '',
    completedAt: '',
    skippedReason: null,
  })
  return commitToolCall(db, {
    sessionId,
    conversationId,
    invocations: [hook(0), hook(1)],
    permission: { toolName: 'Bash', decision: 'allow', reason: {} },
    result: { tool_use_id: id, content: 'y'.repeat(3000), is_error: false },
  }).sequence
}

for (let round = 0; round < Number(count); round++) {
  const sequence =
    round % 2 === 0
      ? callTool(`${process.pid}-${round}`)
      : appendEntry(db, sessionId, { _t: 'system', subtype: 'note', round }).sequence
  writeSync(1, `${sequence}\n`)
}
db.close()
