/** opencode: `opencode.db`, SQLite in WAL mode. Rows change in place, so a session that changed is read again. */
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { filesBelow } from '../history/files.ts'
import {
  callOf,
  type Decision,
  type HistoryReader,
  type HistoryRecord,
  number,
  object,
  ran,
  type State,
  type ToolTable,
  text,
  time,
} from '../history/record.ts'

export const opencodeHistory: HistoryReader = {
  agent: 'opencode',
  title: 'opencode',
  roots: (env, home) => {
    const named = env['OPENCODE_DB']
    if (named && named !== ':memory:') return [named]
    return [join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'opencode')]
  },
  files: (root, skipped) =>
    filesBelow(root, /^opencode(-[^/]+)?\.db$/, skipped).map(({ path }) => ({ path, key: path })),
  sessionsIn: (files, sinceMs) => ({ count: files.reduce((sum, { path }) => sum + sessionsSince(path, sinceMs), 0) }),
  read,
  repeats: true,
  rows,
}

const tools: ToolTable = {
  bash: ['Bash'],
  read: ['Read', { filePath: 'file_path' }],
  write: ['Write', { filePath: 'file_path' }],
  edit: ['Edit', { filePath: 'file_path', oldString: 'old_string', newString: 'new_string' }],
  multiedit: ['Edit', { filePath: 'file_path' }],
  apply_patch: ['Edit', { patchText: 'new_string' }],
  glob: ['Glob'],
  grep: ['Grep', { include: 'glob' }],
  list: ['Glob'],
  webfetch: ['WebFetch'],
  websearch: ['WebSearch'],
  task: ['Agent'],
  todowrite: ['TodoWrite'],
  skill: ['Skill'],
}
/** MCP tools are `<server>_<tool>`. */
const mcp = (name: string): string | undefined => {
  const [, server, tool] = /^([^_]+)_(.+)$/.exec(name) ?? []
  return server && tool ? `mcp__${server}__${tool}` : undefined
}

function sessionsSince(path: string, sinceMs: number): number {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  try {
    const db = new DatabaseSync(path, { readOnly: true })
    try {
      return number(db.prepare('SELECT count(*) AS n FROM session WHERE time_updated >= ?').get(sinceMs)?.['n'])
    } finally {
      db.close()
    }
  } catch {
    return 0 // reading it reports what is wrong
  }
}

/** Sessions that changed since `cursor` (milliseconds), oldest change first, each with its messages and parts in order. */
function* rows(path: string, cursor: number): Generator<{ line: JsonObject; cursor: number }> {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    db.exec('PRAGMA busy_timeout=10000')
    const sessions = db.prepare('SELECT * FROM session WHERE time_updated >= ? ORDER BY time_updated, id').all(cursor)
    for (const session of sessions) {
      const updated = number(session['time_updated'])
      yield { line: { row: 'session', ...session } as JsonObject, cursor }
      const parts = db.prepare(
        `SELECT p.id, p.message_id, p.session_id, p.time_created, p.data, m.data AS message FROM part p
         JOIN message m ON m.id = p.message_id WHERE p.session_id = ? ORDER BY m.id, p.id`,
      )
      for (const part of parts.iterate(session['id'] as string))
        yield { line: { row: 'part', ...part } as JsonObject, cursor }
      const messages = db.prepare(
        'SELECT id, session_id, time_created, data FROM message WHERE session_id = ? ORDER BY id',
      )
      for (const row of messages.iterate(session['id'] as string))
        yield { line: { row: 'message', ...row } as JsonObject, cursor: updated }
    }
  } finally {
    db.close()
  }
}

function read(line: JsonObject, state: State): HistoryRecord[] {
  const { row, id } = line
  const at = time(line['time_created'])
  if (row === 'session') {
    state['session'] = text(id)
    const parent = text(line['parent_id'])
    const agentType = text(line['agent']) || 'agent'
    return [
      {
        ...{ session: text(id), at, key: `${text(id)}:session`, kind: 'session' },
        ...{ cwd: text(line['directory']), version: text(line['version']), title: text(line['title']) },
        ...(parent !== '' && { parent: { session: parent, agentId: text(id), agentType } }),
      },
    ]
  }
  const data = parsed(line['data'])
  const base = { session: text(line['session_id']), at, key: text(id) }
  if (base.session === '' || at === '')
    return [{ session: '', at, key: '', kind: 'unknown', type: text(row) || 'no row' }]
  return row === 'message' ? messageRecords(data, base) : partRecords(data, parsed(line['message']), base)
}

type Base = { readonly session: string; readonly at: string; readonly key: string }

function messageRecords(data: JsonObject, base: Base): HistoryRecord[] {
  if (data['role'] !== 'assistant') return []
  const records: HistoryRecord[] = []
  const { input, output, cache } = object(data['tokens'])
  const { read: cacheRead, write } = object(cache)
  if (number(input) + number(output) > 0)
    records.push({
      ...{ ...base, key: `${base.key}:usage`, kind: 'usage' },
      usage: {
        model: text(data['modelID']),
        inputTokens: number(input),
        outputTokens: number(output),
        cacheReadTokens: number(cacheRead),
        cacheWriteTokens: number(write),
        costUsd: number(data['cost']),
      },
    })
  if (isObject(data['error'])) {
    const { name, data: about } = data['error']
    const detail = {
      name: text(name),
      status: number(object(about)['statusCode']),
      message: text(object(about)['message']),
    }
    records.push({ ...base, key: `${base.key}:error`, kind: 'event', type: 'api_error', detail })
  }
  return records
}

function partRecords(data: JsonObject, message: JsonObject, base: Base): HistoryRecord[] {
  const { type } = data
  if (type === 'text') {
    const said = text(data['text'])
    if (said === '' || data['synthetic'] === true) return []
    if (message['role'] !== 'user')
      return isWritten(data, message) ? [{ ...base, kind: 'reply', text: said, calls: [] }] : []
    // `opencode run` stores a prompt with spaces in quotation marks
    return [{ ...base, kind: 'prompt', text: /^"[^"]*\s[^"]*"$/s.test(said) ? said.slice(1, -1) : said }]
  }
  if (type === 'tool') return toolRecords(data, base)
  return quiet.includes(text(type))
    ? []
    : [{ session: '', at: base.at, key: '', kind: 'unknown', type: `part ${text(type)}` }]
}

/** Rows change in place: a reply that still arrives is read when it is whole. */
const isWritten = ({ time: part }: JsonObject, { time: message }: JsonObject): boolean =>
  !isObject(part) || part['end'] !== undefined || object(message)['completed'] !== undefined

const quiet = [
  'step-start',
  'step-finish',
  'patch',
  'reasoning',
  'file',
  'agent',
  'snapshot',
  'compaction',
  'subtask',
  'retry',
]

function toolRecords(data: JsonObject, base: Base): HistoryRecord[] {
  const state = object(data['state'])
  if (state['status'] === 'pending') return [] // its input still arrives
  const call = callOf(tools, { id: text(data['callID']), name: text(data['tool']), input: object(state['input']) }, mcp)
  const records: HistoryRecord[] = [{ ...base, kind: 'reply', text: '', calls: [call] }]
  const { status } = state
  if (status !== 'completed' && status !== 'error') return records
  const output = status === 'error' ? text(state['error']) : text(state['output'])
  const exit = number(object(state['metadata'])['exit'])
  const decision = status === 'error' ? decisionOf(output) : ran
  const about = { call: call.id, tool: call.name, output, isError: status === 'error' || exit !== 0, decision }
  const end = time(object(state['time'])['end']) || base.at
  return [...records, { ...base, key: `result:${call.id}`, at: end, kind: 'result', ...about }]
}

function decisionOf(error: string): Decision {
  const reason = error.slice(0, 500)
  if (/^The user has specified a rule/.test(error)) return { decision: 'deny', was: 'deny', by: 'rule', reason }
  if (/^The user rejected permission/.test(error)) return { decision: 'deny', was: 'ask', by: 'person', reason }
  return /^(?:blocked|denied|not allowed)\b/i.test(error) ? { decision: 'deny', was: 'deny', by: 'hook', reason } : ran
}

function parsed(json: unknown): JsonObject {
  if (typeof json !== 'string') return object(json)
  try {
    return object(JSON.parse(json))
  } catch {
    return {}
  }
}
