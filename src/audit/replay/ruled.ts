/** What the rules are asked of a recorded call, and what of their answer a replay needs. */
import type { judge } from '../../permissions/decide.ts'

export type Question = Parameters<typeof judge>[0]

export interface Ruled {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly reason: string
  /** The rule that said so, as in `deny:Bash(rm *)`. */
  readonly rule?: string
}
