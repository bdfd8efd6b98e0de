/**
 * VS Code's chat: `workspaceStorage/<hash>/chatSessions/<uuid>.jsonl` (operations on a document) or `.json` (the document).
 * The vendor declares the format unstable; this follows descriptions by others.
 */
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { filesBelow, jsonFile } from '../history/files.ts'
import {
  callOf,
  type Decision,
  type HistoryReader,
  type HistoryRecord,
  object,
  objects,
  ran,
  type State,
  type ToolTable,
  text,
  time,
} from '../history/record.ts'

export const vscodeHistory: HistoryReader = {
  agent: 'vscode',
  title: 'VS Code',
  roots: (env, home) =>
    [
      join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'Code', 'User'),
      join(home, 'Library', 'Application Support', 'Code', 'User'),
    ].flatMap((user) => [join(user, 'workspaceStorage'), join(user, 'globalStorage', 'emptyWindowChatSessions')]),
  files: (root, skipped) =>
    filesBelow(root, /(^|\/)(chatSessions\/[^/]+|[0-9a-f-]{36})\.jsonl?$/, skipped).map(({ path, base }) => ({
      path,
      key: base.replace(/\.jsonl?$/, ''),
    })),
  read,
  repeats: true,
  rows,
}

const tools: ToolTable = {
  run_in_terminal: ['Bash'],
  read_file: ['Read', { filePath: 'file_path' }],
  create_file: ['Write', { filePath: 'file_path' }],
  replace_string_in_file: ['Edit', { filePath: 'file_path', oldString: 'old_string', newString: 'new_string' }],
  insert_edit_into_file: ['Edit', { filePath: 'file_path' }],
  multi_replace_string_in_file: ['Edit'],
  edit_files: ['Edit'],
  edit_notebook_file: ['NotebookEdit', { filePath: 'notebook_path' }],
  apply_patch: ['Edit', { input: 'new_string' }],
  grep_search: ['Grep', { query: 'pattern', includePattern: 'glob' }],
  file_search: ['Glob', { query: 'pattern' }],
  list_dir: ['Glob'],
  fetch_webpage: ['WebFetch'],
}

/** The document as it is when all operations are applied: once as a header, then each of its requests. */
function* rows(path: string, cursor: number): Generator<{ line: JsonObject; cursor: number } | { unreadable: number }> {
  const { size, mtimeMs } = statSync(path)
  const modified = Math.ceil(mtimeMs)
  if (modified <= cursor) return
  if (size > LONGEST) throw Object.assign(new Error('it is longer than 64 MB'), { code: 'EFBIG' })
  const { document, unreadable } = documentIn(readFileSync(path, 'utf8'), path.endsWith('.jsonl'))
  if (unreadable > 0) yield { unreadable }
  if (unreadable > 0 && document['sessionId'] === undefined) return
  const folder = text(jsonFile(join(dirname(dirname(path)), 'workspace.json'))['folder'])
  const about = { sessionId: document['sessionId'], creationDate: document['creationDate'], folder: localPath(folder) }
  yield { line: { row: 'session', ...about }, cursor }
  for (const request of objects(document['requests']))
    yield { line: { row: 'request', request, ...about }, cursor: modified }
}

const LONGEST = 64 * 1024 * 1024

function documentIn(content: string, isLog: boolean): { document: JsonObject; unreadable: number } {
  let unreadable = 0
  let document: JsonObject = {}
  for (const line of isLog ? content.split('\n') : [content]) {
    if (line.trim() === '') continue
    try {
      const value: unknown = JSON.parse(line)
      const { kind, k, v } = object(value)
      if (!isObject(value)) unreadable++
      else if (!isLog) document = value
      else if (kind === 0) document = object(v)
      else if (Array.isArray(k)) apply(document, k, v, kind === 2)
    } catch {
      unreadable++ // half written
    }
  }
  return { document, unreadable }
}

function apply(document: JsonObject, path: readonly unknown[], value: unknown, push: boolean): void {
  let at: unknown = document
  for (const key of path.slice(0, -1)) at = stepInto(at, key)
  const last = path.at(-1)
  if (push) {
    const list = stepInto(at, last)
    if (Array.isArray(list) && Array.isArray(value)) list.push(...value.slice(0, 100_000))
  } else if (Array.isArray(at) && Number.isSafeInteger(last) && (last as number) >= 0 && (last as number) <= at.length)
    at[last as number] = value
  else if (isObject(at) && typeof last === 'string' && last !== '__proto__') at[last] = value as never
}

const stepInto = (at: unknown, key: unknown): unknown =>
  Array.isArray(at) && typeof key === 'number'
    ? at[key]
    : isObject(at) && typeof key === 'string' && Object.hasOwn(at, key)
      ? at[key]
      : undefined

function localPath(uri: string): string {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : ''
  } catch {
    return '' // a folder on another machine
  }
}

function read(line: JsonObject, _: State): HistoryRecord[] {
  const session = text(line['sessionId'])
  const request = object(line['request'])
  const at = time(request['timestamp']) || time(line['creationDate'])
  if (session === '' || at === '')
    return [{ session: '', at, key: '', kind: 'unknown', type: text(line['row']) || 'no row' }]
  if (line['row'] === 'session')
    return [{ session, at, key: `${session}:session`, kind: 'session', cwd: text(line['folder']) }]
  const base = { session, at, key: text(request['requestId']) }
  const records: HistoryRecord[] = [{ ...base, kind: 'prompt', text: text(object(request['message'])['text']) }]
  let said = ''
  const parts = objects(request['response'])
  for (const [at, part] of parts.entries()) {
    if (part['kind'] === undefined || part['kind'] === 'markdownContent')
      said += text(part['value']) || text(object(part['content'])['value'])
    if (part['kind'] === toolKind) records.push(...toolRecords(part, base, () => editedAfter(parts, at)))
  }
  if (said !== '') records.push({ ...base, key: `${base.key}:reply`, kind: 'reply', text: said, calls: [] })
  return records
}

const toolKind = 'toolInvocationSerialized'

/** The files of the edits that stand between a tool call and the next. */
function editedAfter(parts: readonly JsonObject[], call: number): string[] {
  const next = parts.findIndex((part, at) => at > call && part['kind'] === toolKind)
  return parts
    .slice(call + 1, next < 0 ? undefined : next)
    .filter(({ kind }) => kind === 'textEditGroup' || kind === 'notebookEditGroup')
    .map(({ uri }) => text(object(uri)['fsPath']) || text(object(uri)['path']))
    .filter((path) => path !== '')
}

function toolRecords(
  part: JsonObject,
  base: { session: string; at: string; key: string },
  edited: () => string[],
): HistoryRecord[] {
  const id = text(part['toolCallId'])
  const name = text(part['toolId'])
    .replace(/^copilot_/, '')
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const { commandLine, command } = object(part['toolSpecificData'])
  const run = text(object(commandLine)['original']) || text(commandLine) || text(command)
  const raw = object(object(part['toolSpecificData'])['rawInput'])
  const files = Object.keys(raw).length === 0 && /^(?:Write|Edit)$/.test(tools[name]?.[0] ?? '') ? edited() : []
  // most tools leave no input, but what they changed
  const input = run !== '' ? { command: run } : files.length > 0 ? { files } : raw
  const call = callOf(tools, { id, name: run !== '' ? 'run_in_terminal' : name, input })
  const output = resultText(part['resultDetails'])
  const decision = decisionOf(part['isConfirmed'])
  return [
    { ...base, key: `${id}:call`, kind: 'reply', text: '', calls: [call] },
    {
      ...base,
      kind: 'result',
      call: id,
      tool: call.name,
      output,
      isError: decision.decision === 'deny',
      decision,
    },
  ]
}

const resultText = (details: unknown): string =>
  isObject(details)
    ? objects(details['output'])
        .map((each) => text(each['value']))
        .join('\n')
    : ''

/** A boolean in older files; a reason (`type` 0 denied, 1 not needed, 2 and 3 by setting, 4 by the user) in newer ones. */
function decisionOf(confirmed: unknown): Decision {
  const type = isObject(confirmed) ? confirmed['type'] : confirmed
  if (type === false || type === 0) return { decision: 'deny', was: 'ask', by: 'person' }
  return type === 4 ? { decision: 'allow', was: 'ask', by: 'person' } : ran
}
