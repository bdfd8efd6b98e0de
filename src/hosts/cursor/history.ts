/**
 * Cursor: `~/.cursor/projects/<slug>/agent-transcripts/<id>/<id>.jsonl`, a thin copy without results, tokens and times. Its
 * format is not documented by the vendor; this follows descriptions by others.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../hooks/shape.ts'
import { filesBelow, jsonFile } from '../history/files.ts'
import {
  type Call,
  callOf,
  type HistoryReader,
  type HistoryRecord,
  number,
  object,
  objects,
  ran,
  type State,
  type ToolTable,
  text,
  textOf,
  time,
} from '../history/record.ts'

export const cursorHistory: HistoryReader = {
  agent: 'cursor',
  title: 'Cursor',
  roots: (_, home) => [join(home, '.cursor', 'projects')],
  files: (root, skipped) =>
    filesBelow(root, /(^|\/)(agent-transcripts\/.+|[^/]+)\.jsonl$/, skipped).map(({ path, base }) => {
      const session = base.replace(/\.jsonl$/, '')
      const at = new Date(statSync(path).mtimeMs).toISOString()
      const [project] = /^.*(?=\/agent-transcripts\/)/.exec(path) ?? []
      const cwd = project === undefined ? '' : text(jsonFile(join(project, '.workspace-trusted'))['workspacePath'])
      return { path, key: session, about: { session, at, cwd } }
    }),
  read,
}

const tools: ToolTable = {
  Shell: ['Bash'],
  run_terminal_cmd: ['Bash'],
  read_file: ['Read', { target_file: 'file_path' }],
  Read: ['Read', { path: 'file_path' }],
  Write: ['Write', { path: 'file_path', contents: 'content' }],
  StrReplace: ['Edit', { path: 'file_path' }],
  edit_file: ['Edit', { target_file: 'file_path' }],
  search_replace: ['Edit'],
  grep: ['Grep'],
  Glob: ['Glob', { glob_pattern: 'pattern', target_directory: 'path' }],
  LS: ['Glob', { target_directory: 'path' }],
  WebFetch: ['WebFetch'],
  WebSearch: ['WebSearch', { search_term: 'query' }],
  Task: ['Agent'],
  TodoWrite: ['TodoWrite'],
}

/** There is no tool of ours that deletes a file: it is the command that does. */
function cursorCall(call: Parameters<typeof callOf>[1]): Call {
  const { id, name, input } = call
  const path = text(input['path']) || text(input['target_file'])
  if (!/^(?:Delete|delete_file)$/.test(name) || path === '') return callOf(tools, call)
  return { id, name: 'Bash', input: { command: `rm -- '${path.replaceAll("'", `'\\''`)}'` }, original: { name, input } }
}

function read(line: JsonObject, state: State): HistoryRecord[] {
  const { role } = line
  const session = text(state['session'])
  const at = time(line['timestamp']) || text(state['at'])
  const count = number(state['line']) + 1
  state['line'] = count
  if (session === '' || at === '' || (role !== 'user' && role !== 'assistant'))
    return [{ session: '', at, key: '', kind: 'unknown', type: text(line['type']) || text(role) || 'no role' }]
  const base = { session, at, key: `${session}:${count}` }
  const records: HistoryRecord[] =
    count === 1 ? [{ ...base, key: `${session}:session`, kind: 'session', cwd: text(state['cwd']) }] : []
  const parts = object(line['message'])['content'] ?? line['content']
  const said = textOf(typeof parts === 'string' ? parts : objects(parts).filter((part) => part['type'] === 'text'))
  if (role === 'user') {
    const [, query] = /<user_query>\s*([\s\S]*?)\s*<\/user_query>/.exec(said) ?? []
    return [...records, { ...base, kind: 'prompt', text: query ?? said }]
  }
  const calls: Call[] = objects(parts)
    .filter((part) => part['type'] === 'tool_use')
    .map((part, index) => {
      const id = text(part['id']) || `${base.key}:${index}`
      return cursorCall({ id, name: text(part['name']), input: object(part['input']) })
    })
  if (said !== '' || calls.length > 0) records.push({ ...base, kind: 'reply', text: said, calls })
  for (const { id, name } of calls)
    records.push({
      ...{ ...base, key: `result:${id}`, kind: 'result' },
      ...{ call: id, tool: name, output: '[Cursor does not record results]', isError: false, decision: ran },
    })
  return records
}
