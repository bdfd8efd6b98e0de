/** The name that ona has for another agent's tool. */
import type { ToolNames } from '../hosts/tools.ts'

export const toolOf = (native: string, tools: ToolNames): string | undefined =>
  Object.entries(tools).find(([, names]) => names.includes(native))?.[0]
