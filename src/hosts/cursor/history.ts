/**
 * Cursor: the stores of its app and of its command line (ide-store.ts, cli-store.ts), and
 * `~/.cursor/projects/<slug>/agent-transcripts/<id>/<id>.jsonl`, a thin copy of the same sessions without results and tokens. No
 * format is documented by the vendor; this follows descriptions by others.
 */
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { JsonObject } from '../../hooks/shape.ts'
import { type Found, filesBelow, jsonFile } from '../history/files.ts'
import {
  type Call,
  type HistoryFile,
  type HistoryReader,
  type HistoryRecord,
  number,
  object,
  objects,
  ran,
  type State,
  text,
  textOf,
  time,
} from '../history/record.ts'
import { cursorCall } from './calls.ts'
import { cliRows, readCliRow } from './cli-store.ts'
import { composerIds, ideRows, readIdeRow } from './ide-store.ts'

export const cursorHistory: HistoryReader = {
  agent: 'cursor',
  title: 'Cursor',
  roots(env, home) {
    const data = env['CURSOR_DATA_DIR'] || join(home, '.cursor')
    const app = ['Cursor', 'User', 'globalStorage', 'state.vscdb']
    return [
      join(env['XDG_CONFIG_HOME'] || join(home, '.config'), ...app),
      join(home, 'Library', 'Application Support', ...app),
      ...['chats', 'acp-sessions', 'projects'].map((folder) => join(data, folder)),
    ]
  },
  files: (root, skipped) =>
    filesBelow(
      root,
      /(^|\/)(agent-transcripts\/.+|[^/]+)\.jsonl$|(^|\/)store\.db$|(^|globalStorage\/)state\.vscdb$/,
      skipped,
    )
      .map(fileOf)
      .sort((a, b) => Number(isTranscript(a.path)) - Number(isTranscript(b.path))), // what holds more goes first
  sessionsIn(files, sinceMs) {
    const ids = files.flatMap(({ path, key }) =>
      kindOf(path) === 'app' ? idsIn(path, sinceMs) : [key.replace(/^chat /, '')],
    )
    return { count: new Set(ids).size }
  },
  rows: (path, cursor) => (kindOf(path) === 'app' ? ideRows(path, cursor) : cliRows(path, cursor)),
  read: (line, state) =>
    'composer' in line ? readIdeRow(line, state) : 'row' in line ? readCliRow(line, state) : readLine(line, state),
  repeats: true,
  isThin: isTranscript,
}

function isTranscript(path: string): boolean {
  return kindOf(path) === 'transcript'
}

const kindOf = (path: string): 'app' | 'transcript' | 'chat' =>
  path.endsWith('.vscdb') ? 'app' : path.endsWith('.jsonl') ? 'transcript' : 'chat'

function fileOf({ path, base }: Found): HistoryFile {
  if (kindOf(path) === 'app') return { path, key: path }
  if (kindOf(path) === 'chat') return { path, key: `chat ${basename(dirname(path))}` }
  const session = base.replace(/\.jsonl$/, '')
  const at = new Date(statSync(path).mtimeMs).toISOString()
  const [project] = /^.*(?=\/agent-transcripts\/)/.exec(path) ?? []
  const cwd = project === undefined ? '' : text(jsonFile(join(project, '.workspace-trusted'))['workspacePath'])
  return { path, key: session, about: { session, at, cwd }, lines: true }
}

function idsIn(path: string, sinceMs: number): string[] {
  try {
    return composerIds(path, sinceMs)
  } catch {
    return [] // reading it reports what is wrong
  }
}

function readLine(line: JsonObject, state: State): HistoryRecord[] {
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
