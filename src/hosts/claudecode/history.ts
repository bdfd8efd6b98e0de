/** Claude Code: `projects/<slug>/<session>.jsonl`, one record per content block; sub-agents in files of their own. */
import { join } from 'node:path'
import type { JsonObject } from '../../hooks/shape.ts'
import { filesBelow, jsonFile } from '../history/files.ts'
import {
  type Call,
  callOf,
  closed,
  type Decision,
  type HistoryReader,
  type HistoryRecord,
  type HookRun,
  number,
  object,
  objects,
  opened,
  ran,
  type State,
  text,
  textOf,
  time,
} from '../history/record.ts'

export const claudecodeHistory: HistoryReader = {
  agent: 'claude',
  title: 'Claude Code',
  roots: (env, home) => [join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'projects')],
  files: (root, skipped) =>
    filesBelow(root, /\.jsonl$/, skipped)
      .filter(({ name }) => !name.includes('/tool-results/') && name !== 'history.jsonl')
      .map(({ path, name, base }) => {
        const [, agentId] = /\/?agent-([^/]+)\.jsonl$/.exec(name) ?? []

        if (agentId === undefined) return { path, key: base }
        const { agentType } = jsonFile(path.replace(/\.jsonl$/, '.meta.json'))
        return { path, key: base, about: { agentId, agentType: text(agentType) || 'agent' } }
      }),
  read,
  copyKey: ({ uuid }) => text(uuid),
  skip: [
    '"type":"api-request',
    '"attachment":{"type":"prompt_snapshot"',
    '"type":"queue-operation"',
    '"type":"last-prompt"',
    '"type":"tools-used"',
    '"type":"atis-latch"',
    '"type":"mode"',
  ],
}

const tools = { Task: ['Agent'], MultiEdit: ['Edit'], NotebookRead: ['Read', { notebook_path: 'file_path' }] } as const

function read(line: JsonObject, state: State): HistoryRecord[] {
  const { type, uuid, timestamp, sessionId } = line
  const root = text(sessionId)
  const at = time(timestamp) || text(state['at'])
  if (root === '' || (at === '' && type !== 'cost-state')) return known(type) ? [] : unknown(line, state)
  state['at'] = at
  const session = text(state['agentId']) ? `${root}/${text(state['agentId'])}` : root
  const base = { session, at, key: text(uuid) || `${text(type)}:${at}` }
  const records: HistoryRecord[] = []
  const cwd = text(line['cwd'])
  if (cwd !== '' && state['begun'] !== true) {
    state['begun'] = true
    const parent = text(state['agentId'])
      ? { session: root, agentId: text(state['agentId']), agentType: text(state['agentType']) || 'agent' }
      : undefined
    records.push({ ...base, kind: 'session', cwd, version: text(line['version']), ...(parent && { parent }) })
  }
  if (type === 'user') records.push(...userRecords(line, state, base))
  else if (type === 'assistant') records.push(...assistantRecords(line, state, base))
  else if (type === 'attachment') {
    const hook = hookRun(object(line['attachment']), state)
    if (hook) records.push({ ...base, kind: 'hook', hook })
  } else if (type === 'system' && line['subtype'] === 'api_error') {
    const { message, status, formatted } = object(line['error'])
    const detail = {
      status: number(status),
      message: text(formatted) || text(message),
      retry: number(line['retryAttempt']),
    }
    records.push({ ...base, kind: 'event', type: 'api_error', detail })
  } else if (type === 'system' && line['subtype'] === 'stop_hook_summary') {
    for (const info of objects(line['hookInfos'])) {
      const run = { event: 'Stop', command: text(info['command']), ms: number(info['durationMs']) }
      records.push({ ...base, kind: 'hook', hook: { ...run, exitCode: 0, stdout: '', stderr: '' } })
    }
  } else if (type === 'system' && line['subtype'] === 'compact_boundary') {
    const { trigger, preTokens } = object(line['compactMetadata'])
    const detail = { trigger: text(trigger), tokens: number(preTokens) }
    records.push({ ...base, kind: 'event', type: 'compacted', detail })
  } else if (type === 'cost-state' && number(line['totalCostUSD']) > number(state['cost'])) {
    // a running total: what was added since the last one counts
    const costUsd = number(line['totalCostUSD']) - number(state['cost'])
    state['cost'] = number(line['totalCostUSD'])
    const usage = { model: '', inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd }
    records.push({ ...base, key: `cost:${state['cost']}`, kind: 'usage', usage })
  }
  if (!known(type)) records.push(...unknown(line, state))
  return records
}

type Base = { readonly session: string; readonly at: string; readonly key: string }

function userRecords(line: JsonObject, state: State, base: Base): HistoryRecord[] {
  const { content } = object(line['message'])
  if (typeof content === 'string') {
    const injected = line['origin'] !== undefined || line['isMeta'] === true || line['isCompactSummary'] === true
    const typed = injected ? '' : typedText(content)
    return typed === '' ? [] : [{ ...base, kind: 'prompt', text: typed }]
  }
  const parts = objects(content)
  const records: HistoryRecord[] = []
  const prompt = textOf(parts.filter((part) => part['type'] === 'text'))
  if (prompt !== '' && line['isMeta'] !== true) records.push({ ...base, kind: 'prompt', text: prompt })
  for (const part of parts) {
    if (part['type'] !== 'tool_result') continue
    const call = text(part['tool_use_id'])
    const tool = closed(state, call) ?? ''
    const isError = part['is_error'] === true
    const output = textOf(part['content'])
    records.push({ ...base, kind: 'result', call, tool, output, isError, decision: decisionOf(line, output) })
  }
  return records
}

/** A slash command as it was typed; '' for what a command of the terminal printed. */
function typedText(content: string): string {
  if (/^<local-command-(?:stdout|stderr|caveat)>/.test(content)) return ''
  if (!/^<command-(?:name|message)>/.test(content)) return content
  const [, name = ''] = /<command-name>([^<]*)</.exec(content) ?? []
  const [, args = ''] = /<command-args>(.*?)<\/command-args>/s.exec(content) ?? []
  return `${name} ${args}`.trim()
}

/** `permissionDecision` and `toolDenialKind` say who decided; without them, what came back says that it ran. */
function decisionOf(line: JsonObject, output: string): Decision {
  const { decision, source, reasonType, ruleSource, reasonCode } = object(line['permissionDecision'])
  const why = [text(reasonCode), text(ruleSource)].filter(Boolean).join(' ')
  if (decision === 'reject') {
    const asked = line['toolDenialKind'] === 'user-rejected'
    const by = source === 'hook' ? 'hook' : asked ? (text(source).startsWith('user') ? 'person' : 'nobody') : 'rule'
    return { decision: 'deny', was: asked ? 'ask' : 'deny', by, reason: output.slice(0, 500) || why }
  }
  if (decision !== 'accept') return ran
  if (source === 'hook' || reasonType === 'hook') return { decision: 'allow', was: 'allow', by: 'hook', reason: why }
  const byRule = ruleSource !== undefined || reasonType === 'rule' || reasonType === 'subcommandResults'
  if (text(source).startsWith('user') && !byRule)
    return { decision: 'allow', was: 'ask', by: 'person', reason: text(source) }
  return { decision: 'allow', was: 'allow', by: byRule ? 'rule' : 'mode', reason: why }
}

function assistantRecords(line: JsonObject, state: State, base: Base): HistoryRecord[] {
  const { id, model, content, usage } = object(line['message'])
  const calls: Call[] = []
  for (const part of objects(content))
    if (part['type'] === 'tool_use')
      calls.push(callOf(tools, { id: text(part['id']), name: text(part['name']), input: object(part['input']) }))
  opened(state, calls)
  const said = textOf(objects(content).filter((part) => part['type'] === 'text'))
  const records: HistoryRecord[] = []
  if (said !== '' || calls.length > 0) records.push({ ...base, kind: 'reply', text: said, calls })
  // every block of a reply repeats the usage of the whole
  if (usage !== undefined && state['counted'] !== id) {
    state['counted'] = id
    const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = object(usage)
    records.push({
      ...{ ...base, key: `${base.key}:usage`, kind: 'usage' },
      usage: {
        model: text(model),
        inputTokens: number(input_tokens),
        outputTokens: number(output_tokens),
        cacheReadTokens: number(cache_read_input_tokens),
        cacheWriteTokens: number(cache_creation_input_tokens),
      },
    })
  }
  return records
}

function hookRun(attachment: JsonObject, state: State): HookRun | undefined {
  const { type, hookEvent, command, toolUseID, exitCode, stdout, stderr, durationMs, timedOut, content } = attachment
  if (!text(type).startsWith('hook_')) return undefined
  const call = text(toolUseID)
  const tool = (state.calls && Object.hasOwn(state.calls, call) ? state.calls[call] : undefined) ?? toolIn(attachment)
  return {
    event: text(hookEvent) || 'unknown',
    command: text(command) || text(type),
    ...(tool && { call, tool }),
    exitCode: typeof exitCode === 'number' ? exitCode : type === 'hook_cancelled' ? null : 0,
    stdout:
      text(stdout) ||
      (type === 'hook_additional_context' ? textOf(Array.isArray(content) ? content.join('\n') : content) : ''),
    stderr: timedOut === true ? `timed out after ${number(durationMs)} ms` : text(stderr),
    ms: number(durationMs),
  }
}

/** `PreToolUse:Bash` names the tool. */
const toolIn = ({ hookName }: JsonObject): string | undefined => /^(?:Pre|Post)ToolUse:(.+)$/.exec(text(hookName))?.[1]

const bookkeeping = new Set([
  'queue-operation',
  'last-prompt',
  'tools-used',
  'mode',
  'atis-latch',
  'system',
  'attachment',
])
const more = [
  'summary',
  'file-history-snapshot',
  'custom-title',
  'ai-title',
  'progress',
  'cost-state',
  'user',
  'assistant',
]
const known = (type: unknown): boolean =>
  typeof type === 'string' && (bookkeeping.has(type) || more.includes(type) || type.startsWith('api-request'))

const unknown = (line: JsonObject, state: State): HistoryRecord[] => [
  { session: '', at: text(state['at']), key: '', kind: 'unknown', type: text(line['type']) || 'no type' },
]
