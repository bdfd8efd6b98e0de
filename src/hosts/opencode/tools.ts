import type { ToolNames } from '../tool-names.ts'

/** With some models apply_patch is offered instead of write and edit. */
export const opencodeTools = {
  Bash: ['bash'],
  Write: ['write', 'apply_patch'],
  Edit: ['edit', 'apply_patch'],
  Read: ['read'],
  Glob: ['glob'],
  Grep: ['grep'],
  WebFetch: ['webfetch'],
  WebSearch: ['websearch'],
  Agent: ['task'],
  TodoWrite: ['todowrite'],
  Skill: ['skill'],
  AskUserQuestion: ['question'],
} satisfies ToolNames
