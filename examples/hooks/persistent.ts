/** A persistent hook in TypeScript: started once, asked for every call. */
import { serveHook } from 'ona/hooks'

serveHook(({ tool_name, tool_input }) =>
  tool_name === 'Bash' && JSON.stringify(tool_input).includes('git push')
    ? { decision: 'block', reason: 'pushing is for people; ask one' }
    : undefined,
)
