/** Codex: rollouts, `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl[.zst]`. Refusals can be recognised by the output's text alone. */
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
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
  opened,
  ran,
  type State,
  text,
  textOf,
  time,
} from '../history/record.ts'

export const codexHistory: HistoryReader = {
  agent: 'codex',
  title: 'Codex',
  roots: (env, home) => {
    const base = env['CODEX_HOME'] || join(home, '.codex')
    return [join(base, 'sessions'), join(base, 'archived_sessions')]
  },
  files: (root, skipped) =>
    filesBelow(root, /(^|\/)[^/]+\.jsonl(\.zst)?$/, skipped).map(({ path, base }) => ({
      path,
      key: base.replace(/\.zst$/, ''), // archiving and packing move it
    })),
  read,
  copyKey: ({ timestamp, ordinal, type, payload }, state) =>
    `${text(state['session'])} ${text(timestamp)} ${
      typeof ordinal === 'number' ? ordinal : `${text(type)} ${JSON.stringify(payload)}`
    }`,
  skip: ['"type":"world_state"', '"type":"base_instructions"'],
}

const tools = {
  exec_command: ['Bash', { cmd: 'command' }],
  shell: ['Bash'],
  shell_command: ['Bash'],
  local_shell: ['Bash'],
  apply_patch: ['Edit', { input: 'new_string' }],
  spawn_agent: ['Agent', { message: 'prompt' }],
  update_plan: ['TodoWrite'],
  view_image: ['Read', { path: 'file_path' }],
  web_search: ['WebSearch'],
} as const

function read(line: JsonObject, state: State): HistoryRecord[] {
  const { type, ordinal } = line
  const payload = object(line['payload'])
  const at = time(line['timestamp']) || text(state['at'])
  state['at'] = at
  if (type === 'session_meta') return begin(payload, state, at)
  const session = text(state['session']) || text(payload['thread_id'])
  state['session'] = session
  if (session === '' || at === '') return isKnown(type) ? [] : unknown(line, at)
  const count = number(state['line']) + 1
  state['line'] = count
  const base = { session, at, key: `${session}:${typeof ordinal === 'number' ? ordinal : `line ${count}`}` }
  if (type === 'response_item') return itemRecords(payload, state, base)
  if (type === 'event_msg') return eventRecords(payload, state, base)
  if (type === 'turn_context') {
    state['model'] = text(payload['model'])
    return []
  }
  if (type === 'token_usage_record') return [usageRecord(object(payload['usage']), state, base)]
  if (type === 'compacted') return [{ ...base, kind: 'event', type: 'compacted', detail: {} }]
  return isKnown(type) ? [] : unknown(line, at)
}

type Base = { readonly session: string; readonly at: string; readonly key: string }

function begin(meta: JsonObject, state: State, at: string): HistoryRecord[] {
  const session = text(meta['id'])
  // a forked session holds its parent's header after its own
  if (session === '' || text(state['session']) !== '') return []
  state['session'] = session
  state['paginated'] = meta['history_mode'] === 'paginated'
  const parent = text(meta['parent_thread_id'])
  const nickname = text(meta['agent_nickname']) || 'agent'
  return [
    {
      ...{ session, at: time(meta['timestamp']) || at, key: `${session}:meta`, kind: 'session' },
      cwd: text(meta['cwd']),
      version: text(meta['cli_version']),
      ...(parent !== '' && { parent: { session: parent, agentId: session, agentType: nickname } }),
    },
  ]
}

function itemRecords(item: JsonObject, state: State, base: Base): HistoryRecord[] {
  const { type, role, content } = item
  if (type === 'message') {
    if (role === 'assistant') return [{ ...base, kind: 'reply', text: textOf(content), calls: [] }]
    // legacy sessions have no item_completed; there, user messages that the program did not inject are prompts
    const said = textOf(content)
    const injected = /^\s*<(?:environment_context|user_instructions|subagent_notification|permissions)/.test(said)
    return role === 'user' && state['paginated'] !== true && said !== '' && !injected
      ? [{ ...base, kind: 'prompt', text: said }]
      : []
  }
  if (type === 'function_call' || type === 'custom_tool_call' || type === 'local_shell_call') {
    const call = callIn(item)
    opened(state, [call])
    return [{ ...base, kind: 'reply', text: '', calls: [call] }]
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const call = text(item['call_id'])
    const output = outputText(item['output'])
    const tool = closed(state, call) ?? ''
    const exit = /^(?:Process exited with code|Exit code:) (\d+)/m.exec(output.slice(0, 400))?.[1]
    const decision = decisionOf(output)
    const isError =
      decision.decision === 'deny' || (exit !== undefined && exit !== '0') || /^[\w ]+ failed:/.test(output)
    return [{ ...base, kind: 'result', call, tool, output, isError, decision }]
  }
  return isKnown(type) ? [] : unknown(item, base.at)
}

function callIn(item: JsonObject): Call {
  const namespace = text(item['namespace'])
  const plain = text(item['name']) || text(item['type'])
  const name = namespace.startsWith('mcp__') ? `${namespace}__${plain}` : plain
  const id = text(item['call_id'])
  const given = inputOf(item['arguments'] ?? item['input'] ?? item['action'])
  const { command, input: patch } = given
  if (name === 'apply_patch' && typeof patch === 'string')
    return { ...callOf(tools, { id, name, input: { input: patch } }), original: { name, input: {} } }
  if (!Array.isArray(command)) return callOf(tools, { id, name, input: given })
  const [program = '', flag = '', ...rest] = command.filter((word): word is string => typeof word === 'string')
  // Codex runs this one itself: there is no such program
  const call = /^apply_?patch$/.test(program)
    ? callOf(tools, { id, name: 'apply_patch', input: { input: flag } })
    : callOf(tools, { id, name, input: { ...given, command: lineOf(program, flag, rest) } })
  return { ...call, original: { name, input: given } }
}

const lineOf = (program: string, flag: string, rest: readonly string[]): string =>
  /(?:^|\/)(?:ba|z)?sh$/.test(program) && /^-\w*c$/.test(flag) && rest[0] !== undefined
    ? rest[0]
    : [program, flag, ...rest].filter((word) => word !== '').join(' ')

/** Arguments are a JSON string; a custom tool's input is plain text. */
function inputOf(given: unknown): JsonObject {
  if (isObject(given)) return given
  if (typeof given !== 'string') return {}
  try {
    const value: unknown = JSON.parse(given)
    return isObject(value) ? value : { input: given }
  } catch {
    return { input: given }
  }
}

const outputText = (output: unknown): string =>
  isObject(output) ? text(output['content']) || textOf(output['body']) : textOf(output)

function decisionOf(output: string): Decision {
  const hook = /^(?:Command|Tool call) blocked by \w+ hook: (.*)/s.exec(output)?.[1]
  if (hook !== undefined) return { decision: 'deny', was: 'deny', by: 'hook', reason: hook.slice(0, 500) }
  const head = output.slice(0, 400)
  if (/rejected by user/i.test(head)) return { decision: 'deny', was: 'ask', by: 'person', reason: head }
  return /Rejected\(/.test(head) ? { decision: 'deny', was: 'deny', by: 'rule', reason: head } : ran
}

function eventRecords(event: JsonObject, state: State, base: Base): HistoryRecord[] {
  const { type } = event
  if (type === 'item_completed') {
    const item = object(event['item'])
    return item['type'] === 'UserMessage' ? [{ ...base, kind: 'prompt', text: textOf(item['content']) }] : []
  }
  if (type === 'task_complete' && isObject(event['error']))
    return [{ ...base, kind: 'event', type: 'api_error', detail: { message: text(event['error']['message']) } }]
  if (type === 'turn_aborted')
    return [{ ...base, kind: 'event', type: 'interrupted', detail: { reason: text(event['reason']) } }]
  // legacy sessions count tokens here and nowhere else
  if (type === 'token_count' && state['paginated'] !== true && isObject(event['info']))
    return [usageRecord(object(event['info']['last_token_usage']), state, base)]
  return []
}

function usageRecord(usage: JsonObject, state: State, base: Base): HistoryRecord {
  const cached = number(usage['cached_input_tokens'])
  return {
    ...{ ...base, kind: 'usage' },
    usage: {
      model: text(state['model']),
      inputTokens: Math.max(0, number(usage['input_tokens']) - cached),
      outputTokens: number(usage['output_tokens']),
      cacheReadTokens: cached,
      cacheWriteTokens: number(usage['cache_write_input_tokens']),
    },
  }
}

const names = [
  'response_item',
  'event_msg',
  'world_state',
  'turn_context',
  'session_meta',
  'reasoning',
  'web_search_call',
]
const isKnown = (type: unknown): boolean =>
  names.includes(text(type)) || type === 'ghost_snapshot' || type === 'compaction'

const unknown = (line: JsonObject, at: string): HistoryRecord[] => [
  { session: '', at, key: '', kind: 'unknown', type: text(line['type']) || 'no type' },
]
