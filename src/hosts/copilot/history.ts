/** Copilot CLI: `session-state/<session>/events.jsonl`, an event log that holds its sub-agents, hooks and permissions too. */
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
  time,
} from '../history/record.ts'

export const copilotHistory: HistoryReader = {
  agent: 'copilot',
  title: 'Copilot CLI',
  roots: (env, home) => [join(env['COPILOT_HOME'] || join(home, '.copilot'), 'session-state')],
  files: (root, skipped) =>
    filesBelow(root, /\.jsonl$/, skipped).map(({ path, base }) => {
      const [, folder] = /([^/]+)\/events\.jsonl$/.exec(path) ?? []
      const session = folder ?? base.replace(/\.jsonl$/, '')
      return { path, key: session, about: { session } }
    }),
  sessionsIn: (files) => ({ count: files.length, orMore: true }), // sub-agents are in the file of their parent
  read,
  copyKey: ({ id }, state) => (text(id) === '' ? '' : `${text(state['session'])} ${text(id)}`),
  skip: ['"type":"system.message"'],
}

const tools: ToolTable = {
  bash: ['Bash'],
  shell: ['Bash'],
  view: ['Read', { path: 'file_path' }],
  create: ['Write', { path: 'file_path', file_text: 'content' }],
  edit: ['Edit', { path: 'file_path', old_str: 'old_string', new_str: 'new_string' }],
  str_replace: ['Edit', { path: 'file_path', old_str: 'old_string', new_str: 'new_string' }],
  apply_patch: ['Edit', { input: 'new_string', patch: 'new_string' }],
  grep: ['Grep'],
  glob: ['Glob'],
  web_fetch: ['WebFetch'],
  fetch: ['WebFetch'],
  web_search: ['WebSearch'],
  task: ['Agent', { agent_type: 'subagent_type' }],
  update_todo: ['TodoWrite'],
}

/** A tool whose whole input is a text, such as a patch, has no object. */
const argumentsOf = (given: unknown): JsonObject => (typeof given === 'string' ? { input: given } : object(given))

type Base = { readonly session: string; readonly at: string; readonly key: string }

function read(line: JsonObject, state: State): HistoryRecord[] {
  const { type, id } = line
  const data = object(line['data'])
  const at = time(line['timestamp'])
  if (type === 'session.start') state['session'] = text(data['sessionId']) || text(state['session'])
  const root = text(state['session'])
  if (root === '' || at === '' || typeof type !== 'string')
    return [{ session: '', at, key: '', kind: 'unknown', type: text(type) || 'no type' }]
  const agentId = text(line['agentId'])
  const base: Base = { session: agentId === '' ? root : `${root}/${agentId}`, at, key: text(id) }
  const handler = Object.hasOwn(handlers, type) ? handlers[type] : undefined
  if (handler) return handler(data, state, base, agentId)
  return quiet.test(type) ? [] : [{ session: '', at, key: '', kind: 'unknown', type }]
}

/** Stored events that an audit has no use for. */
const quiet =
  /^(?:assistant\.(?:turn_|intent|reasoning|streaming)|session\.(?:resume|shutdown|info|model_change|mode_changed|title|context|compaction|usage_info|snapshot|truncation|warning|task)|system\.|subagent\.(?:configured|completed|failed|selected|deselected)|tool\.(?:user_requested|execution_partial|execution_progress)|skill\.|abort|permission\.requested|elicitation|user_input|workspace)/

const handlers: Record<string, (data: JsonObject, state: State, base: Base, agentId: string) => HistoryRecord[]> = {
  'session.start': (data, _, base) => {
    const { cwd } = object(data['context'])
    return [{ ...base, kind: 'session', cwd: text(cwd), version: text(data['copilotVersion']) }]
  },
  'subagent.started': (data, state, base, agentId) =>
    agentId === ''
      ? []
      : [
          {
            ...{ ...base, kind: 'session' },
            parent: {
              session: text(state['session']),
              agentId,
              agentType: text(data['agentType']) || text(data['agentName']) || 'agent',
            },
          },
        ],
  'user.message': (data, _, base) => [{ ...base, kind: 'prompt', text: text(data['content']) }],
  'assistant.message': (data, state, base) => {
    const calls: Call[] = objects(data['toolRequests']).map((each) => {
      const server = text(each['mcpServerName'])
      const mcp = () => (server ? `mcp__${server}__${text(each['mcpToolName'])}` : undefined)
      return callOf(
        tools,
        { id: text(each['toolCallId']), name: text(each['name']), input: argumentsOf(each['arguments']) },
        mcp,
      )
    })
    opened(state, calls)
    const said = text(data['content'])
    return said === '' && calls.length === 0 ? [] : [{ ...base, kind: 'reply', text: said, calls }]
  },
  'tool.execution_start': () => [],
  'tool.execution_complete': (data, state, base) => {
    const call = text(data['toolCallId'])
    const { message, code } = object(data['error'])
    const { exitCode } = object(data['shellExecution'])
    const output = text(object(data['result'])['content']) || text(message)
    const isError = data['success'] !== true || (typeof exitCode === 'number' && exitCode !== 0)
    const asked = object(state['asked'])
    const decision = decisionOf(code === 'denied', text(asked[call]), output)
    delete asked[call]
    const tool = closed(state, call) ?? ''
    return [{ ...base, kind: 'result', call, tool, output, isError, decision }]
  },
  'permission.completed': (data, state) => {
    const asked = object(state['asked'])
    asked[text(data['toolCallId'])] = `${text(object(data['result'])['kind'])} ${text(data['decisionSource'])}`
    state['asked'] = asked
    return []
  },
  'hook.start': (data, state) => {
    const hooks = object(state['hooks'])
    const [first] = objects(object(data['input'])['toolCalls'])
    hooks[text(data['hookInvocationId'])] = {
      call: text(first?.['id']),
      tool: text(first?.['name']) || text(object(data['input'])['toolName']),
    }
    for (const old of Object.keys(hooks).slice(0, -100)) delete hooks[old]
    state['hooks'] = hooks
    return []
  },
  'hook.end': (data, state, base) => {
    const hooks = object(state['hooks'])
    const id = text(data['hookInvocationId'])
    const { call, tool } = object(hooks[id])
    delete hooks[id]
    const output = data['output'] === undefined ? '' : JSON.stringify(data['output'])
    const denied = /Denied by/.test(output)
    const failed = data['success'] !== true
    const native = text(tool)
    const name = native === '' ? '' : callOf(tools, { id: '', name: native, input: {} }).name
    const run = {
      event: eventNames[text(data['hookType'])] ?? text(data['hookType']),
      command: `copilot hook ${text(data['hookType'])}`,
    }
    return [
      {
        ...{ ...base, kind: 'hook' },
        hook: {
          ...run,
          ...(text(call) !== '' && { call: text(call) }),
          ...(name !== '' && { tool: name }),
          exitCode: denied ? 2 : failed ? 1 : 0,
          stdout: denied ? '' : output,
          stderr: denied ? output : failed ? JSON.stringify(data['error'] ?? 'failed') : '',
          ms: 0,
        },
      },
    ]
  },
  'session.usage_record': (data, _, base) => {
    const { model, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = object(data['usage'])
    const counts = { inputTokens: number(inputTokens), outputTokens: number(outputTokens) }
    const cache = { cacheReadTokens: number(cacheReadTokens), cacheWriteTokens: number(cacheWriteTokens) }
    return [{ ...base, kind: 'usage', usage: { model: text(model), ...counts, ...cache } }]
  },
  'session.error': (data, _, base) => [
    {
      ...base,
      kind: 'event',
      type: 'api_error',
      detail: { status: number(data['statusCode']), message: text(data['message']) },
    },
  ],
}

const eventNames: Record<string, string> = {
  ...{ sessionStart: 'SessionStart', sessionEnd: 'SessionEnd', userPromptSubmitted: 'UserPromptSubmit' },
  ...{ preToolUse: 'PreToolUse', postToolUse: 'PostToolUse', agentStop: 'SubagentStop', errorOccurred: 'StopFailure' },
}

/** `answer`: the result of a permission request, where one was made. */
function decisionOf(denied: boolean, answer: string, output: string): Decision {
  const [kind = '', source = ''] = answer.split(' ')
  const by =
    source === 'human_response'
      ? 'person'
      : source === 'unattended_fallback'
        ? 'nobody'
        : /hook/.test(kind)
          ? 'hook'
          : 'rule'
  if (denied)
    return answer === ''
      ? { decision: 'deny', was: 'deny', by: /hook/i.test(output) ? 'hook' : 'rule', reason: output.slice(0, 500) }
      : { decision: 'deny', was: kind === 'denied-by-rules' ? 'deny' : 'ask', by, reason: kind }
  return answer === '' ? ran : { decision: 'allow', was: by === 'rule' ? 'allow' : 'ask', by, reason: kind }
}
