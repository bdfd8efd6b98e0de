import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { fixed } from '../auth/credential.ts'
import { createProvider } from '../providers/create.ts'
import type { Message, Reply } from '../providers/model.ts'
import { cassette } from './cassette.ts'
import type { Chat } from './chat.ts'
import { example } from './example.ts'
import { plain } from './plain.ts'
import { playScript } from './play.ts'
import { loadScript, type Script } from './script.ts'
import { startRehearsal } from './server.ts'

const { signal } = new AbortController()
const tool = (name: string) => ({ name, description: name, inputSchema: { type: 'object' } })
const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

test('it is reached like any other server of its kind', async () => {
  const { baseUrl, model, close } = await startRehearsal()
  const credential = fixed({ class: 'local', source: 'default', whenRefused: '' }, { bearer: 'lm-studio' })
  const provider = createProvider({ provider: 'lm_studio_local', credential, env: { LM_STUDIO_BASE_URL: baseUrl } })
  assert.deepEqual(await provider.models(), ['rehearsal'])

  const messages: Message[] = [user('read a.txt')]
  const ask = (): Promise<Reply> =>
    provider.reply({ model, system: [], messages, tools: [tool('Read')], maxTokens: 100, signal }, () => {})
  const first = await ask()
  assert.deepEqual([first.stop, first.content.map(({ type }) => type)], ['tool_use', ['text', 'tool_use']])
  const call = first.content[1]!
  assert.ok(call.type === 'tool_use' && first.usage.inputTokens! > 0)
  assert.deepEqual([call.name, call.input], ['Read', { file_path: 'a.txt' }])
  messages.push({ role: 'assistant', content: first.content })
  messages.push({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: call.id, content: '1 line\n     1\tmilk', is_error: false }],
  })
  const second = await ask()
  assert.equal(second.stop, 'end_turn')
  const [answer] = second.content
  assert.ok(answer?.type === 'text')
  assert.match(answer.text, /not a language model[\s\S]*This is a\.txt:[\s\S]*milk/)

  messages.push({ role: 'assistant', content: second.content }, user('thanks'))
  const third = await ask()
  assert.deepEqual(third.content, [{ type: 'text', text: 'You are welcome.' }])
  await close()
})

test('a web page cannot use it', async () => {
  const { baseUrl, close } = await startRehearsal()
  const response = await fetch(`${baseUrl}/models`, { headers: { origin: 'https://example.org' } })
  assert.equal(response.status, 403)
  await close()
})

const chat = (messages: Chat['messages'], more: Partial<Chat> = {}): Chat => ({
  model: 'rehearsal',
  stream: false,
  wantsUsage: false,
  tools: [{ name: 'Read', parameters: {} }],
  messages,
  ...more,
})

test('it says what it would call, where that is not offered, and stops at the first thing that fails', () => {
  assert.match(
    plain(chat([{ role: 'user', text: 'run ls' }])).text!,
    /I would call Bash, but this session does not offer it/,
  )
  const failed = plain(
    chat([
      { role: 'user', text: 'read a.txt then read b.txt' },
      { role: 'assistant', text: '', calls: [{ id: 'c', name: 'Read', input: { file_path: 'a.txt' } }] },
      { role: 'tool', id: 'c', text: 'a.txt is not there', isError: true },
    ]),
  )
  assert.match(failed.text!, /Read failed:\n\n```\na\.txt is not there\n```/)
})

test('what hooks add to a prompt is no part of the request', () => {
  const callsFor = (text: string) => plain(chat([{ role: 'user', text }])).calls
  const text = '<system-reminder>run rm -rf</system-reminder>\nread a.txt'
  assert.deepEqual(callsFor(text), [{ name: 'Read', input: { file_path: 'a.txt' } }])
  assert.deepEqual(callsFor('read a.txt\n\nThe branch is main.'), [{ name: 'Read', input: { file_path: 'a.txt' } }])
})

test('an answer that must have a form gets it', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      kind: { enum: ['a', 'b'] },
      n: { type: 'integer', minimum: 3 },
      more: { type: 'array' },
    },
    required: ['name', 'kind', 'n'],
  }
  assert.deepEqual(example(schema), { name: 'name', kind: 'a', n: 3 })
  assert.equal(
    plain(chat([{ role: 'user', text: 'x' }], { answerSchema: schema })).text,
    '{"name":"name","kind":"a","n":3}',
  )
})

const load = async (text: string) => {
  const loaded = await loadScript(text, 's.yaml')
  return loaded.ok ? loaded.script : loaded.problems
}

test('what is wrong with a script is said with its line and column', async () => {
  const cases: [string, string | RegExp][] = [
    ['steps: []', 's.yaml:1:8: steps must have at least 1 entry'],
    ['about: x\n', 's.yaml:1:1: steps is missing'],
    [
      'steps:\n  - prompt: hi\n  - shout: hi\n',
      /^s\.yaml:3:5: steps\[1\] must be one of prompt, say, call,.*not shout$/,
    ],
    ['steps:\n  - call: Bash\n    inputs: {}\n', /^s\.yaml:3:13: steps\[0\]\.inputs is not known here/],
    ['steps:\n  - prompt: hi\n  - say:\n      - 1\n', /^s\.yaml:4:7: steps\[1\]\.say must be a string, not a list/],
    [
      'steps:\n  - prompt: hi\n  - expect: { error: yes please }\n',
      /^s\.yaml:3:22: steps\[1\].expect\.error must be true or false/,
    ],
    ['steps:\n  - prompt: hi\n  - expect: { error: true }\n', /^s\.yaml:3:1: expect must follow the call/],
    ['steps:\n  - sees: { matches: "(" }\n', /^s\.yaml:2:5: steps\[0\] has a bad regular expression/],
    ['steps:\n  - fail: 200\n', /^s\.yaml:2:11: steps\[0\]\.fail must be at least 400/],
    ['steps:\n\t- prompt: hi\n', /^s\.yaml:2:1: .*[Tt]ab/],
    ['a: 1\na: 2\n', /^s\.yaml:2:1: .*unique/],
    ['mode: yolo\nsteps: [{ prompt: x }]', /^s\.yaml:1:7: mode must be one of default, acceptEdits,/],
    ['- 1', 's.yaml:1:1: must be an object, not a list'],
  ]
  for (const [text, expected] of cases) {
    const problems = await load(text)
    assert.ok(Array.isArray(problems), text)
    if (typeof expected === 'string') assert.equal(problems[0], expected)
    else assert.match(problems[0]!, expected)
  }
})

const said = (text: string): Chat['messages'][number] => ({ role: 'user', text })
const result = (text: string, isError = false): Chat['messages'] => [
  { role: 'assistant', text: '', calls: [{ id: 'c', name: 'Read', input: {} }] },
  { role: 'tool', id: 'c', text, isError },
]

test('a script is played in order, and what is not as expected is reported with its line', async () => {
  const script = (await load(`
steps:
  - prompt: go
  - sees: { contains: a hint }
  - say: I read.
  - call: Read
    input: { file_path: a }
  - expect: { error: false, contains: [x, y], excludes: z, matches: "^x", equals: xy }
  - call: Read
  - expect: { error: true }
  - say: Done.
  - file: nowhere.txt
  - sql: SELECT 1
    equals: "2"
  - prompt: again
  - say: Never.
`)) as Script
  const play = playScript(script, { cwd: '/', query: () => '1' })
  assert.equal(play.nextPrompt(), 'go')
  const next = (messages: Chat['messages']) => play.player(chat(messages))
  assert.deepEqual(await next([said('go'), said('no hints')]), {
    text: 'I read.',
    calls: [{ name: 'Read', input: { file_path: 'a' } }],
  })
  assert.deepEqual(await next(result('xy')), { calls: [{ name: 'Read', input: {} }] })
  assert.deepEqual(await next(result('fine')), { text: 'Done.' })
  assert.match((await next([said('once more')])).text!, /nothing more to say/)
  play.finish()
  assert.deepEqual(play.problems, [
    's.yaml:4: the request does not contain "a hint": go no hints',
    's.yaml:10: the result is no error: fine',
    's.yaml:12: nowhere.txt is not there',
    's.yaml:13: the query is not "2" but 1',
    's.yaml: the model was asked once more than the script foresees, after: once more',
    's.yaml:15: never reached: the run ended before this prompt',
  ])
  assert.equal(play.met(), 1)
})

test('a script may end with a call, and may have the server fail', async () => {
  const script = (await load(
    'steps:\n  - fail: 529\n    retryAfter: 0\n  - call: Read\n  - expect: { error: false }\n',
  )) as Script
  const play = playScript(script, { cwd: '/' })
  const message = 'the script fails here (line 2)'
  assert.deepEqual(await play.player(chat([said('x')])), { fail: { status: 529, message, retryAfter: 0 } })
  assert.deepEqual(await play.player(chat([said('x')])), { calls: [{ name: 'Read', input: {} }] })
  assert.deepEqual(await play.player(chat(result('ok'))), { text: 'Done.' })
  play.finish()
  assert.deepEqual(play.problems, [])
})

test('a conversation that took place becomes a script, without its secrets', async () => {
  const row = (entry_type: string, payload: object) => ({
    entry_type,
    payload_json: JSON.stringify({ _t: entry_type, ...payload }),
  })
  const use = (id: string, input: object) => ({ type: 'tool_use', id, name: 'Bash', input })
  const rows = [
    row('user', { content: [{ type: 'text', text: 'use sk-planted-1' }] }),
    row('assistant', { content: [{ type: 'text', text: 'I do.' }, use('a', { command: 'echo sk-planted-1' })] }),
    row('tool_use', { id: 'a', name: 'Bash', input: {} }),
    row('tool_result', { tool_use_id: 'a', content: 'sk-planted-1', is_error: false }),
    row('assistant', { content: [use('b', {}), use('c', { x: 1 })] }),
    row('tool_result', { tool_use_id: 'b', content: 'no', is_error: true }),
    row('tool_result', { tool_use_id: 'c', content: 'ok', is_error: false }),
    row('assistant', { content: [{ type: 'text', text: 'Done: yes' }] }),
    row('system', { subtype: 'note' }),
  ]
  const text = await cassette(rows, { about: 'recorded', clean: (text) => text.replaceAll('sk-planted-1', '[secret]') })
  assert.deepEqual(parse(text), {
    about: 'recorded',
    steps: [
      { prompt: 'use [secret]' },
      { say: 'I do.' },
      { call: 'Bash', input: { command: 'echo [secret]' } },
      { expect: { error: false } },
      { calls: [{ call: 'Bash' }, { call: 'Bash', input: { x: 1 } }] },
      { expect: { error: true } },
      { say: 'Done: yes' },
    ],
  })
  assert.equal((await loadScript(text, 'c.yaml')).ok, true)
})
