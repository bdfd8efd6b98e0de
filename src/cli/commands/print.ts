/** `ona -p`: a prompt in, an answer out, nothing else on stdout. */

import { expandPrompt } from '../../agent/context/expand.ts'
import type { AgentEvent, Person } from '../../agent/events.ts'
import { runUntilIdle } from '../../agent/session/idle-turns.ts'
import type { Session } from '../../agent/session/session.ts'
import { startSession } from '../../agent/session/start.ts'
import { budgetSpent } from '../../agent/stages.ts'
import { runTurn } from '../../agent/turn.ts'
import type { TurnEnd } from '../../agent/turn-end.ts'
import type { Block } from '../../hooks/steps.ts'
import type { Flags } from '../flags.ts'
import { nobody, tellNotice } from '../headless/deny-all.ts'
import type { Driver } from '../headless/permission-prompt.ts'
import { readPrompt } from '../headless/read-prompt.ts'
import {
  addUsage,
  follow,
  initMessage,
  messagesFor,
  newFacts,
  type RunFacts,
  resultMessage,
} from '../headless/stream-json.ts'
import { startOptions } from '../options.ts'
import { failed, noted, saidJson, shown, wrong } from '../print.ts'
import { roleHandlers } from '../role-handlers.ts'

export async function print(flags: Flags, words: readonly string[]): Promise<number> {
  const format = flags['output-format'] ?? 'text'
  const streamed = flags['input-format'] === 'stream-json'
  if (streamed && format !== 'stream-json')
    return wrong('ona', '--input-format stream-json needs --output-format stream-json')
  const schema = flags['json-schema']
  const fault = schema === undefined ? undefined : (await import('../headless/json-schema.ts')).schemaFault(schema)
  if (fault) return wrong('ona', `--json-schema is not a valid JSON Schema: ${fault}`)
  if (flags.resume === '') return wrong('ona', '-p cannot show the list of sessions; --resume needs an id or a name')
  const read = streamed ? { ok: true as const, prompt: '' } : await readPrompt(words)
  if (!read.ok) return wrong('ona', read.why)

  let facts: RunFacts | undefined
  const options = { partial: flags['include-partial-messages'] === true, hooks: flags['include-hook-events'] === true }
  const early: AgentEvent[] = []
  const debug = flags.debug ? (await import('../headless/debug.ts')).debugLine : undefined
  const hear = (event: AgentEvent) => {
    if (!facts) return void early.push(event)
    follow(facts, event)
    debug?.(event)
    if (flags.verbose && format === 'text') tellWork(event)
    if (format === 'stream-json') for (const message of messagesFor(facts, event, options)) line(message)
    else if (event.type === 'notice' && event.level !== 'info') noted(event.text)
  }
  let session: Session | undefined
  const prompter = await prompterOf(flags['permission-prompt-tool'], () => session)
  const start = await startOptions(flags)
  const ending = endOnSignals()
  const started = await startSession({
    ...start,
    ...(await roleHandlers(start)),
    signal: ending.signal,
    deny: [...(start.deny ?? []), ...prompter.hides],
    person: prompter.person,
    on: hear,
    onUsage: (model, usage, cost) => facts && addUsage(facts, model, usage, cost),
  })
  if ('problem' in started) return started.usage ? wrong('ona', started.problem) : failed(started.problem)
  session = started.session
  facts = newFacts(session)
  if (format === 'stream-json') line(initMessage(session))
  for (const event of early.splice(0)) hear(event)

  // One answer is all there is: servers that start beside it would be too late.
  await Promise.race([session.runtime.mcp?.ready?.(10_000), ending.came])
  const missing = prompter.missing?.(session)
  let code = 0
  if (ending.signal.aborted) code = 1
  else if (missing) code = failed(missing)
  else if (streamed) code = await conversation(session, facts, flags, started.initialPrompt, prompter.driver)
  else {
    const prompt = [started.initialPrompt, read.prompt].filter(Boolean).join('\n\n')
    code = tell(facts, await oneTurn(session, prompt, flags), format)
  }
  await session.tasks.settle(lastMomentMs)
  await started.close('other')
  ending.release()
  return killedBy === undefined ? code : 128 + killedBy
}

interface Prompter {
  readonly person: Person
  readonly driver?: Driver
  /** The model cannot ask it itself. */
  readonly hides: readonly string[]
  missing?(session: Session): string | undefined
}

/** Who is asked for permission: nobody, unless a flag names somebody. */
async function prompterOf(name: string | undefined, session: () => Session | undefined): Promise<Prompter> {
  if (name === undefined) return { person: nobody, hides: [] }
  const { byTool, driver, missingTool } = await import('../headless/permission-prompt.ts')
  if (name !== 'stdio')
    return { person: byTool(name, session), hides: [name], missing: (here) => missingTool(name, here) }
  const asked = driver(line)
  return { person: asked.person, driver: asked, hides: [] }
}

interface Turned {
  readonly end: TurnEnd
  readonly structured?: unknown
  readonly error?: 'error_max_structured_output_retries'
}

type TakeTurn = (session: Session, prompt: readonly Block[]) => Promise<TurnEnd>

async function oneTurn(
  session: Session,
  prompt: string,
  flags: Flags,
  { images = [], turn = runUntilIdle }: { images?: readonly Block[]; turn?: TakeTurn } = {},
): Promise<Turned> {
  const expanded = await expandPrompt(session, prompt)
  if (!expanded.ok) return { end: { stop: 'error', text: '', why: expanded.why } }
  const blocks = [...images, ...expanded.blocks]
  const schema = flags['json-schema']
  if (!schema) return { end: await turn(session, blocks) }
  const { structuredTurn } = await import('../headless/structured.ts')
  return structuredTurn(blocks, schema, (asked) => turn(session, asked))
}

function tell(facts: RunFacts, { end, ...more }: Turned, format: string): number {
  const result = resultMessage(facts, end, end.why === budgetSpent ? { error: 'error_max_budget_usd' } : more)
  if (format === 'text') {
    const text = more.structured !== undefined ? JSON.stringify(more.structured) : answer(end)
    // To a program as the model said it; to a terminal without what would steer it.
    process.stdout.write(`${process.stdout.isTTY ? shown(text) : text}\n`)
  } else line(result)
  return result.is_error ? 1 : 0
}

/** What was said; and where that is not all that should have been, why not. */
const answer = ({ stop, text, why = '' }: TurnEnd): string =>
  stop === 'error' ? [text, why].filter(Boolean).join('\n\n') : text || why

/** Each line on stdin is a user message; the answers come in the same order. */
async function conversation(
  session: Session,
  facts: RunFacts,
  flags: Flags,
  first: string,
  driver: Driver | undefined,
): Promise<number> {
  let code = 0
  const turn = async (prompt: string, images: readonly Block[] = []) => {
    code = tell(facts, await oneTurn(session, prompt, flags, { images, turn: runTurn }), 'stream-json')
  }
  const { converse } = await import('../headless/stream-input.ts')
  await converse(session, process.stdin, {
    async begin() {
      driver?.begin()
      if (first) await turn(first)
    },
    answer: (answer) => driver?.hear(answer),
    end: () => driver?.end(),
    write: line,
    wrong(why) {
      line({ type: 'system', subtype: 'informational', level: 'error', content: why })
      code = 1
    },
    async prompt({ text, images, message }) {
      if (killedBy !== undefined) return
      if (flags['replay-user-messages']) line({ ...message, session_id: session.id, isReplay: true })
      await turn(text, images)
    },
    async news() {
      if (killedBy === undefined) code = tell(facts, { end: await runTurn(session, [], 'background') }, 'stream-json')
    },
  })
  return code
}

/** `--init-only`: the hooks of Setup and SessionStart, and nothing else. */
export async function initOnly(flags: Flags): Promise<number> {
  const start = await startOptions(flags)
  const started = await startSession({
    ...start,
    ...(await roleHandlers(start)),
    person: nobody,
    on: tellNotice,
    withoutMcp: true,
  })
  if ('problem' in started) return started.usage ? wrong('ona', started.problem) : failed(started.problem)
  await started.close('other')
  return 0
}

/** For shells in the background; then they are ended. */
const lastMomentMs = 5_000

let killedBy: number | undefined

interface Ending {
  readonly signal: AbortSignal
  /** Settles when a signal has come. */
  readonly came: Promise<void>
  release(): void
}

/** From the first hook on: whoever is told to end ends what it has started. */
function endOnSignals(): Ending {
  const { constants } = process.getBuiltinModule('node:os')
  const abort = new AbortController()
  const came = Promise.withResolvers<void>()
  const end = (signal: NodeJS.Signals) => {
    killedBy = constants.signals[signal]
    abort.abort()
    came.resolve()
  }
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, end)
  return {
    signal: abort.signal,
    came: came.promise,
    release() {
      for (const signal of signals) process.removeListener(signal, end)
    },
  }
}

/** `--verbose` with text: what is done on the way to the answer. */
function tellWork(event: AgentEvent): void {
  if (event.type === 'tool-started') noted(`${event.name} ${event.summary}`)
  if (event.type === 'tool-finished') noted(`${event.name} ${event.outcome} in ${Math.round(event.ms)} ms`)
  if (event.type === 'notice' && event.level === 'info') noted(event.text)
}

const line = (message: object) => void saidJson(message)
