/** Gemini CLI: `tmp/<project>/chats/…jsonl`, a log of operations. A message is written again when its calls have ended. */
import { dirname, join } from 'node:path'
import type { JsonObject } from '../../hooks/shape.ts'
import { filesBelow, jsonFile } from '../history/files.ts'
import {
  type Call,
  callOf,
  type Decision,
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

export const geminiHistory: HistoryReader = {
  agent: 'gemini',
  title: 'Gemini CLI',
  roots: (env, home) => [join(env['GEMINI_CLI_HOME'] || home, '.gemini', 'tmp')],
  files: (root, skipped) => {
    const beside = [root, dirname(root)].map((folder) => jsonFile(join(folder, 'projects.json'))['projects'])
    const projects = object(beside.find((each) => each !== undefined))
    const folders = new Map(Object.entries(projects).map(([path, name]) => [text(name), path]))
    return filesBelow(root, /(^|\/)chats\/.+\.jsonl$/, skipped).map(({ path, name }) => {
      const [, project = '', key] = /([^/]+)\/chats\/(.+)$/.exec(path) ?? []
      const [, parent] = /chats\/([^/]+)\/[^/]+\.jsonl$/.exec(name) ?? []
      return { path, key: `${project}/${key}`, about: { cwd: folders.get(project) ?? '', parent: parent ?? '' } }
    })
  },
  // a resumed session leaves a file more, whose name ends in the same part of its id
  sessionsIn: (files) => ({
    count: new Set(files.map(({ key }) => key.replace(/session-.*-(?=[0-9a-f]{8}\.)/, ''))).size,
  }),
  read,
  repeats: true,
}

/** Shared with Qwen Code, which grew out of it. */
export const geminiTools: ToolTable = {
  run_shell_command: ['Bash'],
  read_file: ['Read', { absolute_path: 'file_path' }],
  read_many_files: ['Read'],
  write_file: ['Write'],
  replace: ['Edit'],
  edit: ['Edit'],
  search_file_content: ['Grep', { dir_path: 'path', include: 'glob' }],
  grep_search: ['Grep', { dir_path: 'path', include: 'glob' }],
  glob: ['Glob', { dir_path: 'path' }],
  list_directory: ['Glob', { dir_path: 'path' }],
  web_fetch: ['WebFetch'],
  google_web_search: ['WebSearch'],
  web_search: ['WebSearch'],
  invoke_agent: ['Agent', { agent_name: 'subagent_type' }],
  agent: ['Agent'],
  task: ['Agent'],
  write_todos: ['TodoWrite'],
  todo_write: ['TodoWrite'],
}
/** `mcp_<server>_<tool>`: the server's name ends at the next underscore. */
const mcp = (name: string): string | undefined => {
  const [, server, tool] = /^mcp_([^_]+)_(.+)$/.exec(name) ?? []
  return server && tool ? `mcp__${server}__${tool}` : undefined
}

function read(line: JsonObject, state: State): HistoryRecord[] {
  if (typeof line['sessionId'] === 'string' && line['kind'] !== undefined) {
    state['session'] = line['sessionId']
    const at = time(line['startTime'])
    const [directory] = Array.isArray(line['directories']) ? line['directories'] : []
    const parent = text(state['parent'])
    const session = text(state['session'])
    state['at'] = at
    const isAgent = line['kind'] === 'subagent' && parent !== ''
    return [
      {
        ...{ session, at, key: `${session}:header`, kind: 'session' },
        cwd: text(directory) || text(state['cwd']),
        ...(isAgent && { parent: { session: parent, agentId: session, agentType: 'agent' } }),
      },
    ]
  }
  if (line['$set'] !== undefined)
    return objects(object(line['$set'])['messages']).flatMap((each) => message(each, state))
  if (typeof line['$rewindTo'] === 'string') {
    const base = { session: text(state['session']), at: text(state['at']), key: `rewind:${line['$rewindTo']}` }
    return [{ ...base, kind: 'event', type: 'rewind', detail: { to: line['$rewindTo'] } }]
  }
  return message(line, state)
}

function message(line: JsonObject, state: State): HistoryRecord[] {
  const { id, type, content } = line
  const session = text(state['session'])
  const at = time(line['timestamp']) || text(state['at'])
  if (typeof id !== 'string' || session === '' || at === '')
    return [{ session: '', at, key: '', kind: 'unknown', type: text(type) || 'no id' }]
  state['at'] = at
  const base = { session, at, key: id }
  if (type === 'user') {
    const said = textOf(content)
    const injected = /^\s*<(?:session_context|system-reminder)>/.test(said)
    return said === '' || injected ? [] : [{ ...base, kind: 'prompt', text: said }]
  }
  if (type === 'gemini') return reply(line, base)
  if (type === 'error' || type === 'warning')
    return [{ ...base, kind: 'event', type, detail: { message: textOf(content) } }]
  return type === 'info' ? [] : [{ session: '', at, key: '', kind: 'unknown', type: text(type) || 'no type' }]
}

function reply(line: JsonObject, base: { session: string; at: string; key: string }): HistoryRecord[] {
  const done = objects(line['toolCalls'])
  const calls: Call[] = done.map((each) =>
    callOf(geminiTools, { id: text(each['id']), name: text(each['name']), input: object(each['args']) }, mcp),
  )
  const said = textOf(line['content'])
  const records: HistoryRecord[] = []
  const { input, output, cached } = object(line['tokens'])
  if (line['tokens'] !== undefined)
    records.push({
      ...{ ...base, key: `${base.key}:usage`, kind: 'usage' },
      usage: {
        model: text(line['model']),
        inputTokens: Math.max(0, number(input) - number(cached)),
        outputTokens: number(output),
        cacheReadTokens: number(cached),
        cacheWriteTokens: 0,
      },
    })
  if (said !== '') records.push({ ...base, kind: 'reply', text: said, calls: [] })
  // a message that is written again may hold more calls
  for (const call of calls)
    records.push({ ...base, key: `${base.key}:${call.id}`, kind: 'reply', text: '', calls: [call] })
  for (const [index, each] of done.entries()) {
    const { id, name } = calls[index]!
    const { output: printed, error } = object(object(objects(each['result'])[0]?.['functionResponse'])['response'])
    const answer = text(error) || text(printed)
    const isError = each['status'] !== 'success' || /^Exit Code: [1-9]/m.test(answer.slice(-400))
    records.push({
      ...{ ...base, key: `result:${id}`, at: time(each['timestamp']) || base.at, kind: 'result' },
      ...{ call: id, tool: name, output: answer, isError, decision: decisionOf(text(error), each['status']) },
    })
  }
  return records
}

function decisionOf(error: string, status: unknown): Decision {
  const reason = error.slice(0, 500)
  if (/^Tool execution blocked:/.test(error)) return { decision: 'deny', was: 'deny', by: 'hook', reason }
  if (/denied by policy/i.test(error)) return { decision: 'deny', was: 'deny', by: 'rule', reason }
  return status === 'cancelled' ? { decision: 'deny', was: 'ask', by: 'person', reason: 'cancelled' } : ran
}
