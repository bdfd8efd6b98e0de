/** A turn, from a prompt to its end. The stages it names are in stages.ts; one tool call in tool-call.ts. */
import type { Block } from '../hooks/steps.ts'
import { settleApprovals } from './approvals.ts'
import { compactWhenDue } from './context/compact.ts'
import type { Session } from './session/session.ts'
import { atTurnEnd, enter, finish, generate, ingest, overBudget, runTools } from './stages.ts'
import type { Source, TurnEnd } from './turn-end.ts'

/**
 * Takes a prompt to the end of its turn: until the model calls no tool and no hook says go on.
 *
 * Each stage gives the turn's end, or nothing when the turn goes on. What a stage wrote is committed before the next
 * one asks the model.
 */
export async function runTurn(session: Session, prompt: readonly Block[], source: Source = 'user'): Promise<TurnEnd> {
  session.begin()
  let end = (await enter(session)) ?? (await settleApprovals(session)) ?? (await ingest(session, prompt, source))
  while (!end) {
    end = overBudget(session) ?? (await compactWhenDue(session))
    if (end) break
    const reply = await generate(session)
    if (reply.end) end = reply.end
    else if (reply.toolUses.length > 0) end = await runTools(session, reply.toolUses)
    else end = await atTurnEnd(session, reply.text)
  }
  return finish(session, end)
}
