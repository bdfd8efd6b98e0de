/**
 * VS Code's tools. Each has an id (`grep_search`), which hooks receive, and most have a second name (`textSearch`), which the
 * hooks reference, its samples and prompt files use. Both are accepted everywhere.
 */
import type { ToolNames } from '../tool-names.ts'

export const vscodeTools = {
  Bash: ['run_in_terminal', 'runTerminalCommand', 'runInTerminal'],
  Write: ['create_file', 'createFile', 'apply_patch'],
  Edit: ['replace_string_in_file', 'multi_replace_string_in_file', 'insert_edit_into_file', 'apply_patch', 'editFiles'],
  Read: ['read_file', 'readFile'],
  Glob: ['file_search', 'fileSearch'],
  Grep: ['grep_search', 'textSearch'],
  WebFetch: ['fetch_webpage', 'fetch'],
  Agent: ['runSubagent'],
} satisfies ToolNames

/** Second names that are not their id in camel case. */
export const vscodeSecondNames: Readonly<Record<string, string>> = {
  textSearch: 'grep_search',
  codebase: 'semantic_search',
  listDirectory: 'list_dir',
  editFiles: 'replace_string_in_file',
  editNotebook: 'edit_notebook_file',
  newJupyterNotebook: 'create_new_jupyter_notebook',
  newWorkspace: 'create_new_workspace',
  runTerminalCommand: 'run_in_terminal',
  fetch: 'fetch_webpage',
}

/** Ids of tools that change files or run something. */
export const vscodeMutatingTools: readonly string[] = [
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

const vscodeReadingTools = ['read_file', 'file_search', 'grep_search', 'semantic_search', 'list_dir', 'fetch_webpage']

/** The id that a name of VS Code's stands for; undefined for a name that is not VS Code's. */
export function vscodeId(name: string): string | undefined {
  if (Object.hasOwn(vscodeSecondNames, name)) return vscodeSecondNames[name]
  const id = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return vscodeMutatingTools.includes(id) || vscodeReadingTools.includes(id) ? id : undefined
}
