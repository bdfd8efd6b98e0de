/** Hooks that keep running beside the turn (`{"async": true}`). */
import { isDetaching } from '../claude/contract.ts'
import { type Reply, readExit } from '../handlers/ask.ts'
import { reasonOf } from '../verdict.ts'
import { readEventReply } from '../wire/messages.ts'
import { Background } from './background.ts'
import { now } from './invocation.ts'
import { type Asked, note, type Prepared, type Round, write } from './state.ts'

/** The turn goes on; the row is written when the hook ends, and what it says then reaches the next turn. */
export function letRun(round: Round, handler: Prepared, detached: Reply & { kind: 'detached' }, asked: Asked): void {
  const { settled, scope } = round
  const { shown, startedAt } = asked
  if (settled.background.isFull) {
    detached.stop()
    note(round, handler, 'failed', `was ended: ${Background.most} hooks run beside the turn already`)
  }
  settled.background.adopt(detached, (reply) => {
    const { verdict, failure } = readEventReply(handler, withoutFirstLine(reply), false)
    const row = { exitCode: reply.exitCode, stdout: reply.stdout, stderr: reply.stderr }
    write(round, handler, shown, { ...row, startedAt, completedAt: now(), skippedReason: null })
    const messages = [...verdict.messages, ...(failure ? [`the hook ${handler.label} failed: ${failure}`] : [])]
    const context = [...verdict.context, ...(verdict.decision === 'deny' ? [reasonOf(verdict)] : [])]
    if (context.length > 0 || messages.length > 0) settled.claude?.deliver(scope, { context, messages })
  })
}

/** What follows `{"async": true}` is the answer. */
function withoutFirstLine(reply: Reply): Reply {
  const { stdout } = reply
  if (reply.exitCode !== 0 || stdout === null) return reply
  const end = `${stdout}\n`.indexOf('\n')
  if (!isDetaching(stdout.slice(0, end))) return reply
  return { ...reply, ...readExit(0, stdout.slice(end + 1), reply.stderr ?? '', true) }
}
