/** Asks one handler, whatever its kind, and reads what it says. Must not throw: a failure is a reply. */

import type { HookContext, StandardArgs } from '../define.ts'
import { type EventName, isEventName } from '../events.ts'
import type { Env, Handler } from '../handler.ts'
import type { Scope } from '../plane.ts'
import { isObject, type JsonObject } from '../shape.ts'
import type { StepName, Steps } from '../steps.ts'
import { isTooDeep, readJson } from '../text/json-text.ts'
import { builtins } from './builtin.ts'
import { hookEnv, runCommand } from './command.ts'
import { post } from './http.ts'
import { type AskModel, eventReply, questionOf, stepReply } from './prompt.ts'

export type Reply = Said & {
  /** As the audit keeps it. */
  readonly exitCode: number | null
  readonly stdout: string | null
  readonly stderr: string | null
}

type Said =
  | { readonly kind: 'nothing' }
  /** A JSON answer, not yet held against what may be answered. */
  | { readonly kind: 'answer'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  /** Exit 2. */
  | { readonly kind: 'block'; readonly text: string }
  | { readonly kind: 'failure'; readonly why: string; readonly cause: 'failed' | 'timed-out' | 'interrupted' }

export interface Asking {
  /** The event or the step's envelope, with its header. */
  readonly input: JsonObject
  readonly inputJson: string
  readonly scope: Scope
  readonly timeoutMs: number
  readonly env: Env
  readonly askModel?: AskModel
  /** For a function at a step: the draft that it may change. */
  readonly draft?: Steps[StepName]
}

export function askHandler(handler: Handler, asking: Asking): Promise<Reply> | Reply {
  switch (handler.kind) {
    case 'function':
      return askFunction(handler, asking)
    case 'command':
      return askCommand(handler, asking)
    case 'builtin':
      return answered(builtins[handler.name]!(asking.input))
    case 'prompt':
      return within(asking, (signal) => askPrompt(handler, asking, signal))
    case 'http':
      return within(asking, (signal) => askUrl(handler, asking, signal))
  }
}

function askFunction(handler: Handler & { kind: 'function' }, asking: Asking): Promise<Reply> | Reply {
  const waiting = new AbortController()
  try {
    const args = functionArgs(handler.event, asking, waiting.signal)
    const value = (handler.run as (args: StandardArgs) => unknown)(args)
    if (!(value instanceof Promise)) return answered(value)
    return within(asking, () => value.then(answered), waiting)
  } catch (cause) {
    return failure(`threw ${describe(cause)}`)
  }
}

function functionArgs(event: EventName | StepName, { input, scope, draft }: Asking, signal: AbortSignal): StandardArgs {
  const context: HookContext = {
    sessionId: scope.sessionId,
    conversationId: scope.conversationId,
    dbPath: scope.dbPath,
    cwd: scope.cwd,
    projectDir: scope.projectDir,
    permissionMode: scope.permissionMode,
    toolUseId: scope.toolUseId,
    signal,
  }
  const agent = { id: scope.agentId ?? null, type: scope.agentType ?? null }
  const standard = { context, agent, timestamp: scope.at ?? new Date() }
  const own = draft ? { event, step: draft } : { ...input, event: input }
  return { ...own, ...standard }
}

async function askCommand(handler: Handler & { kind: 'command' }, asking: Asking): Promise<Reply> {
  const { scope, inputJson, timeoutMs, env } = asking
  const { end, exitCode, stdout, stderr, note } = await runCommand({
    command: handler.command,
    shell: handler.shell,
    cwd: scope.cwd,
    input: inputJson,
    env: hookEnv(env, scope),
    timeoutMs,
    signal: scope.signal,
  })
  const kept = { exitCode, stdout, stderr }
  if (end !== 'exited') {
    const cause = end === 'timed-out' || end === 'interrupted' ? end : 'failed'
    return { kind: 'failure', why: note, cause, ...kept, stderr: withLine(stderr, note) }
  }
  return { ...readExit(exitCode, stdout, stderr, isEventName(handler.event)), ...kept }
}

/** What a command says by its exit code and its output (spec 003 §5.4). */
export function readExit(exitCode: number | null, stdout: string, stderr: string, atEvent: boolean): Said {
  if (exitCode === 2) return { kind: 'block', text: stderr }
  if (exitCode !== 0) return { kind: 'failure', why: `exited with ${exitCode}${firstLine(stderr)}`, cause: 'failed' }
  const text = stdout.trim()
  if (text === '') return { kind: 'nothing' }
  const isObjectLike = text.startsWith('{')
  const read = isObjectLike || !atEvent ? readJson(text) : undefined
  if (read?.ok) return { kind: 'answer', value: read.value }
  if (isObjectLike) return { kind: 'failure', why: `answered with broken JSON: ${read?.why}`, cause: 'failed' }
  return { kind: 'text', text: stdout }
}

async function askPrompt(handler: Handler & { kind: 'prompt' }, asking: Asking, signal: AbortSignal): Promise<Reply> {
  if (!asking.askModel) return failure('cannot be asked: no model is at hand')
  const prompt = questionOf(handler, asking.input)
  const reply = await asking.askModel({ system: handler.system, prompt, model: handler.model, signal })
  const kept = { exitCode: null, stdout: reply, stderr: null }
  if (!isEventName(handler.event)) {
    const verdict = stepReply(reply)
    return verdict ? { kind: 'answer', value: verdict, ...kept } : { kind: 'nothing', ...kept }
  }
  const value = eventReply(reply)
  if (value) return { kind: 'answer', value, ...kept }
  return { ...failure('the model did not answer with {"ok": true} or {"ok": false, "reason": …}'), stdout: reply }
}

async function askUrl(handler: Handler & { kind: 'http' }, asking: Asking, signal: AbortSignal): Promise<Reply> {
  const reply = await post(handler, { input: asking.inputJson, env: asking.env, signal })
  if (!reply.ok) return { ...failure(reply.why), stdout: reply.body }
  const said = readExit(0, reply.body, '', isEventName(handler.event))
  return { ...said, exitCode: null, stdout: reply.body, stderr: null }
}

/** Limits the wait; whoever is still at work is told by the signal. */
async function within(
  { timeoutMs, scope }: Asking,
  work: (signal: AbortSignal) => Promise<Reply>,
  waiting = new AbortController(),
): Promise<Reply> {
  let give: (reply: Reply) => void
  const ended = new Promise<Reply>((resolve) => {
    give = resolve
  })
  const end = (cause: 'timed-out' | 'interrupted', why: string) => {
    give({ ...failure(why), kind: 'failure', cause })
    waiting.abort()
  }
  const limit = setTimeout(() => end('timed-out', `timed out after ${timeoutMs} ms`), Math.min(timeoutMs, 2 ** 31 - 1))
  const abort = () => end('interrupted', 'was interrupted')
  scope.signal?.addEventListener('abort', abort, { once: true })
  try {
    const working = work(waiting.signal).catch((cause) => failure(`failed: ${describe(cause)}`))
    return await Promise.race([working, ended])
  } finally {
    clearTimeout(limit)
    scope.signal?.removeEventListener('abort', abort)
  }
}

function answered(value: unknown): Reply {
  if (value === undefined || value === null) return { kind: 'nothing', exitCode: null, stdout: null, stderr: null }
  if (!isObject(value)) return failure(`must return an object or nothing, not ${typeof value}`)
  const stdout = JSON.stringify(value)
  if (isTooDeep(stdout)) return failure('returned an object that is nested too deep')
  return { kind: 'answer', value, exitCode: null, stdout, stderr: null }
}

const failure = (why: string): Reply & { kind: 'failure' } => ({
  kind: 'failure',
  why,
  cause: 'failed',
  exitCode: null,
  stdout: null,
  stderr: why,
})

const describe = (cause: unknown) => (cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause))
const firstLine = (text: string) => {
  const line = text.trim().split('\n', 1)[0]!
  return line === '' ? '' : `: ${line.slice(0, 300)}`
}
const withLine = (text: string, line: string) =>
  `${text === '' || text.endsWith('\n') ? text : `${text}\n`}[SDLC_HOOK] ${line}`
