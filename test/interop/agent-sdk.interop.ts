/** The Claude Agent SDK with ona as its executable: one test for each feature of the SDK. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { bash, call, type Line, load, program, type World, world } from './support.ts'

const sdk = await load('@anthropic-ai/claude-agent-sdk')
const { z } = await load('zod')

// biome-ignore lint/suspicious/noExplicitAny: messages are looked into by hand
type Any = any

interface Run {
  readonly messages: Any[]
  readonly result: Any
  readonly init: Any
  readonly error?: Error
}

const optionsFor = (at: World, options: object) => ({
  pathToClaudeCodeExecutable: program,
  cwd: at.folder,
  env: at.env,
  settingSources: [],
  ...options,
})

async function collect(query: AsyncIterable<Any>): Promise<Run> {
  const messages: Any[] = []
  let error: Error | undefined
  try {
    for await (const message of query) messages.push(message)
  } catch (cause) {
    error = cause as Error
  }
  const last = (type: string) => messages.findLast((message) => message.type === type)
  return {
    messages,
    result: last('result'),
    init: messages.find(({ subtype }) => subtype === 'init'),
    ...(error && { error }),
  }
}

const ask = (at: World, options: object = {}, prompt: unknown = 'go'): Promise<Run> =>
  collect(sdk.query({ prompt, options: optionsFor(at, options) }))

/** Prompts that are sent when the test says so. */
function prompts() {
  const queue: Any[] = []
  let wake = () => {}
  let isOver = false
  const stream = async function* () {
    for (;;) {
      while (queue.length > 0) yield queue.shift()
      if (isOver) return
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return {
    stream: stream(),
    say(content: unknown, more: object = {}) {
      queue.push({
        type: 'user',
        message: { role: 'user', content },
        parent_tool_use_id: null,
        session_id: '',
        ...more,
      })
      wake()
    },
    end() {
      isOver = true
      wake()
    },
  }
}

/** A conversation: messages are read until a result comes. */
function converse(t: TestContext, at: World, options: object = {}) {
  const input = prompts()
  const query = sdk.query({ prompt: input.stream, options: optionsFor(at, options) })
  t.after(() => query.close?.())
  const messages: Any[] = []
  return {
    query,
    messages,
    say: input.say,
    async until(done: (message: Any) => boolean): Promise<Any> {
      for (;;) {
        const { value, done: over } = await query.next()
        if (over) throw new Error('the conversation is over')
        messages.push(value)
        if (done(value)) return value
      }
    },
    async turn(content: unknown, more?: object): Promise<Any> {
      input.say(content, more)
      return this.until(({ type }) => type === 'result')
    },
    async end(): Promise<void> {
      input.end()
      for await (const message of query) messages.push(message)
    },
  }
}

const hook = (run: (input: Any, id?: string) => unknown, more: object = {}) => [
  { ...more, hooks: [async (input: Any, id?: string) => run(input, id)] },
]
/** A hook that only looks. */
const watching = (see: (input: Any) => void, more: object = {}) =>
  hook((input) => {
    see(input)
    return {}
  }, more)
const ran = (at: World, file: string) => existsSync(join(at.folder, file))
const touch = (file: string): Line => bash(`touch ${file}`)
const bypass = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true }
const calc = () =>
  sdk.createSdkMcpServer({
    name: 'calc',
    version: '1.0.0',
    tools: [
      sdk.tool('add', 'Adds two numbers', { a: z.number(), b: z.number() }, async ({ a, b }: Any) => ({
        content: [{ type: 'text', text: `sum ${a + b}` }],
      })),
      sdk.tool('fail', 'Fails', {}, async () => ({ content: [{ type: 'text', text: 'broken' }], isError: true })),
    ],
  })

const features: Record<string, (t: TestContext) => Promise<void>> = {
  async 'a prompt gives init, an answer and a result'(t) {
    const at = await world(t, [{ text: 'Hello.' }])
    const { messages, result, error } = await ask(at)
    assert.equal(error, undefined)
    assert.deepEqual(
      messages.map(({ type, subtype }) => subtype ?? type),
      ['init', 'assistant', 'success'],
    )
    assert.deepEqual([result.result, result.is_error, result.num_turns], ['Hello.', false, 1])
  },
  async 'init names tools, model, folder, mode and session'(t) {
    const at = await world(t)
    const { init } = await ask(at)
    assert.ok(init.tools.includes('Bash') && init.session_id && init.claude_code_version)
    assert.deepEqual([init.cwd, init.permissionMode, init.model], [at.folder, 'default', 'claude-sonnet-4-20250514'])
  },
  async 'an assistant message is one of the Messages API'(t) {
    const at = await world(t, [{ text: 'Hello.' }])
    const { messages } = await ask(at)
    const { message } = messages.find(({ type }) => type === 'assistant')
    assert.deepEqual(
      [message.role, message.content, message.stop_reason, typeof message.id],
      ['assistant', [{ type: 'text', text: 'Hello.' }], 'end_turn', 'string'],
    )
    assert.ok(message.usage.output_tokens > 0)
  },
  async 'a tool result is a user message'(t) {
    const at = await world(t, [bash('echo hi')])
    const { messages } = await ask(at, bypass)
    const use = messages.find(({ type }) => type === 'assistant').message.content.at(-1)
    const { message } = messages.find(({ type }) => type === 'user')
    assert.deepEqual(message.content, [{ type: 'tool_result', tool_use_id: use.id, content: 'hi\n', is_error: false }])
  },
  async 'the result counts turns, tokens and models'(t) {
    const at = await world(t, [bash('true')])
    const { result } = await ask(at, bypass)
    const [model] = Object.values(result.modelUsage) as Any[]
    assert.deepEqual([result.num_turns, result.usage.output_tokens], [2, model.outputTokens])
    assert.ok(result.duration_ms > 0 && result.total_cost_usd >= 0 && result.terminal_reason === 'completed')
  },
  async 'includePartialMessages: text, tool input and the frame around them'(t) {
    const at = await world(t, [{ text: 'One two.', calls: [{ name: 'Bash', input: { command: 'true' } }] }])
    const { messages } = await ask(at, { ...bypass, includePartialMessages: true })
    const events = messages.filter(({ type }) => type === 'stream_event').map(({ event }) => event)
    const first = events.slice(0, events.findIndex(({ type }) => type === 'message_stop') + 1)
    assert.equal(first.map(({ delta }) => delta?.text ?? '').join(''), 'One two.')
    assert.equal(first.map(({ delta }) => delta?.partial_json ?? '').join(''), '{"command":"true"}')
    assert.deepEqual([first[0].type, first.at(-2).type], ['message_start', 'message_delta'])
    assert.equal(first.at(-2).delta.stop_reason, 'tool_use')
    const whole = messages.find(({ type }) => type === 'assistant')
    assert.equal(whole.message.id, first[0].message.id)
  },
  async 'streaming input: prompts are answered in one session'(t) {
    const at = await world(t, [{ text: 'One.' }, { text: 'Two.' }])
    const talk = converse(t, at)
    const one = await talk.turn('first')
    const two = await talk.turn('second')
    assert.deepEqual([one.result, two.result, one.session_id === two.session_id], ['One.', 'Two.', true])
    await talk.end()
  },
  async 'an image in a prompt reaches the model'(t) {
    const at = await world(t)
    const talk = converse(t, at)
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
    const { is_error } = await talk.turn([
      { type: 'text', text: 'what is it?' },
      { type: 'image', source },
    ])
    assert.equal(is_error, false)
    await talk.end()
  },
  async maxTurns(t) {
    const at = await world(t, [bash('true'), bash('true'), bash('true')])
    const { result } = await ask(at, { ...bypass, maxTurns: 2 })
    assert.deepEqual([result.subtype, result.is_error, at.chats.length], ['error_max_turns', true, 2])
  },
  async maxBudgetUsd(t) {
    const at = await world(t, [bash('true'), bash('true')])
    const { result } = await ask(at, { ...bypass, maxBudgetUsd: 0.000001 })
    assert.deepEqual([result.subtype, at.chats.length], ['error_max_budget_usd', 1])
  },
  async 'resume continues a session by id'(t) {
    const at = await world(t, [{ text: 'One.' }])
    const { result } = await ask(at, {}, 'remember the milk')
    const again = await ask(at, { resume: result.session_id }, 'what?')
    assert.equal(again.result.session_id, result.session_id)
    assert.match(JSON.stringify(at.chats.at(-1)), /remember the milk/)
  },
  async 'continue takes the newest session of the folder'(t) {
    const at = await world(t)
    const { result } = await ask(at, {}, 'remember the milk')
    const again = await ask(at, { continue: true }, 'what?')
    assert.equal(again.result.session_id, result.session_id)
  },
  async 'forkSession leaves the session as it was'(t) {
    const at = await world(t)
    const { result } = await ask(at, {}, 'remember the milk')
    const fork = await ask(at, { resume: result.session_id, forkSession: true }, 'what?')
    assert.notEqual(fork.result.session_id, result.session_id)
    assert.match(JSON.stringify(at.chats.at(-1)), /remember the milk/)
  },
  async sessionId(t) {
    const at = await world(t)
    const sessionId = '3f1c9f0e-6a5e-4a0e-9c57-1d2f6a7b8c9d'
    assert.equal((await ask(at, { sessionId })).result.session_id, sessionId)
  },
  async 'interrupt ends the turn; the next prompt works'(t) {
    const started = Promise.withResolvers<void>()
    const at = await world(t, [
      () => {
        started.resolve()
        return new Promise(() => {})
      },
      { text: 'Two.' },
    ])
    const talk = converse(t, at)
    const ended = talk.turn('first')
    await started.promise
    await talk.query.interrupt()
    assert.equal((await ended).subtype, 'error_during_execution')
    assert.equal((await talk.turn('second')).result, 'Two.')
    await talk.end()
  },
  async 'an abort controller ends the run'(t) {
    const abortController = new AbortController()
    const at = await world(t, [
      () => {
        abortController.abort()
        return new Promise(() => {})
      },
    ])
    const { error, result } = await ask(at, { abortController })
    assert.ok(error && !result)
  },
  async 'model and setModel'(t) {
    const at = await world(t)
    const talk = converse(t, at, { model: 'claude-opus-4-20250514' })
    await talk.turn('one')
    await talk.query.setModel('claude-3-5-haiku-20241022')
    await talk.turn('two')
    assert.deepEqual(
      at.chats.map(({ model }) => model),
      ['claude-opus-4-20250514', 'claude-3-5-haiku-20241022'],
    )
    await talk.end()
  },
  async 'an unknown model is an error'(t) {
    const at = await world(t)
    const { result, error } = await ask(at, { model: 'no such model!' })
    assert.ok(error || result.is_error)
    assert.equal(at.chats.length, 0)
  },
  async 'fallbackModel is used when the model is overloaded'(t) {
    const overloaded = { fail: { status: 529, message: 'overloaded' } }
    const at = await world(t, [overloaded, overloaded, overloaded, { text: 'Fallback.' }])
    const { result } = await ask(at, { model: 'claude-opus-4-20250514', fallbackModel: 'claude-3-5-haiku-20241022' })
    assert.deepEqual([result.result, at.chats.at(-1)!.model], ['Fallback.', 'claude-3-5-haiku-20241022'])
  },
  async 'systemPrompt as text'(t) {
    const at = await world(t)
    await ask(at, { systemPrompt: 'You are a pirate.' })
    assert.match(at.system(), /You are a pirate\./)
  },
  async 'systemPrompt with a preset and an addition'(t) {
    const at = await world(t)
    await ask(at, { systemPrompt: { type: 'preset', preset: 'claude_code', append: 'Speak like a pirate.' } })
    assert.match(at.system(), /Speak like a pirate\./)
    assert.ok(at.system().length > 500)
  },
  async 'env reaches the tools'(t) {
    const at = await world(t, [bash('echo $COLOUR')])
    await ask(at, { ...bypass, env: { ...at.env, COLOUR: 'blue' } })
    assert.match(at.heard(), /blue/)
  },
  async additionalDirectories(t) {
    const at = await world(t, [call('Write', { file_path: join('/tmp', 'x'), content: '' })])
    const { init, error } = await ask(at, { additionalDirectories: [at.home] })
    assert.ok(init && !error)
  },
  async 'allowedTools need no prompt'(t) {
    const at = await world(t, [touch('a')])
    await ask(at, { allowedTools: ['Bash(touch *)'] })
    assert.equal(ran(at, 'a'), true)
  },
  async 'without a rule and without canUseTool a call is denied and listed'(t) {
    const at = await world(t, [touch('a')])
    const { result } = await ask(at)
    assert.equal(ran(at, 'a'), false)
    assert.deepEqual(
      result.permission_denials.map(({ tool_name }: Any) => tool_name),
      ['Bash'],
    )
  },
  async 'disallowedTools hide the tool'(t) {
    const at = await world(t)
    const { init } = await ask(at, { disallowedTools: ['Bash'] })
    assert.equal(init.tools.includes('Bash'), false)
    assert.equal(
      at.chats[0]!.tools.some(({ name }) => name === 'Bash'),
      false,
    )
  },
  async 'tools limits the built-in tools'(t) {
    const at = await world(t)
    const { init } = await ask(at, { tools: ['Read', 'Grep'] })
    assert.deepEqual(init.tools, ['Read', 'Grep'])
  },
  async 'permissionMode plan denies a change'(t) {
    const at = await world(t, [call('Write', { file_path: 'a', content: '' })])
    await ask(at, { permissionMode: 'plan' })
    assert.equal(ran(at, 'a'), false)
  },
  async 'permissionMode acceptEdits writes in the folder'(t) {
    const at = await world(
      t,
      (['a'] as const).map((file) => call('Write', { file_path: file, content: 'x' })),
    )
    await ask(at, { permissionMode: 'acceptEdits' })
    assert.equal(ran(at, 'a'), true)
  },
  async 'permissionMode dontAsk denies what no rule allows'(t) {
    const at = await world(t, [touch('a')])
    await ask(at, { permissionMode: 'dontAsk', canUseTool: async () => ({ behavior: 'allow', updatedInput: {} }) })
    assert.equal(ran(at, 'a'), false)
  },
  async 'setPermissionMode takes effect in the session'(t) {
    const at = await world(t, [call('Write', { file_path: 'a', content: 'x' })])
    const talk = converse(t, at)
    await talk.query.initializationResult()
    await talk.query.setPermissionMode('acceptEdits')
    await talk.turn('go')
    assert.equal(ran(at, 'a'), true)
    await assert.rejects(talk.query.setPermissionMode('bypassPermissions'))
    await talk.end()
  },
  async 'canUseTool: allow, with another input'(t) {
    const at = await world(t, [touch('a')])
    const asked: Any[] = []
    await ask(at, {
      canUseTool: async (name: string, input: Any, more: Any) => {
        asked.push([name, input.command, typeof more.toolUseID, more.signal instanceof AbortSignal])
        return { behavior: 'allow', updatedInput: { ...input, command: 'touch b' } }
      },
    })
    assert.deepEqual(asked, [['Bash', 'touch a', 'string', true]])
    assert.deepEqual([ran(at, 'a'), ran(at, 'b')], [false, true])
  },
  async 'canUseTool: deny, and the model reads why'(t) {
    const at = await world(t, [touch('a')])
    await ask(at, { canUseTool: async () => ({ behavior: 'deny', message: 'not on Friday' }) })
    assert.equal(ran(at, 'a'), false)
    assert.match(at.heard(), /not on Friday/)
  },
  async 'canUseTool: deny and interrupt ends the turn'(t) {
    const at = await world(t, [touch('a')])
    await ask(at, { canUseTool: async () => ({ behavior: 'deny', message: 'stop', interrupt: true }) })
    assert.equal(at.chats.length, 1)
  },
  async 'canUseTool: a rule for the session'(t) {
    const at = await world(t, [touch('a'), touch('b')])
    let asked = 0
    await ask(at, {
      canUseTool: async (_: string, input: Any) => {
        asked++
        const rules = [{ toolName: 'Bash', ruleContent: 'touch *' }]
        const update = { type: 'addRules', rules, behavior: 'allow', destination: 'session' }
        return { behavior: 'allow', updatedInput: input, updatedPermissions: [update] }
      },
    })
    assert.deepEqual([asked, ran(at, 'b')], [1, true])
  },
  async 'canUseTool: suggestions can be accepted as they are'(t) {
    const at = await world(t, [touch('a'), touch('b')])
    let asked = 0
    await ask(at, {
      canUseTool: async (_: string, input: Any, { suggestions }: Any) => {
        asked++
        return { behavior: 'allow', updatedInput: input, updatedPermissions: suggestions }
      },
    })
    assert.deepEqual([asked, ran(at, 'b')], [1, true])
  },
  async 'canUseTool answers AskUserQuestion'(t) {
    const options = [
      { label: 'Red', description: 'warm' },
      { label: 'Blue', description: 'cold' },
    ]
    const questions = [{ question: 'Which colour?', header: 'Colour', options, multiSelect: false }]
    const at = await world(t, [call('AskUserQuestion', { questions })])
    await ask(at, {
      canUseTool: async (_: string, input: Any) => ({
        behavior: 'allow',
        updatedInput: { ...input, answers: { 'Which colour?': 'Blue' } },
      }),
    })
    assert.match(at.heard(), /Blue/)
  },
  async 'PreToolUse: deny'(t) {
    const at = await world(t, [touch('a')])
    const inputs: Any[] = []
    const deny = hook((input, id) => {
      inputs.push([
        input.hook_event_name,
        input.tool_name,
        input.tool_input.command,
        input.tool_use_id === id,
        input.cwd,
      ])
      return {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'guarded',
        },
      }
    })
    await ask(at, { ...bypass, hooks: { PreToolUse: deny } })
    assert.equal(ran(at, 'a'), false)
    assert.match(at.heard(), /guarded/)
    assert.deepEqual(inputs, [['PreToolUse', 'Bash', 'touch a', true, at.folder]])
  },
  async 'PreToolUse: decision block'(t) {
    const at = await world(t, [touch('a')])
    await ask(at, { ...bypass, hooks: { PreToolUse: hook(() => ({ decision: 'block', reason: 'guarded' })) } })
    assert.equal(ran(at, 'a'), false)
  },
  async 'PreToolUse: allow needs no prompt'(t) {
    const at = await world(t, [touch('a')])
    const allow = { hookEventName: 'PreToolUse', permissionDecision: 'allow' }
    await ask(at, { hooks: { PreToolUse: hook(() => ({ hookSpecificOutput: allow })) } })
    assert.equal(ran(at, 'a'), true)
  },
  async 'PreToolUse: another input'(t) {
    const at = await world(t, [touch('a')])
    const updatedInput = { command: 'touch b' }
    const change = { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput }
    await ask(at, { hooks: { PreToolUse: hook(() => ({ hookSpecificOutput: change })) } })
    assert.deepEqual([ran(at, 'a'), ran(at, 'b')], [false, true])
  },
  async 'a matcher of plain names matches exactly'(t) {
    const at = await world(t, [touch('a'), call('Write', { file_path: 'b', content: '' })])
    const seen: string[] = []
    const watch = (matcher: string) => watching(({ tool_name }) => seen.push(`${matcher} ${tool_name}`), { matcher })
    await ask(at, { ...bypass, hooks: { PreToolUse: ['Bash', 'Write|Edit', 'Bas', 'B.*', ''].flatMap(watch) } })
    assert.deepEqual(seen, ['Bash Bash', 'B.* Bash', ' Bash', 'Write|Edit Write', ' Write'])
  },
  async 'the matcher Task sees a sub-agent start'(t) {
    const at = await world(t, [call('Agent', { description: 'x', prompt: 'look', subagent_type: 'general-purpose' })])
    let seen = 0
    await ask(at, { ...bypass, hooks: { PreToolUse: watching(() => seen++, { matcher: 'Task' }) } })
    assert.equal(seen, 1)
  },
  async 'PostToolUse adds context'(t) {
    const at = await world(t, [bash('echo hi')])
    const inputs: Any[] = []
    const more = hook((input) => {
      inputs.push([input.tool_name, JSON.stringify(input.tool_response).includes('hi')])
      return { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'remember the milk' } }
    })
    await ask(at, { ...bypass, hooks: { PostToolUse: more } })
    assert.match(JSON.stringify(at.chats.at(-1)), /remember the milk/)
    assert.deepEqual(inputs, [['Bash', true]])
  },
  async 'PostToolUseFailure sees a failed call'(t) {
    const at = await world(t, [bash('exit 3')])
    let seen = 0
    await ask(at, { ...bypass, hooks: { PostToolUseFailure: watching(() => seen++) } })
    assert.equal(seen, 1)
  },
  async 'UserPromptSubmit adds context'(t) {
    const at = await world(t)
    const more = { hookEventName: 'UserPromptSubmit', additionalContext: 'remember the milk' }
    await ask(at, { hooks: { UserPromptSubmit: hook(() => ({ hookSpecificOutput: more })) } })
    assert.match(JSON.stringify(at.chats[0]), /remember the milk/)
  },
  async 'UserPromptSubmit blocks a prompt'(t) {
    const at = await world(t)
    await ask(at, { hooks: { UserPromptSubmit: hook(() => ({ decision: 'block', reason: 'no' })) } })
    assert.equal(at.chats.length, 0)
  },
  async 'SessionStart and SessionEnd'(t) {
    const at = await world(t)
    const seen: string[] = []
    const note = (name: string) => watching((input) => seen.push(`${name} ${input.source ?? input.reason}`))
    await ask(at, { hooks: { SessionStart: note('start') } })
    assert.deepEqual(seen, ['start startup'])
  },
  async 'Stop sends the model round again'(t) {
    const at = await world(t, [{ text: 'One.' }, { text: 'Two.' }])
    let stops = 0
    const again = hook(({ stop_hook_active: active }) => {
      stops++
      return active ? {} : { decision: 'block', reason: 'one more' }
    })
    const { result } = await ask(at, { hooks: { Stop: again } })
    assert.deepEqual([result.result, stops], ['Two.', 2])
    assert.match(at.heard(), /one more/)
  },
  async 'continue: false ends the turn'(t) {
    const at = await world(t, [touch('a'), touch('b')])
    await ask(at, { ...bypass, hooks: { PostToolUse: hook(() => ({ continue: false, stopReason: 'enough' })) } })
    assert.deepEqual([ran(at, 'a'), ran(at, 'b')], [true, false])
  },
  async 'PermissionRequest answers in the place of a prompt'(t) {
    const at = await world(t, [touch('a')])
    const allow = { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } }
    await ask(at, { hooks: { PermissionRequest: hook(() => ({ hookSpecificOutput: allow })) } })
    assert.equal(ran(at, 'a'), true)
  },
  async 'SubagentStart and SubagentStop'(t) {
    const at = await world(t, [call('Agent', { description: 'x', prompt: 'look', subagent_type: 'general-purpose' })])
    const seen: string[] = []
    const note = (name: string) => watching((input) => seen.push(`${name} ${input.agent_type}`))
    await ask(at, { ...bypass, hooks: { SubagentStart: note('start'), SubagentStop: note('stop') } })
    assert.deepEqual(seen, ['start general-purpose', 'stop general-purpose'])
  },
  async 'a hook that throws is reported and lets the call pass'(t) {
    const at = await world(t, [touch('a')])
    const broken = hook(() => {
      throw new Error('broken')
    })
    await ask(at, { ...bypass, hooks: { PreToolUse: broken } })
    assert.equal(ran(at, 'a'), true)
  },
  async 'onFailure: block makes a failure block the call'(t) {
    const at = await world(t, [touch('a')])
    const broken = hook(
      () => {
        throw new Error('broken')
      },
      { onFailure: 'block' },
    )
    await ask(at, { ...bypass, hooks: { PreToolUse: broken } })
    assert.equal(ran(at, 'a'), false)
  },
  async 'a hook that detaches is not waited for'(t) {
    const at = await world(t, [touch('a')])
    await ask(at, { ...bypass, hooks: { PreToolUse: hook(() => ({ async: true })) } })
    assert.equal(ran(at, 'a'), true)
  },
  async 'a guard that nothing would call is an error, and nothing runs'(t) {
    const at = await world(t, [touch('a')])
    for (const event of ['PreModelSwitch', 'PreToolUs']) {
      const { error } = await ask(at, { ...bypass, hooks: { [event]: hook(() => ({ decision: 'block' })) } })
      assert.match(String(error), new RegExp(event))
    }
    assert.deepEqual([at.chats.length, ran(at, 'a')], [0, false])
  },
  async 'an in-process MCP tool'(t) {
    const at = await world(t, [call('mcp__calc__add', { a: 2, b: 3 })])
    const { init } = await ask(at, { mcpServers: { calc: calc() }, allowedTools: ['mcp__calc__add'] })
    assert.match(at.heard(), /sum 5/)
    assert.deepEqual(
      init.mcp_servers.map(({ name, status }: Any) => [name, status]),
      [['calc', 'connected']],
    )
    assert.ok(init.tools.includes('mcp__calc__add'))
  },
  async 'an in-process MCP tool that fails'(t) {
    const at = await world(t, [call('mcp__calc__fail', {})])
    const { messages } = await ask(at, { mcpServers: { calc: calc() }, ...bypass })
    assert.equal(messages.find(({ type }) => type === 'user').message.content[0].is_error, true)
  },
  async 'hooks see in-process MCP tools'(t) {
    const at = await world(t, [call('mcp__calc__add', { a: 2, b: 3 })])
    const deny = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'guarded' }
    const guard = hook(() => ({ hookSpecificOutput: deny }), { matcher: 'mcp__calc__.*' })
    await ask(at, { mcpServers: { calc: calc() }, ...bypass, hooks: { PreToolUse: guard } })
    assert.match(at.heard(), /guarded/)
  },
  async 'an MCP server of its own process'(t) {
    const at = await world(t, [call('mcp__echo__say', { text: 'hi' })])
    const args = [join(import.meta.dirname, 'echo-server.mjs')]
    const { init } = await ask(at, { mcpServers: { echo: { command: process.execPath, args } }, ...bypass })
    assert.match(at.heard(), /said hi/)
    assert.equal(init.mcp_servers[0].status, 'connected')
  },
  async 'mcpServerStatus, toggle and reconnect'(t) {
    const at = await world(t)
    const talk = converse(t, at, { mcpServers: { calc: calc() } })
    await talk.turn('go')
    const [server] = await talk.query.mcpServerStatus()
    assert.deepEqual(
      [server.name, server.status, server.tools.map(({ name }: Any) => name)],
      ['calc', 'connected', ['add', 'fail']],
    )
    await talk.query.toggleMcpServer('calc', false)
    assert.equal((await talk.query.mcpServerStatus())[0].status, 'disabled')
    await talk.query.toggleMcpServer('calc', true)
    await talk.query.reconnectMcpServer('calc')
    assert.equal((await talk.query.mcpServerStatus())[0].status, 'connected')
    await assert.rejects(talk.query.reconnectMcpServer('nobody'))
    await talk.end()
  },
  async setMcpServers(t) {
    const at = await world(t, [{ text: 'One.' }, call('mcp__echo__say', { text: 'hi' })])
    const talk = converse(t, at, bypass)
    await talk.turn('go')
    const args = [join(import.meta.dirname, 'echo-server.mjs')]
    const added = await talk.query.setMcpServers({ echo: { command: process.execPath, args } })
    assert.deepEqual([added.added, added.removed, added.errors], [['echo'], [], {}])
    await talk.turn('use it')
    assert.match(at.heard(), /said hi/)
    const removed = await talk.query.setMcpServers({})
    assert.deepEqual(removed.removed, ['echo'])
    await talk.end()
  },
  async 'a sub-agent defined by the host'(t) {
    const at = await world(t, [
      call('Agent', { description: 'x', prompt: 'look', subagent_type: 'rev' }),
      bash('true'),
      { text: 'Found.' },
    ])
    const rev = { description: 'reviews', prompt: 'You are a strict reviewer.', tools: ['Bash'] }
    const { messages } = await ask(at, { ...bypass, agents: { rev } })
    assert.match(JSON.stringify(at.chats[1]), /You are a strict reviewer/)
    assert.deepEqual(
      at.chats[1]!.tools.map(({ name }) => name),
      ['Bash'],
    )
    const start = messages.find(({ type }) => type === 'assistant').message.content.at(-1)
    assert.ok(messages.some(({ type, parent_tool_use_id: parent }) => type === 'assistant' && parent === start.id))
  },
  async 'supportedCommands, supportedModels, supportedAgents, accountInfo'(t) {
    const at = await world(t)
    at.write('.claude/commands/deploy.md', '---\ndescription: Deploys\n---\nDeploy it.')
    const talk = converse(t, at, { settingSources: ['project'] })
    const commands = await talk.query.supportedCommands()
    assert.ok(commands.some(({ name }: Any) => name === 'deploy'))
    assert.ok((await talk.query.supportedModels()).length > 1)
    assert.ok((await talk.query.supportedAgents()).some(({ name }: Any) => name === 'general-purpose'))
    assert.equal(typeof (await talk.query.accountInfo()), 'object')
    await talk.end()
  },
  async 'a slash command of the project'(t) {
    const at = await world(t)
    at.write('.claude/commands/deploy.md', '---\ndescription: Deploys\n---\nDeploy $ARGUMENTS now.')
    await ask(at, { settingSources: ['project'] }, '/deploy staging')
    assert.match(JSON.stringify(at.chats[0]), /Deploy staging now\./)
  },
  async 'settingSources: [] reads no settings and no instructions'(t) {
    const at = await world(t, [touch('a')])
    at.write('CLAUDE.md', 'Speak like a pirate.')
    at.write('.claude/settings.json', { permissions: { deny: ['Bash'] } })
    await ask(at, { ...bypass, settingSources: [] })
    assert.doesNotMatch(JSON.stringify(at.chats[0]), /pirate/)
    assert.equal(ran(at, 'a'), true)
  },
  async 'settingSources: project reads both'(t) {
    const at = await world(t, [touch('a')])
    at.write('CLAUDE.md', 'Speak like a pirate.')
    at.write('.claude/settings.json', { permissions: { deny: ['Bash(touch *)'] } })
    await ask(at, { ...bypass, settingSources: ['project'] })
    assert.match(JSON.stringify(at.chats[0]), /pirate/)
    assert.equal(ran(at, 'a'), false)
  },
  async 'settings of the host'(t) {
    const at = await world(t, [touch('a')])
    await ask(at, { settings: { permissions: { allow: ['Bash(touch *)'] } } })
    assert.equal(ran(at, 'a'), true)
  },
  async 'outputFormat: a value that fits the schema'(t) {
    const at = await world(t, [{ text: '{"answer":42}' }])
    const schema = { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'] }
    const { result } = await ask(at, { outputFormat: { type: 'json_schema', schema } })
    assert.deepEqual(result.structured_output, { answer: 42 })
  },
  async 'outputFormat: no value that fits'(t) {
    const at = await world(t, [
      { text: 'no' },
      { text: 'no' },
      { text: 'no' },
      { text: 'no' },
      { text: 'no' },
      { text: 'no' },
    ])
    const schema = { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'] }
    const { result } = await ask(at, { outputFormat: { type: 'json_schema', schema } })
    assert.equal(result.subtype, 'error_max_structured_output_retries')
  },
  async getContextUsage(t) {
    const at = await world(t)
    const talk = converse(t, at)
    await talk.turn('go')
    const usage = await talk.query.getContextUsage()
    assert.ok(usage.totalTokens > 0 && usage.maxTokens >= usage.totalTokens && usage.categories.length > 2)
    await talk.end()
  },
  async 'rewindFiles puts a file back'(t) {
    const at = await world(t, [call('Write', { file_path: 'a', content: 'two' })])
    at.write('a', 'one')
    const talk = converse(t, at, {
      ...bypass,
      enableFileCheckpointing: true,
      extraArgs: { 'replay-user-messages': null },
    })
    const uuid = '7d7c2f4e-32f4-4c7d-9a55-0d7f5a1b2c3d'
    await talk.turn('write it, after reading', { uuid })
    const before = readFileSync(join(at.folder, 'a'), 'utf8')
    const rewound = await talk.query.rewindFiles(uuid)
    if (before === 'two') assert.equal(readFileSync(join(at.folder, 'a'), 'utf8'), 'one')
    assert.equal(rewound.canRewind, true)
    await talk.end()
  },
  async 'applyFlagSettings changes rules; what it cannot change is an error'(t) {
    const at = await world(t, [{ text: 'One.' }, touch('a')])
    const talk = converse(t, at)
    await talk.turn('go')
    await talk.query.applyFlagSettings({ permissions: { allow: ['Bash(touch *)'] } })
    await talk.turn('go')
    assert.equal(ran(at, 'a'), true)
    await assert.rejects(talk.query.applyFlagSettings({ spinnerTipsEnabled: false }))
    await talk.end()
  },
  async stopTask(t) {
    const at = await world(t, [call('Bash', { command: 'sleep 60', run_in_background: true })])
    const talk = converse(t, at, bypass)
    await talk.turn('go')
    const { task_id: id } = talk.messages.find(({ subtype }) => subtype === 'task_started')
    await talk.query.stopTask(id)
    await assert.rejects(talk.query.stopTask('nothing'))
    await talk.end()
  },
  async 'onElicitation answers a server'(t) {
    const at = await world(t, [call('mcp__echo__ask', {})])
    const args = [join(import.meta.dirname, 'echo-server.mjs')]
    const asked: Any[] = []
    await ask(at, {
      ...bypass,
      mcpServers: { echo: { command: process.execPath, args } },
      onElicitation: async ({ serverName, message }: Any) => {
        asked.push([serverName, message])
        return { action: 'accept', content: { name: 'Ada' } }
      },
    })
    assert.deepEqual(asked, [['echo', 'Who are you?']])
    assert.match(at.heard(), /hello Ada/)
  },
  async 'an API failure is a result with its status'(t) {
    const at = await world(t, [{ fail: { status: 400, message: 'bad request' } }])
    const { messages, result } = await ask(at)
    assert.deepEqual([result.is_error, result.terminal_reason, result.api_error_status], [true, 'api_error', 400])
    assert.ok(messages.some(({ type, error }) => type === 'assistant' && error === 'invalid_request'))
  },
  async 'thinking, effort and betas are accepted'(t) {
    const at = await world(t, [{ text: 'Hello.' }])
    const thinking = { type: 'enabled', budgetTokens: 2000 }
    const { result } = await ask(at, { thinking, effort: 'low', betas: ['context-1m-2025-08-07'] })
    assert.equal(result.result, 'Hello.')
  },
  async 'setMaxThinkingTokens(null)'(t) {
    const at = await world(t)
    const talk = converse(t, at)
    await talk.turn('go')
    await talk.query.setMaxThinkingTokens(null)
    await talk.end()
  },
  async includeHookEvents(t) {
    const at = await world(t, [touch('a')])
    const deny = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'guarded' }
    const { messages } = await ask(at, {
      ...bypass,
      includeHookEvents: true,
      hooks: { PreToolUse: hook(() => ({ hookSpecificOutput: deny })) },
    })
    assert.ok(messages.some(({ subtype }) => subtype === 'hook_response'))
  },
  async 'stderr and debugFile'(t) {
    const at = await world(t)
    const file = join(at.home, 'debug.log')
    const { result } = await ask(at, { debugFile: file })
    assert.ok(result && existsSync(file))
  },
  async 'a local plugin'(t) {
    const at = await world(t)
    at.write('plug/.claude-plugin/plugin.json', { name: 'plug' })
    at.write('plug/commands/hello.md', '---\ndescription: Greets\n---\nSay hello to $ARGUMENTS.')
    const plugins = [{ type: 'local', path: join(at.folder, 'plug') }]
    await ask(at, { plugins }, '/plug:hello Ada')
    assert.match(JSON.stringify(at.chats[0]), /Say hello to Ada\./)
  },
}

for (const [name, check] of Object.entries(features)) test(name, { timeout: 60_000 }, check)
