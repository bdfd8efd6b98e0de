/** The plugin that runs role hooks in opencode, as text. What it needs to know of ona is in it. */
import { answerKeys } from '../shim/shim.ts'
import { neutralNames, type ToolNames } from '../tool-names.ts'

interface Parts {
  readonly tools: ToolNames
  readonly begin: string
  readonly end: string
  /** The hooks, one JSON object a line. */
  readonly lines: readonly string[]
  /** Where hooks run, from the plugin's folder. */
  readonly root?: string
}

export const pluginText = ({
  tools,
  begin,
  end,
  lines,
  root = '../..',
}: Parts): string => `// Written by ona. \`ona init --hooks\` writes it again from the roles' declarations; what you change here is lost.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Plugin } from '@opencode-ai/plugin'

interface Hook {
  author: string
  moment: 'boot' | 'compact' | 'talk' | 'before' | 'after' | 'stop'
  what: string
  command: string
  timeoutMs: number
  refuse?: boolean
}

const hooks: Hook[] = [
  ${begin}
${lines.map((line) => `  ${line},`).join('\n')}
  ${end}
]

/** What a filter may call each tool. */
const names = new Map<string, string[]>(Object.entries(${JSON.stringify(neutralNames(tools))}))
const keys = new Map(Object.entries({ filePath: 'file_path', oldString: 'old_string', newString: 'new_string', replaceAll: 'replace_all' }))
const answerKeys = ${JSON.stringify(answerKeys)}
const root = fileURLToPath(new URL('${root}', import.meta.url)).replace(/[\\\\/]$/, '')

interface Outcome {
  code: number | null
  out: string
  err: string
}

/** Never rejects. Nothing of the hook reaches the terminal; past its time the hook goes with all that it started. */
function run(hook: Hook, payload: object): Promise<Outcome> {
  return new Promise((done) => {
    const group = process.platform !== 'win32'
    const child = spawn(hook.command, { shell: true, cwd: root, stdio: 'pipe', detached: group })
    let out = ''
    let err = ''
    let size = 0
    const giveUp = (why: string) => {
      err = why
      try {
        if (group && child.pid) process.kill(-child.pid, 'SIGKILL')
        else child.kill('SIGKILL')
      } catch {
        // it ended by itself just now
      }
      finish(null)
    }
    // a longer time than setTimeout can count would be over at once
    const timer = setTimeout(() => giveUp('it took longer than ' + hook.timeoutMs + ' ms'), Math.min(hook.timeoutMs, 2 ** 31 - 1))
    const finish = (code: number | null) => {
      clearTimeout(timer)
      done({ code, out, err })
    }
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8')
    child.stdout.on('data', (chunk) => {
      size += chunk.length
      if (size <= 4 << 20) out += chunk
      else giveUp('its output is longer than 4 MiB')
    })
    child.stderr.on('data', (chunk) => { if (err.length < 1e6) err += chunk })
    child.stdin.on('error', () => {}) // it may end without reading us
    child.on('error', (cause) => { err = cause.message; finish(null) })
    child.on('close', (code) => finish(code))
    child.stdin.end(JSON.stringify(payload) + '\\n')
  })
}

function matches(what: string, tool: string): boolean {
  if (what === '*') return true
  const called = [...(names.get(tool) ?? []), tool]
  if (/[^\\w\\s|,-]/.test(what)) return called.some((name) => new RegExp(what).test(name))
  const wanted = what.split(/[|,]/).map((name) => name.trim())
  // an MCP tool is "server_tool" here and "mcp__server__tool" in a filter
  return wanted.some((name) => called.includes(name) || name.replace(/^mcp__(.+?)__/, '$1_').replace(/[^\\w-]/g, '_') === tool)
}

const renamed = (args: Record<string, unknown>, table: Map<string, string>) =>
  Object.fromEntries(Object.entries(args ?? {}).map(([key, value]) => [table.get(key) ?? key, value]))
const back = new Map([...keys].map(([theirs, ours]) => [ours, theirs]))

/** An argument under both of its names, with different values: a hook would see one of them, and the tool would take the other. */
function clashIn(args: Record<string, unknown>): string | undefined {
  const [theirs, ours] =
    [...keys].find(([one, other]) => one in args && other in args && JSON.stringify(args[one]) !== JSON.stringify(args[other])) ?? []
  return theirs && theirs + ' and ' + ours
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a hook said in JSON, as far as it did. */
function jsonIn(out: string): Record<string, any> | undefined {
  try {
    const value = JSON.parse(out.trim()) // a byte order mark before it counts as a space
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What an answer says in each of the places where a decision may be; "permission" is Cursor's. */
const decisions = (answer: Record<string, any>): unknown[] =>
  [answer.hookSpecificOutput?.permissionDecision, answer.permissionDecision, answer.decision, answer.permission].filter((word) => word !== undefined)

/** What a guard whose failure refuses the call must have done: answered, in JSON or with nothing. */
function failureOf({ code, out, err }: Outcome, guards = false): string | undefined {
  if (code === 2) return undefined
  if (code !== 0) return 'exit ' + code + ' ' + err.trim()
  if (out.trim() === '') return undefined
  const answer = jsonIn(out)
  if (!answer) return 'its output is not a JSON object'
  if (answer.hookSpecificOutput !== undefined && !isObject(answer.hookSpecificOutput)) return 'hookSpecificOutput is not an object'
  const unknown = decisions(answer).find((word) => !['allow', 'deny', 'ask', 'defer', 'block', 'approve'].includes(word as string))
  if (unknown !== undefined) return 'unknown decision ' + JSON.stringify(unknown)
  const strange = guards && (strangeIn(answer) || strangeIn(answer.hookSpecificOutput ?? {}))
  return strange ? 'its answer says nothing that is known: ' + strange : undefined
}

/** The keys of an answer that has some, and none that an agent reads. */
function strangeIn(said: object): string {
  const keys = Object.keys(said).filter((key) => key !== 'hookEventName')
  return keys.some((key) => answerKeys.includes(key)) ? '' : keys.join(', ')
}

/** What the answer means here; a refusal counts whatever else is wrong with it. */
function answerOf({ out }: Outcome): { deny?: string; input?: Record<string, unknown>; context?: string } {
  const answer = jsonIn(out)
  if (!answer) return {}
  const inner = answer.hookSpecificOutput ?? {}
  const words = decisions(answer)
  const denied = answer.continue === false || words.includes('deny') || words.includes('block')
  const asks = words.includes('ask') || words.includes('defer')
  const reason = String(inner.permissionDecisionReason ?? answer.permissionDecisionReason ?? answer.reason ?? answer.stopReason ?? 'refused')
  return {
    deny: denied ? reason : asks ? 'this needs your approval, which a hook cannot ask for here: ' + reason : undefined,
    input: inner.updatedInput,
    context: inner.additionalContext,
  }
}

export const RhachetHooks: Plugin = async ({ client, directory }) => {
  const children = new Set<string>()
  /** What the boot hooks of a session print; it goes in front of the model. */
  const boots = new Map<string, Promise<string>>()
  const of = (moment: Hook['moment'], tool?: string) =>
    hooks.filter((hook) => hook.moment === moment && (tool === undefined || matches(hook.what, tool)))

  async function ask(hook: Hook, session: string, event: string, more: object): Promise<Outcome> {
    const outcome = await run(hook, { session_id: session, cwd: directory ?? root, hook_event_name: event, ...more })
    if (outcome.code !== 0 && outcome.code !== 2) warn(hook, ' failed (exit ' + outcome.code + '): ' + outcome.err.trim())
    return outcome
  }

  function warn({ author, command }: Hook, what: string): void {
    const message = author + ': ' + command + what
    void Promise.resolve(client.app.log({ body: { service: 'rhachet-hooks', level: 'warn', message } })).catch(() => {})
  }

  async function boot(session: string, source: string): Promise<string> {
    const said: string[] = []
    for (const hook of of('boot')) {
      if (hook.what !== '*' && !hook.what.split('|').includes(source)) continue
      const outcome = await ask(hook, session, 'SessionStart', { source })
      const text = outcome.out.trimStart().startsWith('{') ? answerOf(outcome).context : outcome.out.trim()
      if (outcome.code === 0 && text) said.push(text)
    }
    return said.join('\\n\\n')
  }

  /** What the hooks say to a prompt; it goes in front of the model with the next request. */
  const talks = new Map<string, string>()

  return {
    'chat.message': async ({ sessionID }, output) => {
      if (children.has(sessionID)) return
      const prompt = output.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\\n')
      const said: string[] = []
      for (const hook of of('talk')) {
        const outcome = await ask(hook, sessionID, 'UserPromptSubmit', { prompt })
        const { deny, context } = answerOf(outcome)
        if (outcome.code === 2) throw new Error(outcome.err.trim() || 'refused by ' + hook.author)
        if (deny !== undefined) throw new Error(deny)
        const text = outcome.out.trimStart().startsWith('{') ? context : outcome.out.trim()
        if (outcome.code === 0 && text) said.push(text)
      }
      talks.set(sessionID, said.join('\\n\\n'))
    },
    'experimental.session.compacting': async ({ sessionID }) => {
      if (!children.has(sessionID)) for (const hook of of('compact')) await ask(hook, sessionID, 'PreCompact', { trigger: 'auto' })
    },
    event: async ({ event }) => {
      if (event.type === 'session.created') {
        const { id, parentID } = event.properties.info
        if (parentID) children.add(id)
        else if (!boots.has(id)) boots.set(id, boot(id, 'startup'))
      }
      if (event.type === 'session.compacted' && !children.has(event.properties.sessionID))
        boots.set(event.properties.sessionID, boot(event.properties.sessionID, 'compact'))
      if (event.type === 'session.idle' && !children.has(event.properties.sessionID))
        for (const hook of of('stop')) await ask(hook, event.properties.sessionID, 'Stop', { stop_hook_active: false })
      if (event.type === 'session.deleted') {
        children.delete(event.properties.info.id)
        boots.delete(event.properties.info.id)
        talks.delete(event.properties.info.id)
      }
    },
    'experimental.chat.system.transform': async ({ sessionID }, output) => {
      if (!sessionID || children.has(sessionID)) return
      const talk = talks.get(sessionID)
      if (talk) output.system.push(talk)
      if (of('boot').length === 0) return
      // a session that is resumed was created before we were here
      if (!boots.has(sessionID)) boots.set(sessionID, boot(sessionID, 'resume'))
      const text = await boots.get(sessionID)
      if (text) output.system.push(text)
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, output) => {
      for (const hook of of('before', tool)) {
        const clash = clashIn(output.args ?? {})
        if (clash) throw new Error('the call gives both ' + clash + ', and they differ: the tool takes only one of them')
        const tool_input = renamed(output.args, keys)
        const call = { tool_name: names.get(tool)?.[0] ?? tool, native_tool_name: tool, tool_input, tool_use_id: callID }
        const outcome = await ask(hook, sessionID, 'PreToolUse', call)
        const { deny, input } = answerOf(outcome)
        if (outcome.code === 2) throw new Error(outcome.err.trim() || 'refused by ' + hook.author)
        if (deny !== undefined) throw new Error(deny)
        const failure = failureOf(outcome, hook.refuse)
        if (failure !== undefined && hook.refuse) throw new Error('a hook failed (' + failure + '), and its failure refuses the call: ' + hook.command)
        if (failure !== undefined && outcome.code === 0 && jsonIn(outcome.out)) warn(hook, ' failed: ' + failure)
        if (failure === undefined && input) Object.assign(output.args, renamed(input, back))
      }
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }, output) => {
      for (const hook of of('after', tool)) {
        const tool_input = renamed(args, keys)
        const call = { tool_name: names.get(tool)?.[0] ?? tool, native_tool_name: tool, tool_input, tool_use_id: callID, tool_response: output.output }
        const outcome = await ask(hook, sessionID, 'PostToolUse', call)
        const { deny, context } = answerOf(outcome)
        const said = outcome.code === 2 ? outcome.err.trim() : outcome.code === 0 ? [deny, context].filter(Boolean).join('\\n') : ''
        if (said) output.output += '\\n\\n' + said
      }
    },
  }
}
`
