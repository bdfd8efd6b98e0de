/** The order of phases, and which of two writers' phases stands. */
import type { Phase } from '../types.ts'

const ordinals: Record<Phase, number> = { UNINITIALIZED: 0, PLANNING: 1, EXECUTING: 2, COMPLETE: 3, BLOCKED: 99 }

export const isPhase = (value: unknown): value is Phase => typeof value === 'string' && Object.hasOwn(ordinals, value)

export const isWorkId = (value: unknown): value is string => typeof value === 'string' && /^w\d{3}$/.test(value)

export const workNumber = (workId: string): number => Number(workId.slice(1))

export interface PhaseAt {
  readonly workId: string
  readonly phase: Phase
  readonly prevPhase?: Phase
}

/**
 * A later work unit wins; within one, the higher phase. BLOCKED takes the place of any but COMPLETE and is left only
 * by a writer that says so (`remediates`: its patch clears `prevPhase`). Holds for every order of the same writes
 * that contains no remediation.
 */
export function laterPhase(now: PhaseAt, next: PhaseAt, remediates: boolean): PhaseAt {
  const ahead = workNumber(next.workId) - workNumber(now.workId)
  if (ahead !== 0) return ahead > 0 ? next : now
  if (now.phase === 'BLOCKED') return remediates && next.phase !== 'BLOCKED' ? next : now
  if (next.phase === 'BLOCKED')
    return now.phase === 'COMPLETE' ? now : { ...next, prevPhase: next.prevPhase ?? now.phase }
  return ordinals[next.phase] > ordinals[now.phase] ? next : now
}
