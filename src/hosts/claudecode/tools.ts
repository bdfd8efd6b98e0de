/** Claude Code's tools. These names are also the ones that a role's filter uses. */
import type { ToolNames } from '../tool-names.ts'

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

/** Tools that only a filter for Claude Code itself, or for ona, can mean. */
export const claudeOwnTools: ToolNames = Object.fromEntries(
  [
    'AskUserQuestion',
    'BashOutput',
    'CronCreate',
    'CronDelete',
    'CronList',
    'EnterPlanMode',
    'EnterWorktree',
    'ExitPlanMode',
    'ExitWorktree',
    'KillShell',
    'LSP',
    'ListMcpResourcesTool',
    'ListMcpResources',
    'LS',
    'Monitor',
    'NotebookEdit',
    'NotebookRead',
    'PowerShell',
    'ReadMcpResourceTool',
    'ReadMcpResource',
    'SendMessage',
    'Skill',
    'SlashCommand',
    'StructuredOutput',
    'TaskCreate',
    'TaskGet',
    'TaskList',
    'TaskOutput',
    'TaskStop',
    'TaskUpdate',
    'TodoRead',
    'TodoWrite',
    'ToolSearch',
  ].map((name) => [name, [name]]),
)
