/** One prompt of a headless run, to its end. */
import { expandPrompt } from '../../agent/context/expand.ts'
import type { Session } from '../../agent/session/session.ts'
import type { TurnEnd } from '../../agent/turn-end.ts'
import type { Block } from '../../hooks/steps.ts'
import type { Turned } from './result.ts'

/** For shells in the background; then they are ended. */
export const lastMomentMs = 5_000

interface TurnOptions {
  readonly schema?: string | undefined
  readonly images?: readonly Block[]
  turn(session: Session, prompt: readonly Block[]): Promise<TurnEnd>
}

/** A prompt with its mentions and slash commands expanded, and with a schema, asked until the answer fits. */
export async function oneTurn(
  session: Session,
  prompt: string,
  { schema, images = [], turn }: TurnOptions,
): Promise<Turned> {
  const expanded = prompt === '' ? ({ ok: true, blocks: [] } as const) : await expandPrompt(session, prompt)
  if (!expanded.ok) return { end: { stop: 'error', text: '', why: expanded.why } }
  const blocks = [...images, ...expanded.blocks]
  if (!schema) return { end: await turn(session, blocks) }
  const { structuredTurn } = await import('./structured.ts')
  return structuredTurn(blocks, schema, (asked) => turn(session, asked))
}
