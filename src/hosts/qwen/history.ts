/** Qwen Code: `projects/<slug>/chats/<session>.jsonl`, Claude's tree of records with Gemini's parts. */
import { join } from 'node:path'
import type { JsonObject } from '../../hooks/shape.ts'
import { geminiTools } from '../gemini/history.ts'
import { filesBelow, jsonFile } from '../history/files.ts'
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
  type State,
  text,
  time,
} from '../history/record.ts'

export const qwen: HistoryReader = {
  agent: 'qwen',
  title: 'Qwen Code',
  roots: (_, home) => [join(home, '.qwen', 'projects')],
  files: (root, skipped) =>
    filesBelow(root, /(^|\/)(chats|subagents)\/.+\.jsonl$/, skipped).map(({ path, name, base }) => {
      const [, agentId] = /subagents\/[^/]+\/agent-([^/]+)\.jsonl$/.exec(name) ?? []
      const about = agentId === undefined ? {} : { agentId, agentType: agentTypeIn(path) }
      return { path, key: base, about }
    }),
  read,
  copyKey: ({ uuid }) => text(uuid),
}

const agentTypeIn = (path: string): string =>
  text(jsonFile(path.replace(/\.jsonl$/, '.meta.json'))['agentType']) || 'agent'

function read(line: JsonObject, state: State): HistoryRecord[] {
  const { type, uuid, sessionId, subtype } = line
  const at = time(line['timestamp'])
  const root = text(sessionId)
  if (root === '' || at === '') return [{ session: '', at, key: '', kind: 'unknown', type: text(type) || 'no type' }]
  const agentId = text(line['agentId']) || text(state['agentId'])
  const session = agentId === '' ? root : `${root}/${agentId}`
  const base = { session, at, key: text(uuid) }
  const records: HistoryRecord[] = []
  if (state['begun'] !== true) {
    state['begun'] = true
    const agentType = text(state['agentType']) || text(line['agentName']) || 'agent'
    const parent = agentId === '' ? undefined : { session: root, agentId, agentType }
    const about = { cwd: text(line['cwd']), version: text(line['version']) }
    records.push({ ...base, kind: 'session', ...about, ...(parent && { parent }) })
  }
  const parts = objects(object(line['message'])['parts'])
  const said = parts
    .map((part) => text(part['text']))
    .filter((part) => part !== '' && !part.startsWith('<system-reminder>'))
    .join('\n')
  if (type === 'user') {
    if (said !== '' && subtype !== 'notification') records.push({ ...base, kind: 'prompt', text: said })
  } else if (type === 'assistant') records.push(...reply(line, parts, said, state, base))
  else if (type === 'tool_result') records.push(result(line, parts, state, base))
  else if (type === 'system') {
    const event = object(object(line['systemPayload'])['uiEvent'])
    if (text(event['event.name']).endsWith('.api_error'))
      records.push({
        ...base,
        kind: 'event',
        type: 'api_error',
        detail: { message: text(event['error_message'] ?? event['error']) },
      })
  } else records.push({ session: '', at, key: '', kind: 'unknown', type: text(type) || 'no type' })
  return records
}

type Base = { readonly session: string; readonly at: string; readonly key: string }

function reply(
  line: JsonObject,
  parts: readonly JsonObject[],
  said: string,
  state: State,
  base: Base,
): HistoryRecord[] {
  const calls: Call[] = []
  for (const part of parts) {
    const { id, name, args } = object(part['functionCall'])
    if (typeof name === 'string') calls.push(callOf(geminiTools, { id: text(id), name, input: object(args) }))
  }
  opened(state, calls)
  const records: HistoryRecord[] = []
  if (said !== '' || calls.length > 0) records.push({ ...base, kind: 'reply', text: said, calls })
  if (line['usageMetadata'] !== undefined) {
    const { promptTokenCount, candidatesTokenCount, cachedContentTokenCount } = object(line['usageMetadata'])
    const cached = number(cachedContentTokenCount)
    records.push({
      ...{ ...base, key: `${base.key}:usage`, kind: 'usage' },
      usage: {
        model: text(line['model']),
        inputTokens: Math.max(0, number(promptTokenCount) - cached),
        outputTokens: number(candidatesTokenCount),
        cacheReadTokens: cached,
        cacheWriteTokens: 0,
      },
    })
  }
  return records
}

function result(line: JsonObject, parts: readonly JsonObject[], state: State, base: Base): HistoryRecord {
  const { callId, status, errorType, executionStatus } = object(line['toolCallResult'])
  const response = object(parts.map((part) => part['functionResponse']).find((each) => each !== undefined))
  const call = text(callId) || text(response['id'])
  const { output, error } = object(response['response'])
  const answer = text(error) || text(output)
  const decision = decisionOf(text(errorType), text(executionStatus), answer)
  const tool = closed(state, call) ?? ''
  return { ...base, kind: 'result', call, tool, output: answer, isError: status !== 'success', decision }
}

/** A hook's refusal and a rule's read alike but for the text. */
function decisionOf(errorType: string, execution: string, answer: string): Decision {
  if (errorType !== 'execution_denied')
    return { decision: 'allow', was: 'allow', by: execution === 'not_started' ? 'mode' : 'unrecorded' }
  const byRule = /denied by permission rules/.test(answer)
  const byUser = /^\[Operation Cancelled\]|user (?:rejected|cancelled)/i.test(answer)
  const by = byRule ? 'rule' : byUser ? 'person' : 'hook'
  return { decision: 'deny', was: byUser ? 'ask' : 'deny', by, reason: answer.slice(0, 500) }
}
