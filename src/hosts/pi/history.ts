/** pi: `sessions/--<path>--/<time>_<uuid>.jsonl`, a tree of entries. A blocked call is an error with the extension's reason. */
import { join } from 'node:path'
import type { JsonObject } from '../../hooks/shape.ts'
import { filesBelow } from '../history/files.ts'
import {
  type Call,
  callOf,
  closed,
  type Decision,
  type HistoryReader,
  type HistoryRecord,
  number,
  object,
  objects,
  opened,
  ran,
  type State,
  type ToolTable,
  text,
  textOf,
  time,
} from '../history/record.ts'

export const pi: HistoryReader = {
  agent: 'pi',
  title: 'pi',
  roots: (_, home) => [join(home, '.pi', 'agent', 'sessions')],
  files: (root, skipped) =>
    filesBelow(root, /\.jsonl$/, skipped).map(({ path, base }) => {
      return { path, key: base, about: { session: base.replace(/^.*_|\.jsonl$/g, '') } }
    }),
  read,
  // ids are short: alone, two sessions may share one
  copyKey: ({ type, id, timestamp }) => (type === 'message' ? `${text(id)} ${text(timestamp)}` : ''),
}

const tools: ToolTable = {
  bash: ['Bash'],
  read: ['Read', { path: 'file_path' }],
  write: ['Write', { path: 'file_path' }],
  edit: ['Edit', { path: 'file_path', oldText: 'old_string', newText: 'new_string' }],
  grep: ['Grep'],
  find: ['Glob'],
  ls: ['Glob'],
}

function read(line: JsonObject, state: State): HistoryRecord[] {
  const { type, id } = line
  const at = time(line['timestamp'])
  if (type === 'session') {
    state['session'] = text(id)
    return [
      {
        session: text(id),
        at,
        key: `${text(id)}:header`,
        kind: 'session',
        cwd: text(line['cwd']),
        version: `format ${number(line['version'])}`,
      },
    ]
  }
  const session = text(state['session'])
  if (session === '' || at === '') return [{ session: '', at, key: '', kind: 'unknown', type: text(type) || 'no type' }]
  const base = { session, at, key: `${session}:${text(id)}` }
  if (type === 'compaction' || type === 'branch_summary')
    return [{ ...base, kind: 'event', type: 'compacted', detail: {} }]
  if (type !== 'message')
    return quiet.includes(text(type))
      ? []
      : [{ session: '', at, key: '', kind: 'unknown', type: text(type) || 'no type' }]
  const message = object(line['message'])
  const { role, content } = message
  if (role === 'user') return [{ ...base, kind: 'prompt', text: textOf(content) }]
  if (role === 'assistant') return reply(message, state, base)
  if (role === 'toolResult') {
    const call = text(message['toolCallId'])
    const output = textOf(content)
    const isError = message['isError'] === true
    const tool = closed(state, call) ?? callOf(tools, { id: call, name: text(message['toolName']), input: {} }).name
    return [{ ...base, kind: 'result', call, tool, output, isError, decision: decisionOf(output, isError) }]
  }
  return [{ session: '', at, key: '', kind: 'unknown', type: `message ${text(role)}` }]
}

const quiet = ['model_change', 'thinking_level_change', 'custom', 'custom_message', 'label', 'session_info']

function reply(message: JsonObject, state: State, base: { session: string; at: string; key: string }): HistoryRecord[] {
  const parts = objects(message['content'])
  const calls: Call[] = parts
    .filter((part) => part['type'] === 'toolCall')
    .map((part) => callOf(tools, { id: text(part['id']), name: text(part['name']), input: object(part['arguments']) }))
  opened(state, calls)
  const said = textOf(parts.filter((part) => part['type'] === 'text'))
  const { input, output, cacheRead, cacheWrite, cost } = object(message['usage'])
  const records: HistoryRecord[] = []
  if (said !== '' || calls.length > 0) records.push({ ...base, kind: 'reply', text: said, calls })
  if (message['usage'] !== undefined)
    records.push({
      ...{ ...base, key: `${base.key}:usage`, kind: 'usage' },
      usage: {
        model: text(message['model']),
        inputTokens: number(input),
        outputTokens: number(output),
        cacheReadTokens: number(cacheRead),
        cacheWriteTokens: number(cacheWrite),
        costUsd: number(object(cost)['total']),
      },
    })
  if (message['stopReason'] === 'error')
    records.push({
      ...base,
      key: `${base.key}:error`,
      kind: 'event',
      type: 'api_error',
      detail: { message: text(message['errorMessage']) },
    })
  return records
}

/** The format marks no refusal; extensions that block say so in their reason. */
const decisionOf = (output: string, isError: boolean): Decision =>
  isError && /^(?:blocked|denied|not allowed|permission denied)\b/i.test(output)
    ? { decision: 'deny', was: 'deny', by: 'hook', reason: output.slice(0, 500) }
    : ran
