/** How each kind of handler is run, and what it replied. A failure is a reply too. */

import { isDetaching } from '../claude/contract.ts'
import type { HookContext, StandardArgs } from '../define.ts'
import { type EventName, isEventName } from '../events.ts'
import type { Env, Handler, Wrap } from '../handler.ts'
import { describe, errorOf, isA, type Outcome, type Question, type Waiting } from '../kernel.ts'
import type { Scope } from '../plane.ts'
import type { Detached } from '../round/background.ts'
import { isObject, type JsonObject } from '../shape.ts'
import type { StepName, Steps } from '../steps.ts'
import { whyIn } from '../text/error-line.ts'
import { isTooDeep, readJson } from '../text/json-text.ts'
import { builtins } from './builtin.ts'
import { argvOf, type Exit, runCommand } from './command.ts'
import { hookEnv } from './hook-env.ts'
import { post } from './http.ts'
import { askPersistent, type Place } from './persistent.ts'
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
  | {
      readonly kind: 'answer'
      readonly value: unknown /** Why it is no JSON; a refusal in it still counts. */
      readonly fault?: string
    }
  | { readonly kind: 'text'; readonly text: string }
  /** Exit 2. */
  | { readonly kind: 'block'; readonly text: string }
  | { readonly kind: 'failure'; readonly why: string; readonly cause: 'failed' | 'timed-out' | 'interrupted' }
  /** It goes on beside the turn; what it says in the end is in `rest`. */
  | ({ readonly kind: 'detached' } & Detached<Reply>)

export interface Asking {
  /** The event or the step's envelope, with its header. */
  readonly input: JsonObject
  readonly inputJson: string
  readonly scope: Scope
  readonly timeoutMs: number
  readonly env: Env
  readonly askModel?: AskModel
  readonly wrap?: Wrap
  /** For a function at a step: the draft that it may change. */
  readonly draft?: Steps[StepName]
  /** It may say by its first line that it goes on beside the turn. */
  readonly mayDetach?: boolean
  /** `CLAUDE_ENV_FILE`, where the hook gets one. */
  readonly envFile?: string
}

/** The question for one handler of any kind, as the kernel takes it. */
export function questionFor(handler: Handler, asking: Asking): Question<Reply> {
  const { timeoutMs } = asking
  return {
    call: callers[handler.kind](handler as never, asking),
    read: handler.kind === 'function' ? answered : (reply) => reply as Reply,
    // a command ends its processes at its limit and reports what it printed; this one only backs it up
    limitMs: handler.kind === 'command' ? timeoutMs + commandGraceMs : timeoutMs,
    interrupt: handler.kind === 'command' ? undefined : asking.scope.signal,
  }
}

const commandGraceMs = 5000

/** What the kernel made of it as a reply: a failure is one too. */
export function replyOf(outcome: Outcome<Reply>): Reply {
  switch (outcome.kind) {
    case 'answered':
      return outcome.value
    case 'timed-out':
      return { ...failure(`timed out after ${outcome.afterMs} ms`), cause: 'timed-out' }
    case 'interrupted':
      return { ...failure('was interrupted'), cause: 'interrupted' }
    case 'skipped':
      return { kind: 'nothing', exitCode: null, stdout: null, stderr: null }
    case 'failed':
      return failure(isA(outcome.cause, NoAnswer) ? outcome.cause.message : `threw ${describe(outcome.cause)}`)
  }
}

/** A function returned what is no answer. */
class NoAnswer extends Error {}

type Caller<K extends Handler['kind']> = (
  handler: Handler & { kind: K },
  asking: Asking,
) => (waiting: Waiting) => unknown

const callers: { readonly [K in Handler['kind']]: Caller<K> } = {
  function: (handler, asking) => (waiting) =>
    (handler.run as (args: StandardArgs) => unknown)(functionArgs(handler.event, asking, waiting)),
  command: (handler, asking) => () => (handler.persistent ? askStaying : askCommand)(handler, asking),
  builtin: (handler, asking) => () => answered(builtins[handler.name]!(asking.input)),
  prompt: (handler, asking) => (waiting) => askPrompt(handler, asking, waiting.signal),
  http: (handler, asking) => (waiting) => askUrl(handler, asking, waiting.signal),
}

function functionArgs(event: EventName | StepName, { input, scope, draft }: Asking, waiting: Waiting): StandardArgs {
  const context: HookContext = {
    sessionId: scope.sessionId,
    conversationId: scope.conversationId,
    dbPath: scope.dbPath,
    cwd: scope.cwd,
    projectDir: scope.projectDir,
    permissionMode: scope.permissionMode,
    toolUseId: scope.toolUseId,
    get signal() {
      return waiting.signal
    },
  }
  const agent = { id: scope.agentId ?? null, type: scope.agentType ?? null }
  const standard = { context, agent, timestamp: scope.at ?? new Date() }
  const own = draft ? { event, step: draft } : { ...input, event: input }
  return { ...own, ...standard }
}

const noSandbox: Wrap = async () => {
  throw new Error('no sandbox is enabled (sandbox.enabled)')
}

async function askCommand(handler: Handler & { kind: 'command' }, asking: Asking): Promise<Reply> {
  const { scope, inputJson, timeoutMs, env, envFile, mayDetach } = asking
  const own = hookEnv(env, scope, handler)
  const watch = mayDetach ? detachable(scope.signal) : undefined
  const run = runCommand({
    command: handler.command,
    shell: handler.shell,
    ...(handler.args && { args: handler.args }),
    cwd: scope.cwd,
    input: inputJson,
    env: envFile === undefined ? own : { ...own, CLAUDE_ENV_FILE: envFile },
    timeoutMs,
    signal: watch?.signal ?? scope.signal,
    ...(watch && { onFirstLine: watch.onFirstLine }),
    ...((scope.wrap || handler.sandbox) && { wrap: scope.wrap ?? asking.wrap ?? noSandbox }),
  }).then((exit) => replyOfExit(handler, exit))
  if (!watch) return run
  const isAlone = handler.async === true || (await Promise.race([run.then(() => false), watch.detaches]))
  watch.letGo()
  if (!isAlone) return run
  return { kind: 'detached', rest: run, stop: watch.stop, exitCode: null, stdout: null, stderr: null }
}

/** Ties a command to the turn's signal until it says by its first line that it goes on alone. */
function detachable(turn: AbortSignal | undefined) {
  const own = new AbortController()
  const stop = () => own.abort()
  if (turn?.aborted) stop()
  turn?.addEventListener('abort', stop)
  const { promise, resolve } = Promise.withResolvers<true>()
  return {
    signal: own.signal,
    stop,
    detaches: promise,
    letGo: () => turn?.removeEventListener('abort', stop),
    onFirstLine(line: string) {
      if (isDetaching(line)) resolve(true)
    },
  }
}

function replyOfExit(handler: Handler, { end, exitCode, stdout, stderr, note }: Exit): Reply {
  const kept = { exitCode, stdout, stderr }
  if (end !== 'exited') {
    const cause = end === 'timed-out' || end === 'interrupted' ? end : 'failed'
    return { kind: 'failure', why: note, cause, ...kept, stderr: withLine(stderr, note) }
  }
  return { ...readExit(exitCode, stdout, stderr, isEventName(handler.event)), ...kept }
}

async function askStaying(handler: Handler & { kind: 'command' }, asking: Asking): Promise<Reply> {
  const { scope, inputJson, timeoutMs } = asking
  const { signal } = scope
  const place = placeOf(handler, asking)
  if (!place) return failure('not started: neither pwsh nor powershell is on the PATH')
  const placed = scope.wrap ? await wrapped(place, scope.wrap).catch((error: Error) => error) : place
  if (placed instanceof Error) return failure(`not started: it must run in a sandbox, and ${placed.message}`)
  const end = await askPersistent(placed, { input: inputJson, timeoutMs, ...(signal && { signal }) })
  if (end.kind === 'failure') {
    const { why, cause } = end
    return { kind: 'failure', why, cause, exitCode: null, stdout: null, stderr: withLine(end.stderr, why) }
  }
  const kept = { exitCode: end.kind === 'block' ? 2 : 0, stderr: end.stderr }
  if (end.kind === 'block') return { kind: 'block', text: end.text, ...kept, stdout: '' }
  return { ...readExit(0, end.text, '', isEventName(handler.event)), ...kept, stdout: end.text }
}

const places = new WeakMap<Handler, Place>()

/** The same object for the same handler, as long as it is asked in the same environment and folder. */
function placeOf(handler: Handler & { kind: 'command' }, { scope, env: host }: Asking): Place | undefined {
  const env = hookEnv(host, scope, handler)
  const known = places.get(handler)
  if (known && known.env === env && known.cwd === scope.cwd) return known
  const { command, args, shell } = handler
  const argv = argvOf({ command, shell, env, ...(args && { args }) })
  if (!argv) return undefined
  const place = { argv, cwd: scope.cwd, env }
  places.set(handler, place)
  return place
}

async function wrapped({ argv, cwd, env }: Place, wrap: Wrap): Promise<Place> {
  const { words, env: inside } = await wrap(argv, { cwd, env })
  return { argv: words, cwd, env: inside }
}

/** What a command says by its exit code and its output (spec 003 §5.4). */
export function readExit(exitCode: number | null, stdout: string, stderr: string, atEvent: boolean): Said {
  if (exitCode === 2) return { kind: 'block', text: stderr }
  if (exitCode !== 0) return { kind: 'failure', why: `exited with ${exitCode}${whyIn(stderr)}`, cause: 'failed' }
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

function answered(value: unknown): Reply {
  if (value === undefined || value === null) return { kind: 'nothing', exitCode: null, stdout: null, stderr: null }
  if (!isObject(value)) throw new NoAnswer(`must return an object or nothing, not ${typeof value}`)
  const bad = (fault: string): Reply => ({ kind: 'answer', value, fault, exitCode: null, stdout: null, stderr: null })
  try {
    const stdout = JSON.stringify(value)
    if (!stdout.startsWith('{') || (stdout === '{}' && !isPlain(value)))
      throw new NoAnswer(`must return a plain object, not one of its own kind`)
    if (isTooDeep(stdout)) return bad('returned an object that is nested too deep')
    return { kind: 'answer', value, exitCode: null, stdout, stderr: null }
  } catch (cause) {
    if (isA(cause, NoAnswer)) throw cause
    return bad(`returned what is no JSON: ${errorOf(cause).message}`)
  }
}

/** `JSON.stringify` makes `{}` of a Map as well. */
const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value))

const failure = (why: string): Reply & { kind: 'failure' } => ({
  kind: 'failure',
  why,
  cause: 'failed',
  exitCode: null,
  stdout: null,
  stderr: why,
})

const withLine = (text: string, line: string) =>
  `${text === '' || text.endsWith('\n') ? text : `${text}\n`}[SDLC_HOOK] ${line}`
