/** The hosts' tools under one set of names, and where in a call its paths and bounds stand. */

import { claudeTools } from '../../hosts/claudecode/tools.ts'
import { copilotTools } from '../../hosts/copilot/tools.ts'
import { namedFiles } from '../../hosts/named-files.ts'
import type { ToolNames } from '../../hosts/tool-names.ts'
import { vscodeId, vscodeMutatingTools, vscodeTools } from '../../hosts/vscode/tools.ts'
import { normalisePath } from '../session/paths.ts'
import type { HostEvent, Json } from '../types.ts'

/** VS Code's id for each tool of another host. */
function idsFor(tools: ToolNames): Record<string, string> {
  const ids: Record<string, string> = {}
  for (const [name, [id]] of Object.entries(vscodeTools))
    for (const native of tools[name] ?? []) if (vscodeId(native) === undefined) ids[native] = id!
  return ids
}

const claudeNames: Readonly<Record<string, string>> = {
  ...idsFor(claudeTools),
  LS: 'list_dir',
  MultiEdit: 'multi_replace_string_in_file',
  NotebookEdit: 'edit_notebook_file',
}
const otherNames: Readonly<Record<string, string>> = { ...claudeNames, ...idsFor(copilotTools) }

/** The tool's VS Code id, whichever host named it; an unknown name is its own. */
export const canonicalTool = (name: string): string =>
  Object.hasOwn(otherNames, name) ? otherNames[name]! : (vscodeId(name) ?? name)

/** Names that Claude Code uses, and Copilot CLI too when its hooks are registered in PascalCase. */
export const isClaudeToolName = (name: string): boolean => Object.hasOwn(claudeNames, name)

/** Tools that change files or run something. */
export const mutatingTools = vscodeMutatingTools

/** Whether a rule that names `wanted` means the tool of this call, in whichever host's spelling. */
export const namesTool = (wanted: string, event: HostEvent): boolean =>
  wanted === '*' || canonicalTool(wanted) === event.tool

/** The keys under which a search keeps its bounds, by the host whose name the tool has. */
export function searchKeys({ toolName }: HostEvent): { include: string; query: string } {
  const isOther = toolName !== undefined && Object.hasOwn(otherNames, toolName)
  return isOther ? { include: 'glob', query: 'pattern' } : { include: 'includePattern', query: 'query' }
}

export const textAt = (input: Json | undefined, key: string): string => {
  const value = input?.[key]
  return typeof value === 'string' ? value : ''
}

/** Every path a call names, normalised, each once. */
export function callPaths(input: Json | undefined, repoRoot: string): string[] {
  const found = input ? namedFiles(input) : []
  return [...new Set(found.map((path) => normalisePath(path, repoRoot).path))]
}
