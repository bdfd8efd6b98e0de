/** Turns until nobody is at work any more. */
import type { Block } from '../../hooks/steps.ts'
import { runTurn } from '../turn.ts'
import type { TurnEnd } from '../turn-end.ts'
import type { Session } from './session.ts'

/** The longest wait for an agent in the background. */
export const mostWaitMs = 600_000

/** A turn; and for as long as agents work in the background, another one with what each of them found. */
export async function runUntilIdle(session: Session, prompt: readonly Block[]): Promise<TurnEnd> {
  let end = await runTurn(session, prompt, prompt.length === 0 ? 'continuation' : 'user')
  while (end.stop === 'end_turn' && !end.approval && (await session.tasks.news(mostWaitMs, session.signal)))
    end = await runTurn(session, [], 'background')
  return end
}
