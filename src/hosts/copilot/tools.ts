/** Copilot CLI's own names (GitHub's hooks reference). Under Pascal event names it sends Claude Code's names instead. */
import type { ToolNames } from '../tool-names.ts'

export const copilotTools = {
  Bash: ['bash', 'powershell'],
  Write: ['create', 'apply_patch'],
  Edit: ['edit', 'str_replace_editor', 'apply_patch'],
  Read: ['view'],
  Glob: ['glob'],
  Grep: ['grep', 'rg'],
  WebFetch: ['web_fetch'],
  WebSearch: ['web_search'],
  Agent: ['task'],
} satisfies ToolNames
