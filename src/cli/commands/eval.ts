/** `ona --eval '{"tool":…,"input":{…}}'`: one tool call by the operator, through hooks, gate, rules and transcript. */
import { resolve } from 'node:path'
import { openSharedRuntime } from '../../agent/session/open-runtime.ts'
import { runToolCall } from '../../agent/tool-call.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { readJson } from '../../hooks/text/json-text.ts'
import { modes } from '../../permissions/modes.ts'
import {
  createConversation,
  createSession,
  getConversation,
  newestConversation,
  newestSession,
} from '../../store/conversations.ts'
import { type Db, newId } from '../../store/open.ts'
import { command } from '../command.ts'
import { sessionAt } from '../conversation.ts'
import { nobody, tellNotice } from '../headless/deny-all.ts'
import { failed, saidJson, wrong } from '../print.ts'
import { onEndingSignals } from '../signals.ts'

const help = `Runs one tool the way the model's calls are run: hooks, planning gate, rules, rows.

  ona --eval '{"tool":"Read","input":{"file_path":"/etc/hostname"}}'
  ona --eval JSON [--conversation ID] [--cwd DIR] [--permission-mode MODE] [--trust]

Prints {"content":…,"is_error":…}. Exit code: 0 success, 1 an error result, 2 wrong usage.
What the rules would ask about counts as approved by you; what they deny stays denied.
`

const flags = {
  conversation: 'value',
  cwd: 'value',
  'permission-mode': { kind: 'value', oneOf: modes },
  trust: 'flag',
} as const

export const run = command('ona --eval', { help, flags, words: 1 }, async (given, [text]) => {
  const call = readCall(text)
  if (!call.ok) return wrong('ona --eval', call.why)
  const { tool, input } = call
  const { conversation, 'permission-mode': mode, trust = false } = given
  const cwd = resolve(given.cwd ?? '.')
  const opened = openSharedRuntime({
    cwd,
    env: process.env,
    // The operator typed the call: what would be asked is approved, and logged as theirs.
    user: { ...nobody, permission: async () => ({ allow: true, by: 'operator' }) },
    on: tellNotice,
    trust,
    withoutMcp: !/mcp/i.test(tool),
  })
  if ('problem' in opened) return failed(opened.problem)
  const { runtime, tell, cleanUp } = opened
  for (const event of tell) tellNotice(event)
  const home = placeOf(runtime.db, conversation, cwd)
  if (!home) {
    cleanUp()
    return failed(`there is no conversation "${conversation}"`)
  }
  const session = sessionAt(opened, { ...home, cwd, ...(mode && { mode }) })
  await runtime.mcp?.ready?.(30_000)
  const release = onEndingSignals(() => session.interrupt())
  const id = `toolu_${newId(runtime.db).replaceAll('-', '')}`
  session.commit(() => session.append({ _t: 'tool_use', id, name: tool, input }))
  const { output } = await runToolCall(session, { type: 'tool_use', id, name: tool, input })
  saidJson({ content: output.content, is_error: output.isError })
  await session.tasks.stopAll()
  cleanUp()
  release()
  return output.isError ? 1 : 0
})

function placeOf(
  db: Db,
  conversationId: string | undefined,
  cwd: string,
): { id: string; conversationId: string } | undefined {
  return db.transaction(() => {
    const conversation = conversationId
      ? getConversation(db, conversationId)
      : (newestConversation(db) ?? createConversation(db, { projectDir: cwd }))
    if (!conversation) return undefined
    const session = newestSession(db, { conversationId: conversation.id }) ?? createSession(db, conversation.id)
    return { id: session.sessionId, conversationId: conversation.id }
  })
}

type Call = { ok: true; tool: string; input: JsonObject } | { ok: false; why: string }

function readCall(text: string | undefined): Call {
  if (text === undefined)
    return { ok: false, why: `give the call as JSON: '{"tool":"Read","input":{"file_path":"…"}}'` }
  const read = readJson(text)
  if (!read.ok) return { ok: false, why: `the call is not JSON: ${read.why}` }
  const { value } = read
  if (!isObject(value) || typeof value['tool'] !== 'string')
    return { ok: false, why: 'the call needs "tool": the name of a tool' }
  const { tool, input = {} } = value
  return isObject(input) ? { ok: true, tool: tool as string, input } : { ok: false, why: '"input" must be an object' }
}
