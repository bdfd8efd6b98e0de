/**
 * The small program that stands between an agent and a hook's command where the agent does not do what the hook says:
 * VS Code ignores matchers, Copilot refuses a tool when a hook merely fails. It is written beside the agent's config and
 * committed with it, so that it runs in any clone without an install; it needs Node 18 or later and nothing else.
 */
import { neutralNames, type ToolNames } from '../tools.ts'

/**
 * `tools`: what the agents that read the config call the tools that a filter names. `notIn`: a field by which to know the
 * event of an agent that may read the config too and has these hooks in its own.
 */
export const shimText = (
  tools: readonly ToolNames[],
  { notIn }: { notIn?: string } = {},
): string => `// Written by ona: runs a role's hook for an agent. \`ona init --hooks\` brings it up to date.
// Called with a filter and a command, as two arguments or in the environment; the agent's event comes on stdin.
'use strict'
const { readSync, writeSync } = require('node:fs')
const { env, argv } = process

const what = argv[2] ?? env.ONA_HOOK_FILTER
const command = argv[3] ?? env.ONA_HOOK_COMMAND
const timeout = Number(argv[4] ?? env.ONA_HOOK_TIMEOUT_MS)
const names = new Map(Object.entries(${JSON.stringify(neutralNames(...tools))}))
const keys = new Map(Object.entries({ filePath: 'file_path', oldString: 'old_string', newString: 'new_string', replaceAll: 'replace_all' }))

let input = read()
let event = null
try {
  event = JSON.parse(input)
} catch {
  // an event that we cannot read is the hook's to judge
}
if (event && typeof event === 'object') {
${notIn ? `  // another agent that reads this file too has these hooks in its own\n  if (event.${notIn}) process.exit(0)\n` : ''}  const tool = event.tool_name ?? event.toolName
  const called = tool === undefined ? [] : [...(names.get(tool) ?? []), tool]
  if (what !== '*' && !called.some(matches)) process.exit(0)
  if (tool !== undefined) {
    const given = event.tool_input ?? event.toolArgs
    event.tool_name = called[0]
    if (tool !== called[0]) event.native_tool_name = tool
    if (given && typeof given === 'object')
      event.tool_input = Object.fromEntries(Object.entries(given).map(([key, value]) => [keys.get(key) ?? key, value]))
  }
  input = JSON.stringify(event) + '\\n'
}
const run = require('node:child_process').spawnSync(command, { shell: true, cwd: __dirname + '/../..', input, timeout, maxBuffer: 4 << 20 })
const out = String(run.stdout ?? '')
const err = String(run.stderr ?? '')
if (err) write(2, err)
if (run.status === 0) {
  write(1, forAll(out))
  process.exit(0)
}
if (run.status === 2) {
  const reason = err.trim() || 'a hook refused this: ' + command
  if (!err) write(2, reason + '\\n')
  // Copilot tells the model only what is said in JSON, and the others read that as well; exit 2 is for when we cannot
  const name = event?.hook_event_name
  if (!name) process.exit(2)
  const no = { permissionDecision: 'deny', permissionDecisionReason: reason }
  const answer = name === 'PreToolUse' ? { hookSpecificOutput: { hookEventName: name, ...no } } : { decision: 'block', reason }
  write(1, forAll(JSON.stringify(answer)))
  process.exit(0)
}
// any other end lets the agent go on, in every agent, and is told to the person
const why = run.status !== null ? 'exit ' + run.status : run.error ? run.error.message : 'ended by ' + run.signal
write(1, JSON.stringify({ systemMessage: 'hook failed (' + why + '): ' + command }))

/** All of stdin, also from a pipe that does not wait for the agent to write. */
function read() {
  const chunks = []
  const chunk = Buffer.alloc(65536)
  for (let got = -1; got !== 0; ) {
    got = patiently(() => readSync(0, chunk))
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

function matches(name) {
  if (/[^\\w\\s|,-]/.test(what)) return new RegExp(what).test(name)
  return what.split(/[|,]/).some((one) => one.trim() === name)
}

/** The same answer in each place where one of the agents looks for it. */
function forAll(text) {
  const name = event?.hook_event_name?.replace(/^./, (first) => first.toUpperCase())
  if (!text.trimStart().startsWith('{')) {
    // as in Claude Code: what a hook prints at the start of a session is for the model
    if (name !== 'SessionStart' || !text.trim()) return text
    if (event.cursor_version) return JSON.stringify({ additional_context: text })
    return JSON.stringify({ additionalContext: text, hookSpecificOutput: { hookEventName: name, additionalContext: text } })
  }
  let answer
  try {
    answer = JSON.parse(text)
  } catch {
    return text
  }
  const inner = answer.hookSpecificOutput ?? {}
  const { decision, reason } = answer
  const more = decision && name === 'Stop' ? { decision, reason } : decision && name === 'PostToolUse' ? { additionalContext: reason } : {}
  answer.permissionDecision ??= inner.permissionDecision
  answer.permissionDecisionReason ??= inner.permissionDecisionReason
  answer.modifiedArgs ??= inner.updatedInput
  answer.additionalContext ??= inner.additionalContext ?? more.additionalContext
  if (name) answer.hookSpecificOutput = { hookEventName: name, ...more, ...inner }
  return JSON.stringify(answer)
}
`
