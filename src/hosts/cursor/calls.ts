/** Cursor's tools in ona's vocabulary. Its app, its command line and its hooks name them differently. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { type Call, callOf, object, objects, type ToolTable, text } from '../history/record.ts'

const file = {
  ...{ path: 'file_path', target_file: 'file_path', targetFile: 'file_path', relativeWorkspacePath: 'file_path' },
  ...{ contents: 'content', streamingContent: 'content' },
}
const folder = { glob_pattern: 'pattern', globPattern: 'pattern', target_directory: 'path', targetDirectory: 'path' }

const tools: ToolTable = {
  Shell: ['Bash'],
  shell: ['Bash'],
  run_terminal_cmd: ['Bash'],
  run_terminal_command: ['Bash'],
  Read: ['Read', file],
  read_file: ['Read', file],
  Write: ['Write', file],
  write: ['Write', file],
  StrReplace: ['Edit', file],
  MultiStrReplace: ['Edit', file],
  EditNotebook: ['Edit', { ...file, target_notebook: 'file_path' }],
  edit_file: ['Edit', file],
  search_replace: ['Edit', file],
  apply_patch: ['Edit', { ...file, patch: 'new_string', input: 'new_string' }],
  ApplyPatch: ['Edit', { ...file, patch: 'new_string', input: 'new_string' }],
  Grep: ['Grep'],
  grep: ['Grep'],
  ripgrep_search: ['Grep'],
  ripgrep_raw_search: ['Grep'],
  Glob: ['Glob', folder],
  glob_file_search: ['Glob', folder],
  file_search: ['Glob', { query: 'pattern' }],
  LS: ['Glob', folder],
  list_dir: ['Glob', folder],
  WebFetch: ['WebFetch'],
  WebSearch: ['WebSearch', { search_term: 'query' }],
  web_search: ['WebSearch', { search_term: 'query', searchTerm: 'query' }],
  Task: ['Agent'],
  task: ['Agent'],
  TodoWrite: ['TodoWrite'],
  todo_write: ['TodoWrite'],
}

/** Older versions of the app name tools by number. */
const numbered: Readonly<Record<number, string>> = {
  ...{ 3: 'ripgrep_search', 5: 'read_file', 6: 'list_dir', 7: 'edit_file', 8: 'file_search', 11: 'delete_file' },
  ...{ 15: 'run_terminal_command', 18: 'web_search', 19: 'mcp', 32: 'task', 35: 'todo_write' },
}
export const toolOfNumber = (tool: unknown): string => (typeof tool === 'number' ? (numbered[tool] ?? '') : '')

export function cursorCall({ id, name, input }: Parameters<typeof callOf>[1]): Call {
  const plain = name.replace(/_v\d+$/, '')
  const original = { name, input }
  if (plain === 'mcp' || plain === 'CallMcpTool') return mcpCall(id, original)
  const path = text(input['path']) || text(input['target_file']) || text(input['relativeWorkspacePath'])
  // there is no tool of ours that deletes a file: it is the command that does
  if (/^(?:Delete|delete_file)$/.test(plain) && path !== '')
    return { id, name: 'Bash', input: { command: `rm -- '${path.replaceAll("'", `'\\''`)}'` }, original }
  const call = callOf(tools, { id, name: plain, input })
  return plain === name ? call : { ...call, original: { name, input: call.original?.input ?? {} } }
}

/** A call of a server's tool: the app keeps a list of one, the command line the names beside the arguments. */
function mcpCall(id: string, original: { name: string; input: JsonObject }): Call {
  const [listed] = objects(original.input['tools'])
  const {
    serverName,
    server = serverName,
    name,
    toolName = name,
    parameters,
    arguments: given = parameters,
  } = listed ?? original.input
  return { id, name: `mcp__${text(server)}__${text(toolName)}`, input: parsed(given), original }
}

/** Inputs and results are JSON inside JSON, or objects. */
export function parsed(value: unknown): JsonObject {
  if (typeof value !== 'string') return object(value)
  try {
    const inner: unknown = JSON.parse(value)
    return isObject(inner) ? inner : {}
  } catch {
    return {}
  }
}
