import type { ToolNames } from '../tool-names.ts'

export const cursorTools = {
  Bash: ['Shell'],
  Write: ['Write'],
  Edit: ['Write'],
  Read: ['Read'],
  Grep: ['Grep'],
  Agent: ['Task'],
  Delete: ['Delete'],
} satisfies ToolNames
