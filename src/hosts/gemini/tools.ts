import type { ToolNames } from '../tool-names.ts'

export const geminiTools = {
  Bash: ['run_shell_command'],
  Write: ['write_file'],
  Edit: ['replace'],
  Read: ['read_file', 'read_many_files'],
  Glob: ['glob'],
  Grep: ['grep_search', 'search_file_content'],
  LS: ['list_directory'],
  WebFetch: ['web_fetch'],
  WebSearch: ['google_web_search'],
  Agent: ['invoke_agent'],
  TodoWrite: ['write_todos'],
  AskUserQuestion: ['ask_user'],
  EnterPlanMode: ['enter_plan_mode'],
  ExitPlanMode: ['exit_plan_mode'],
} satisfies ToolNames
