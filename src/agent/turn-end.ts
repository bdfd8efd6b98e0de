/** How a turn ends, and where its input came from. */
import type { StopReason } from '../hooks/steps.ts'
import type { ModelFailure } from '../providers/model.ts'

export interface TurnEnd {
  readonly stop: StopReason | 'error'
  /** The model's last words. */
  readonly text: string
  /** Who ended the turn, or what failed. */
  readonly why?: string
  readonly failure?: ModelFailure
  /** The approval that a call of this turn waits for. */
  readonly approval?: string
}

export type Source = 'user' | 'continuation' | 'background'
