/**
 * The small program between an agent and a hook's command, used where the agent does not do what the hook says: VS Code ignores
 * matchers, Copilot refuses a tool when a hook merely fails, Gemini CLI passes over a refusal in Claude Code's JSON, and most
 * agents let a call pass when its guard crashes. It is written beside the agent's config and committed with it, so that it runs
 * in any clone without an install; it needs Node 18 or later and nothing else.
 */
import { neutralNames, type ToolNames } from '../tool-names.ts'

export interface ShimDialect {
  /** What the agents that read the config call the tools that a filter names. */
  readonly tools?: readonly ToolNames[]
  /** The agent's events under Claude Code's names, where they differ by more than the case of the first letter. */
  readonly events?: Readonly<Record<string, string>>
  /** A field that identifies the event of an agent that may read the config too and has these hooks in its own. */
  readonly notIn?: string
  /** The agent rejects output with keys that it does not know, so a hook's answer is passed on unchanged. */
  readonly strictOutput?: boolean
  /** The agent cannot prompt its user on a hook's behalf: "ask" is refused. */
  readonly cannotAsk?: boolean
  /** The host whose policy lies beside the shim: "--policy" applies it in this process. */
  readonly policy?: string
  /** Where hooks run, from the shim's folder. */
  readonly cwd?: string
}

/** The keys that mean something in some agent's answer before a tool; a guard that uses none of them has not answered. */
export const answerKeys = [
  ...['continue', 'stopReason', 'systemMessage', 'suppressOutput', 'hookSpecificOutput'],
  ...['decision', 'reason', 'permissionDecision', 'permissionDecisionReason', 'permission'],
  ...['updatedInput', 'modifiedArgs', 'tool_input', 'updated_input', 'additionalContext', 'additional_context'],
  ...['user_message', 'agent_message'],
]

const refusalComment = {
  json: '/** Every agent that reads this file finds its own form of a refusal in it. Copilot shows the reason only at exit 0. */',
  exit: '/** At exit 0 this agent would reject an answer with keys that it does not know: exit 2, and the reason on stderr. */',
}

export const shimText = ({
  tools = [],
  events = {},
  notIn,
  strictOutput = false,
  cannotAsk = false,
  policy,
  cwd = '/../..',
}: ShimDialect): string => `// Written by ona: runs a role's hook for an agent. \`ona init --hooks\` brings it up to date.
// Called with a filter, a command, a time limit in ms and "refuse", as arguments or in the environment; the event is on stdin.
// With --answer, a command and a number: what the command said and its exit code are on stdin, and the answer is checked.
${policy ? '// With --policy: applies the rules of the policy to the call.\n' : ''}'use strict'
const { readSync, writeSync } = require('node:fs')
const { env, argv } = process

const given = argv[3] !== undefined
const answered = argv[2] === '--answer'
${policy ? "const judges = argv[2] === '--policy'\n" : ''}const what = ${policy ? "judges ? '*' : " : ''}given ? argv[2] : env.ONA_HOOK_FILTER
const command = ${policy ? "judges ? 'the policy' : " : ''}given ? argv[3] : env.ONA_HOOK_COMMAND
const timeout = Number(given ? argv[4] : env.ONA_HOOK_TIMEOUT_MS)
const refusesOnFailure = answered || ${policy ? 'judges || ' : ''}(given ? argv[5] : env.ONA_HOOK_ON_FAILURE) === 'refuse'
const names = new Map(Object.entries(${JSON.stringify(neutralNames(...tools))}))
const events = new Map(Object.entries(${JSON.stringify(events)}))
const keys = new Map(Object.entries({ filePath: 'file_path', oldString: 'old_string', newString: 'new_string', replaceAll: 'replace_all' }))
const renamed = new Map()
const answerKeys = ${JSON.stringify(answerKeys)}
// "defer" is Claude Code's alone; another agent would let the call pass
const asking = ${JSON.stringify(tools.length > 0 || cannotAsk ? ['ask', 'defer'] : ['ask'])}

let input = read()
let event = null
try {
  event = answered ? { hook_event_name: 'PreToolUse' } : JSON.parse(input.trim()) // trim takes a byte order mark for a space
} catch {
  // an event that we cannot read is the hook's to judge
}
let run, out, answer
let err = ''
let clash
if (isObject(event) && !answered) prepare()
const name = typeof event?.hook_event_name === 'string' ? event.hook_event_name : undefined
if (clash && name === 'PreToolUse') refuse('the call gives both ' + clash + ', and they differ: the tool takes only one of them')
${policy ? `process.exitCode = judges ? 1 : 0 // until there is a word\nif (judges) require('./guard.cjs').judged(__dirname, '${policy}', input).then(conclude, (error) => conclude({ status: null, error }))\nelse ` : ''}conclude(answered ? answeredRun() : require('node:child_process').spawnSync(command, { shell: true, cwd: __dirname + '${cwd}', input, timeout, killSignal: 'SIGKILL', maxBuffer: 4 << 20, detached: process.platform !== 'win32' }))

/** Says in the agent's words how the hook's run ended. */
function conclude(ended) {
  process.exitCode = 0
  run = ended
  if (run.status === null && run.pid && process.platform !== 'win32') endGroup(run.pid)
  out = String(run.stdout ?? '')
  err = String(run.stderr ?? '')
  answer = jsonIn(out)
  const failure = failureIn()
  if (run.status === 2) refuse(err.trim() || 'a hook refused this: ' + command)
  else if ((name === 'PreToolUse' || !name) && denial()) refuse(denial())
  else if (failure && refusesOnFailure && name !== 'PostToolUse') refuse('a hook failed (' + failure + '), and its failure refuses the call: ' + command)
  else if (failure) {
    // any other end lets the agent go on, in every agent, and the user is told
    write(2, err)
    write(1, JSON.stringify({ systemMessage: 'hook failed (' + failure + '): ' + command }))
  } else {
    write(2, err)
    write(1, spoken())
  }
}

/** Applies the filter, and gives the event the names that a role is written in. */
function prepare() {
${notIn ? `  // another agent that reads this file too has these hooks in its own\n  if (event.${notIn}) process.exit(0)\n` : ''}  const native = event.hook_event_name ?? event.hookEventName
  if (typeof native === 'string') {
    event.hook_event_name = events.get(native) ?? native.charAt(0).toUpperCase() + native.slice(1)
    if (event.hook_event_name !== native) event.native_event_name = native
  }
  const tool = event.tool_name ?? event.toolName
  const called = [...(names.get(tool) ?? []), tool]
  if (what !== '*' && filtered()?.some(matches) === false) process.exit(0)
  if (isName(tool)) {
    const given = argumentsIn(event.tool_input ?? event.toolArgs)
    event.tool_name = called[0]
    if (tool !== called[0]) event.native_tool_name = tool
    if (isObject(given))
      event.tool_input = Object.fromEntries(Object.entries(given).map(([key, value]) => {
        const known = keys.get(key)
        if (known === undefined) return [key, value]
        if (Object.hasOwn(given, known) && JSON.stringify(given[known]) !== JSON.stringify(value)) clash = key + ' and ' + known
        renamed.set(known, key)
        return [known, value]
      }))
  }
  input = JSON.stringify(event) + '\\n'

  /** The names that the filter is held against; undefined where the event does not say, and the hook has to judge. */
  function filtered() {
    if (tool !== undefined) return isName(tool) ? called : undefined
    if (event.hook_event_name === undefined ? event.source === undefined : event.hook_event_name !== 'SessionStart') return undefined
    // a session that is new is one that starts up
    return [event.source === undefined || event.source === 'new' ? 'startup' : event.source]
  }
}

function isName(tool) {
  return typeof tool === 'string' && tool !== ''
}

/** Copilot gives them as text under its own names of events. */
function argumentsIn(given) {
  return typeof given === 'string' ? (jsonIn(given) ?? given) : given
}

function matches(name) {
  if (/[^\\w\\s|,-]/.test(what)) return new RegExp(what).test(name)
  return what.split(/[|,]/).some((one) => one.trim() === name)
}

/** A run that has ended: its output, with the exit code in the last line. */
function answeredRun() {
  const [mark, code] = new RegExp('ona-exit-' + argv[4] + '=(\\\\d+)\\n$').exec(input) ?? []
  if (mark === undefined) return { status: null, error: new Error('its output is longer than 4 MiB, or cut off') }
  return { status: Number(code), stdout: input.slice(0, -mark.length) }
}

/** Why the hook cannot be said to have answered; null when it has. */
function failureIn() {
  if (run.error?.code === 'ENOBUFS') return 'its output is longer than 4 MiB'
  if (run.status === null) return run.error?.code === 'ETIMEDOUT' ? 'no answer within ' + timeout + ' ms, ETIMEDOUT' : run.signal ? 'ended by ' + run.signal : String(run.error?.message)
  if (run.status !== 0) return run.status === 2 ? null : 'exit ' + run.status
  if (!out.trim() || !(refusesOnFailure || (answer && name === 'PreToolUse'))) return null
  if (!answer) return 'its output is not a JSON object'
  if (answer.hookSpecificOutput !== undefined && !isObject(answer.hookSpecificOutput)) return 'hookSpecificOutput is not an object'
  const unknown = decisions().find((word) => !['allow', 'deny', 'ask', 'defer', 'block', 'approve'].includes(word))
  if (unknown !== undefined) return 'unknown decision ' + JSON.stringify(unknown)
  const strange = refusesOnFailure && (strangeIn(answer) || strangeIn(answer.hookSpecificOutput ?? {}))
  return strange ? 'its answer says nothing that is known: ' + strange : null
}

/** The keys of an answer that has some, and none that an agent reads. */
function strangeIn(said) {
  const keys = Object.keys(said).filter((key) => key !== 'hookEventName')
  return keys.some((key) => answerKeys.includes(key)) ? '' : keys.join(', ')
}

/** What the answer says in each of the places where a decision may be; "permission" is Cursor's. */
function decisions() {
  return [answer.hookSpecificOutput?.permissionDecision, answer.permissionDecision, answer.decision, answer.permission].filter((word) => word !== undefined)
}

/** The reason of an answer that refuses the tool, whatever else is wrong with it; undefined when it does not. */
function denial() {
  if (!answer) return undefined
  const reason = [answer.hookSpecificOutput?.permissionDecisionReason, answer.permissionDecisionReason, answer.reason, answer.stopReason].find((text) => text && typeof text === 'string')
  if (answer.continue === false || decisions().some((word) => word === 'deny' || word === 'block')) return reason ?? 'a hook refused this: ' + command
${cannotAsk ? `  if (asks()) return 'this needs your approval, which a hook cannot ask for here: ' + (reason || command)\n` : ''}  return undefined
}

function asks() {
  return decisions().some((word) => asking.includes(word))
}

${refusalComment[strictOutput ? 'exit' : 'json']}
function refuse(reason) {
  write(2, (err && err.trim() === reason ? err : err + reason + '\\n'))
  if (!name) process.exit(2)
  const no = { permissionDecision: 'deny', permissionDecisionReason: reason }
  if (name === 'PreToolUse') {
    const cursor = event.cursor_version ? { permission: 'deny', user_message: reason, agent_message: reason } : {}
    const stop = answer?.continue === false ? { continue: false, stopReason: reason } : {}
    write(1, JSON.stringify({ ...stop, decision: 'block', reason, ...no, ...cursor, hookSpecificOutput: { hookEventName: name, ...no } }))
    process.exit(${strictOutput ? 2 : 0})
  }
  write(1, spoken({ decision: 'block', reason }))
}

function jsonIn(text) {
  try {
    const value = JSON.parse(text.trim()) // PowerShell begins with a mark of the byte order, which trim takes for a space
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The hook's answer in each place where one of the agents looks for it. */
function spoken(said = answer) {
  const text = said === answer ? out : JSON.stringify(said)
${strictOutput ? '  return text\n' : ''}  if (!said) {
    // as in Claude Code: what a hook prints when a session starts or the user speaks is for the model
    if ((name !== 'SessionStart' && name !== 'UserPromptSubmit') || !text.trim()) return text
    if (event.cursor_version) return JSON.stringify({ additional_context: text })
    return JSON.stringify({ additionalContext: text, hookSpecificOutput: { hookEventName: name, additionalContext: text } })
  }
  const inner = { ...said.hookSpecificOutput }
  if (inner.updatedInput && typeof inner.updatedInput === 'object') {
    inner.updatedInput = Object.fromEntries(Object.entries(inner.updatedInput).map(([key, value]) => [renamed.get(key) ?? key, value]))
    if (events.size > 0) inner.tool_input = inner.updatedInput
  }
  const { decision, reason } = said
  const more = decision && name === 'Stop' ? { decision, reason } : decision && name === 'PostToolUse' ? { additionalContext: reason } : {}
  const whole = { ...said }
  if (name === 'PreToolUse' && asks()) {
    inner.permissionDecision = whole.permissionDecision = 'ask'
    inner.permissionDecisionReason ??= said.permissionDecisionReason ?? reason
    // Gemini CLI reads the word here; Claude Code would discard an answer with it
    if (events.size > 0) whole.decision = 'ask'
    else delete whole.decision
  }
  whole.permissionDecision ??= inner.permissionDecision
  whole.permissionDecisionReason ??= inner.permissionDecisionReason
  whole.modifiedArgs ??= inner.updatedInput
  whole.additionalContext ??= inner.additionalContext ?? more.additionalContext
  if (name) whole.hookSpecificOutput = { hookEventName: name, ...more, ...inner }
  return JSON.stringify(whole)
}

/** What the hook started goes with it. */
function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // all of it had ended
  }
}

/** All of stdin, also from a pipe that does not wait for the agent to write. */
function read() {
  const chunks = []
  const chunk = Buffer.alloc(65536)
  let size = 0
  for (let got = -1; got !== 0 && !(answered && size > 4 << 20); ) {
    got = patiently(() => readSync(0, chunk))
    size += got
    chunks.push(Buffer.from(chunk.subarray(0, got)))
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** All of the text, also into a pipe that is full for now. An agent that no longer listens is no failure of the hook. */
function write(fd, text) {
  const bytes = Buffer.from(text)
  try {
    for (let at = 0; at < bytes.length; ) at += patiently(() => writeSync(fd, bytes, at))
  } catch {}
}

function patiently(work) {
  for (;;) {
    try {
      return work()
    } catch (cause) {
      if (cause.code === 'EOF') return 0
      if (cause.code !== 'EAGAIN') throw cause
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
}
`
