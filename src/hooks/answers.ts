/** What a PreToolUse hook answers, in one word. */
import type { Output } from './wire/output.ts'

type Decision = 'allow' | 'ask' | 'deny'
export type ToolAnswer = Output<'PreToolUse'>

const decision = (permissionDecision: Decision, reason?: string): ToolAnswer => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision,
    ...(reason !== undefined && { permissionDecisionReason: reason }),
  },
})

/** The call is refused; the model reads the reason. */
export const deny = (reason: string): ToolAnswer => decision('deny', reason)
/** The user is prompted for the call, with this reason. */
export const ask = (reason: string): ToolAnswer => decision('ask', reason)
/** Answers the mode's prompt; undoes no deny or ask rule. */
export const allow = (reason?: string): ToolAnswer => decision('allow', reason)
