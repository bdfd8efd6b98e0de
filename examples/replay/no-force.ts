/** Nobody rewrites history that others have: ona hooks replay --hook examples/replay/no-force.ts tells what it would have stopped. */
import { defineHook } from 'ona/hooks'

export const noForce = defineHook(
  'PreToolUse',
  function noForce({ tool_input }) {
    const { command } = tool_input as { command: string }
    if (!/\bgit\s+push\b.*\s(--force|-f)\b/.test(command)) return
    return { decision: 'block', reason: 'a forced push rewrites what others have; push a new commit' }
  },
  { matcher: '^Bash$' },
)
