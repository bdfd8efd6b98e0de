/** The hosts' tools under one set of names, and where in a call its paths and bounds stand. */
import { isObject, normalisePath } from './session/paths.ts'
import type { HostEvent, Json } from './types.ts'

/** Other hosts' names for VS Code's tools. */
const aliases: Record<string, string> = {
  Grep: 'grep_search',
  grep: 'grep_search',
  rg: 'grep_search',
  Glob: 'file_search',
  glob: 'file_search',
  Read: 'read_file',
  view: 'read_file',
  LS: 'list_dir',
  Write: 'create_file',
  create: 'create_file',
  createFile: 'create_file',
  Edit: 'replace_string_in_file',
  edit: 'replace_string_in_file',
  str_replace_editor: 'replace_string_in_file',
  editFiles: 'replace_string_in_file',
  MultiEdit: 'multi_replace_string_in_file',
  NotebookEdit: 'edit_notebook_file',
  Bash: 'run_in_terminal',
  bash: 'run_in_terminal',
  PowerShell: 'run_in_terminal',
  powershell: 'run_in_terminal',
  runTerminalCommand: 'run_in_terminal',
  runInTerminal: 'run_in_terminal',
  Agent: 'runSubagent',
  Task: 'runSubagent',
  task: 'runSubagent',
}

export const canonicalTool = (name: string): string => (Object.hasOwn(aliases, name) ? aliases[name]! : name)

/** Names that Claude Code uses, and Copilot CLI too when its hooks are registered in PascalCase. */
export const isClaudeToolName = (name: string): boolean => /^[A-Z]/.test(name) && Object.hasOwn(aliases, name)

/** Tools that change files or run something. */
export const mutatingTools: readonly string[] = [
  'create_file',
  'replace_string_in_file',
  'multi_replace_string_in_file',
  'apply_patch',
  'insert_edit_into_file',
  'edit_notebook_file',
  'create_directory',
  'create_new_jupyter_notebook',
  'create_new_workspace',
  'run_in_terminal',
  'send_to_terminal',
  'create_and_run_task',
  'run_task',
  'run_notebook_cell',
  'run_vscode_command',
  'install_extension',
]

/** Whether a rule that names `wanted` means the tool of this call, in whichever host's spelling. */
export const namesTool = (wanted: string, event: HostEvent): boolean =>
  wanted === '*' || wanted === event.toolName || canonicalTool(wanted) === event.tool

/** The keys under which a search keeps its bounds, by the spelling of the tool's input. */
export function searchKeys(event: HostEvent): { include: string; query: string } {
  const vscode = event.toolName === event.tool
  return { include: vscode ? 'includePattern' : 'glob', query: vscode ? 'query' : 'pattern' }
}

export const textAt = (input: Json | undefined, key: string): string => {
  const value = input?.[key]
  return typeof value === 'string' ? value : ''
}

const pathKeys = ['filePath', 'file_path', 'path', 'dirPath', 'notebook_path', 'notebookPath']

/** Every path a call names, normalised, each once. */
export function callPaths(input: Json | undefined, repoRoot: string): string[] {
  if (!input) return []
  const found: string[] = []
  const add = (value: unknown) => {
    if (typeof value === 'string' && value.trim() !== '') found.push(value)
  }
  const addFrom = (record: Json) => {
    for (const key of pathKeys) add(record[key])
  }
  addFrom(input)
  for (const key of ['replacements', 'edits', 'files', 'filePaths']) {
    const list = input[key]
    if (!Array.isArray(list)) continue
    for (const item of list.slice(0, 1000)) {
      if (isObject(item)) addFrom(item)
      else add(item)
    }
  }
  for (const key of ['input', 'patch']) {
    const text = input[key]
    if (typeof text !== 'string') continue
    for (const [, path] of text.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)) add(path!.trim())
  }
  return [...new Set(found.map((path) => normalisePath(path.replace(/^file:\/\//, ''), repoRoot).path))]
}
