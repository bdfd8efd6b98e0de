/** `ona -p`: a prompt in, an answer out, nothing else on stdout. */
import { readFileSync } from 'node:fs'
import type { AgentEvent } from '../../agent/events.ts'
import { expandPrompt } from '../../agent/expand.ts'
import type { Session } from '../../agent/session.ts'
import { startSession } from '../../agent/start.ts'
import { runTurn, type TurnEnd } from '../../agent/turn.ts'
import type { Flags } from '../flags.ts'
import { nobody } from '../nobody.ts'
import { startOptions } from '../options.ts'
import { roleHandlers } from '../role-handlers.ts'
import { addUsage, follow, initMessage, messagesFor, newFacts, type RunFacts, resultMessage } from '../stream-json.ts'
import { structuredTurn } from '../structured.ts'
import { failed, saidJson, wrong } from '../tell.ts'

/** More than this on stdin is not a prompt. */
const mostInput = 10 * 1024 * 1024

export async function print(flags: Flags, words: readonly string[]): Promise<number> {
  const format = flags['output-format'] ?? 'text'
  const streamed = flags['input-format'] === 'stream-json'
  if (streamed && format !== 'stream-json')
    return wrong('ona', '--input-format stream-json needs --output-format stream-json')
  const schema = flags['json-schema']
  const fault = schema === undefined ? undefined : (await import('../json-schema.ts')).schemaFault(schema)
  if (fault) return wrong('ona', `--json-schema is not a JSON Schema: ${fault}`)
  const read = streamed ? { ok: true as const, prompt: '' } : readPrompt(words)
  if (!read.ok) return wrong('ona', read.why)

  let facts: RunFacts | undefined
  const options = { partial: flags['include-partial-messages'] === true, hooks: flags['include-hook-events'] === true }
  const early: AgentEvent[] = []
  const hear = (event: AgentEvent) => {
    if (!facts) return void early.push(event)
    follow(facts, event)
    if (format === 'stream-json') for (const message of messagesFor(facts, event, options)) line(message)
    else if (event.type === 'notice' && event.level !== 'info') process.stderr.write(`${event.text}\n`)
  }
  const start = await startOptions(flags)
  const started = await startSession({
    ...start,
    ...(await roleHandlers(start)),
    person: nobody,
    on: hear,
    onUsage: (model, usage, cost) => facts && addUsage(facts, model, usage, cost),
  })
  if ('problem' in started) return started.usage ? wrong('ona', started.problem) : failed(started.problem)
  const { session } = started
  facts = newFacts(session)
  if (format === 'stream-json') line(initMessage(session))
  for (const event of early.splice(0)) hear(event)
  const restore = endOnSignals(session)

  // One answer is all there is: servers that start beside it would be too late.
  await session.runtime.mcp?.ready?.(10_000)
  let code = 0
  if (streamed) code = await converse(session, facts, flags)
  else {
    const prompt = [started.initialPrompt, read.prompt].filter(Boolean).join('\n\n')
    const { end, ...more } = await oneTurn(session, prompt, flags)
    code = tell(facts, end, more, format)
  }
  await settle(session)
  await started.close('other')
  restore()
  return session.signal.aborted && killedBy !== undefined ? 128 + killedBy : code
}

interface Turned {
  readonly end: TurnEnd
  readonly structured?: unknown
  readonly error?: 'error_max_structured_output_retries' | 'error_max_budget_usd'
}

async function oneTurn(session: Session, prompt: string, flags: Flags): Promise<Turned> {
  if (flags['json-schema']) return structuredTurn(session, prompt, flags['json-schema'])
  const expanded = await expandPrompt(session, prompt)
  if (!expanded.ok) return { end: { stop: 'error', text: '', why: expanded.why } }
  const end = await runTurn(session, expanded.blocks)
  const overBudget = end.why === 'the budget is spent'
  return overBudget ? { end, error: 'error_max_budget_usd' } : { end }
}

function tell(facts: RunFacts, end: TurnEnd, more: Omit<Turned, 'end'>, format: string): number {
  const result = resultMessage(facts, end, more)
  if (format === 'text') {
    const text = more.structured !== undefined ? JSON.stringify(more.structured) : answer(end)
    process.stdout.write(`${text}\n`)
  } else line(result)
  return result.is_error ? 1 : 0
}

/** What was said; and where that is not all that should have been, why not. */
const answer = ({ stop, text, why = '' }: TurnEnd): string =>
  stop === 'error' ? [text, why].filter(Boolean).join('\n\n') : text || why

/** Each line on stdin is a user message; the answers come in the same order. */
async function converse(session: Session, facts: RunFacts, flags: Flags): Promise<number> {
  const { createInterface } = process.getBuiltinModule('node:readline')
  let code = 0
  for await (const text of createInterface({ input: process.stdin })) {
    if (text.trim() === '') continue
    const read = readUserLine(text)
    if (!read.ok) {
      line({ type: 'system', subtype: 'informational', level: 'error', content: read.why })
      code = 1
      continue
    }
    if (read.interrupt) session.interrupt()
    if (read.prompt === undefined) continue
    if (flags['replay-user-messages']) line({ ...read.message, isReplay: true })
    const { end, ...more } = await oneTurn(session, read.prompt, flags)
    code = tell(facts, end, more, 'stream-json')
  }
  return code
}

type UserLine = { ok: true; prompt?: string; message?: object; interrupt?: boolean } | { ok: false; why: string }

function readUserLine(text: string): UserLine {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    return { ok: false, why: `a line on stdin is not JSON: ${(cause as Error).message}` }
  }
  const message = value as { type?: unknown; message?: { content?: unknown }; request?: { subtype?: unknown } } | null
  if (message?.type === 'control_request') return { ok: true, interrupt: message.request?.subtype === 'interrupt' }
  if (message?.type === 'keep_alive') return { ok: true }
  const content = message?.type === 'user' ? message.message?.content : undefined
  if (typeof content === 'string') return { ok: true, prompt: content, message: message as object }
  if (!Array.isArray(content)) {
    return { ok: false, why: 'a line on stdin must be {"type":"user","message":{"role":"user","content":…}}' }
  }
  const prompt = content.map((block) => (block?.type === 'text' ? String(block.text) : '')).join('')
  return { ok: true, prompt, message: message as object }
}

function readPrompt(words: readonly string[]): { ok: true; prompt: string } | { ok: false; why: string } {
  const typed = words.join(' ')
  const piped = process.stdin.isTTY ? '' : pipedInput()
  if (piped === undefined)
    return { ok: false, why: `stdin holds more than ${mostInput / 1024 / 1024} MB; pass a file's path instead` }
  const prompt = [piped, typed].filter((part) => part.trim() !== '').join('\n\n')
  if (prompt !== '') return { ok: true, prompt }
  return { ok: false, why: 'there is no prompt: ona -p "what to do", or pipe it in' }
}

function pipedInput(): string | undefined {
  try {
    const data = readFileSync(0)
    return data.length > mostInput ? undefined : data.toString('utf8')
  } catch {
    return '' // stdin is closed, or a terminal that went away: there is nothing to read
  }
}

/** Agents in the background are waited for, shells are given a moment; then all of them are ended. */
async function settle(session: Session): Promise<void> {
  const running = session.tasks.list().filter((task) => task.status === 'running')
  if (running.length === 0) return
  await session.tasks.settle(running.some((task) => task.kind === 'agent') ? 600_000 : 5_000)
  await session.tasks.stopAll()
}

let killedBy: number | undefined

function endOnSignals(session: Session): () => void {
  const { constants } = process.getBuiltinModule('node:os')
  const end = (signal: NodeJS.Signals) => {
    killedBy = constants.signals[signal]
    session.interrupt()
  }
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, end)
  return () => {
    for (const signal of signals) process.removeListener(signal, end)
  }
}

const line = (message: object) => void saidJson(message)
