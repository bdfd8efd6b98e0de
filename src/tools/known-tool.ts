/** What is known of a tool that a record names: for questions about calls that were made earlier. */
import type { JsonObject } from '../hooks/shape.ts'
import type { Safety } from '../hooks/steps.ts'
import { builtInTool } from './all.ts'
import { readInput } from './tool.ts'

/** Of a tool that is not built in, nothing is known but its name. */
export function knownTool(
  tool: string,
  input: JsonObject,
  cwd: string,
): { readonly input: JsonObject; readonly safety: Safety; readonly brought: boolean } {
  const found = builtInTool(tool)
  if (!found) return { input, safety: 'mutating', brought: !tool.startsWith('mcp__') }
  const read = isPlainCommand(tool, input) ? undefined : readInput(found, input, cwd)
  const whole = read?.ok ? read.input : input
  return {
    input: whole,
    safety: typeof found.safety === 'function' ? found.safety(whole) : found.safety,
    brought: false,
  }
}

/** What nearly every call on record is: it fits, and nothing is added to it. */
function isPlainCommand(tool: string, input: JsonObject): boolean {
  if (tool !== 'Bash' || typeof input['command'] !== 'string') return false
  for (const key in input)
    if (key !== 'command' && (key !== 'description' || typeof input[key] !== 'string')) return false
  return true
}
