/** `ona --eval '{"tool":…,"input":{…}}'`: one tool call by the operator, through hooks, gate, rules and transcript. */
import { resolve } from 'node:path'
import { modelLater } from '../../agent/choose-model.ts'
import { Session } from '../../agent/session.ts'
import { openRuntime } from '../../agent/start.ts'
import { runToolCall } from '../../agent/tool-call.ts'
import { isObject } from '../../hooks/shape.ts'
import {
  createConversation,
  createSession,
  getConversation,
  newestConversation,
  newestSession,
} from '../../store/conversations.ts'
import { type Db, newId } from '../../store/open.ts'
import { nobody, tellNotice } from '../nobody.ts'

const usage = `Runs one tool the way the model's calls are run: hooks, planning gate, rules, rows.

  ona --eval '{"tool":"Read","input":{"file_path":"/etc/hostname"}}'
  ona --eval JSON [--conversation ID] [--cwd DIR] [--permission-mode MODE] [--trust]

Prints {"content":…,"is_error":…}. Exit code: 0 success, 1 an error result, 2 wrong usage.
What the rules would ask about counts as approved by you; what they deny stays denied.
`

export async function run(words: string[]): Promise<number> {
  const args = readArgs(words)
  if (!args.ok) {
    process.stderr.write(args.why === '' ? usage : `ona --eval: ${args.why}\n`)
    return args.why === '' ? 0 : 2
  }
  const { tool, input, conversation, cwd } = args
  const opened = openRuntime({
    cwd,
    env: process.env,
    // The operator typed the call: what would be asked is approved, and logged as theirs.
    person: { ...nobody, permission: async () => ({ allow: true, by: 'operator' }) },
    on: tellNotice,
    trust: args.trust,
    withoutMcp: !/mcp/i.test(tool),
  })
  if ('problem' in opened) {
    process.stderr.write(`ona: ${opened.problem}\n`)
    return 1
  }
  const { runtime, permissions, tell, cleanUp } = opened
  for (const event of tell) tellNotice(event)
  const home = placeOf(runtime.db, conversation, cwd)
  if (!home) {
    process.stderr.write(`ona: there is no conversation "${conversation}"\n`)
    cleanUp()
    return 1
  }
  const session = new Session({
    runtime,
    ...home,
    cwd,
    projectDir: cwd,
    mode: args.mode ?? permissions.defaultMode ?? 'default',
    model: modelLater(runtime),
    permissions,
    messages: [],
  })
  opened.use(session)
  await runtime.mcp?.ready?.(30_000)
  const interrupt = () => session.interrupt()
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  const id = `toolu_${newId(runtime.db).replaceAll('-', '')}`
  session.commit(() => session.append({ _t: 'tool_use', id, name: tool, input }))
  const { output } = await runToolCall(session, { type: 'tool_use', id, name: tool, input })
  process.stdout.write(`${JSON.stringify({ content: output.content, is_error: output.isError })}\n`)
  await session.tasks.stopAll()
  cleanUp()
  process.removeListener('SIGINT', interrupt)
  process.removeListener('SIGTERM', interrupt)
  return output.isError ? 1 : 0
}

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

type Args =
  | {
      ok: true
      tool: string
      input: Record<string, unknown>
      conversation?: string
      cwd: string
      mode?: never
      trust: boolean
    }
  | { ok: false; why: string }

/** An empty `why` asks for the help. */
function readArgs(words: readonly string[]): Args {
  const values: Record<string, string> = {}
  let call: string | undefined
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!
    if (word === '--help' || word === '-h') return { ok: false, why: '' }
    if (word === '--trust') values['trust'] = 'yes'
    else if (['--conversation', '--cwd', '--permission-mode'].includes(word)) {
      const value = words[++index]
      if (value === undefined) return { ok: false, why: `${word} needs a value` }
      values[word.slice(2)] = value
    } else if (word.startsWith('--'))
      return { ok: false, why: `there is no flag ${word}; ona --eval --help lists them` }
    else if (call === undefined) call = word
    else return { ok: false, why: 'one call at a time: give one JSON object' }
  }
  if (call === undefined)
    return { ok: false, why: `give the call as JSON: '{"tool":"Read","input":{"file_path":"…"}}'` }
  let value: unknown
  try {
    value = JSON.parse(call)
  } catch (cause) {
    return { ok: false, why: `the call is not JSON: ${(cause as Error).message}` }
  }
  if (!isObject(value) || typeof value['tool'] !== 'string')
    return { ok: false, why: 'the call needs "tool": the name of a tool' }
  const { tool, input = {} } = value
  if (!isObject(input)) return { ok: false, why: '"input" must be an object' }
  const mode = values['permission-mode']
  return {
    ok: true,
    tool: tool as string,
    input,
    cwd: resolve(values['cwd'] ?? process.cwd()),
    trust: values['trust'] === 'yes',
    ...(values['conversation'] && { conversation: values['conversation'] }),
    ...(mode && { mode: mode as never }),
  }
}
