/** Bash: runs a command line in a shell of its own. */
import { boolean, integer, optional, record, string } from '../../hooks/shape.ts'
import { defineTool } from '../tool.ts'
import { bashLimits } from './limits.ts'

export const bash = defineTool({
  name: 'Bash',
  prompt: `Runs a command with bash.
- The working directory carries over between calls as long as it stays inside the working directories; variables, functions and aliases do not.
- There is no terminal and no standard input: use flags that answer prompts (-y, --no-edit), never an interactive program.
- After ${bashLimits.timeoutMs / 1000} s it is ended; timeout sets another limit, at most ${bashLimits.maxTimeoutMs} ms. For servers and other long work set run_in_background, then use TaskOutput and TaskStop.
- Standard output and standard error are kept up to 1 MiB each. An exit code other than 0 is an error.
- Use Read, Edit, Write, Glob and Grep rather than cat, sed, echo, find and grep. Quote paths with spaces.`,
  input: record({
    command: string('The command line'),
    timeout: optional(
      integer(`Limit in milliseconds, at most ${bashLimits.maxTimeoutMs}`, { min: 1, max: bashLimits.maxTimeoutMs }),
    ),
    description: optional(string('What it does, in five to ten words')),
    run_in_background: optional(boolean('Return at once and let it run on')),
    dangerouslyDisableSandbox: optional(
      boolean('Run outside the sandbox, when one is enabled; the user is always asked'),
    ),
  }),
  safety: 'destructive',
  summary: ({ command }) => command,
  run: async (input, context) => (await import('./run-command.ts')).runCommand(input, context),
})
