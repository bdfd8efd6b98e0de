/** Claude Code's tools. These names are also the ones that a role's filter uses. */
import type { ToolNames } from '../tools.ts'

export const claudeTools = {
  Bash: ['Bash', 'PowerShell'],
  Write: ['Write'],
  Edit: ['Edit', 'MultiEdit', 'NotebookEdit'],
  Read: ['Read'],
  Glob: ['Glob'],
  Grep: ['Grep'],
  WebFetch: ['WebFetch'],
  WebSearch: ['WebSearch'],
  Agent: ['Agent', 'Task'],
} satisfies ToolNames
