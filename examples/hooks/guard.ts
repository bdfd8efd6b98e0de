/** The same rules in TypeScript: typed, in the process, and tested without a model. */
import { createPlane, defineHook, defineStepHook } from 'ona/hooks'

/** Pushing is for people. */
export const noPush = defineHook(
  'PreToolUse',
  ({ tool_input }) => {
    const { command } = tool_input as { command: string }
    if (!/\bgit\s+push\b/.test(command)) return
    return {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'pushing is for people; ask one',
      },
    }
  },
  { matcher: '^Bash$' },
)

/** Every install leaves the lock file alone. */
export const frozen = defineStepHook(
  'before_tool_apply',
  function frozen({ step }) {
    const args = step.args as { command: string }
    step.args = { ...args, command: args.command.replace(/\bnpm install$/, 'npm ci') }
  },
  { match: { tool: 'Bash' } },
)

/** A turn ends when the model has said that the tests pass. */
export const tested = defineStepHook('before_turn_end', ({ step }) => {
  if (step.continuesSoFar > 0) return
  step.feedback.push({ type: 'text', text: 'Run the tests, then say what came of it.' })
  return { kind: 'continue' }
})

export const plane = createPlane([noPush, frozen, tested])
