import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createPlane, type PlaneOptions } from '../dispatch.ts'
import type { Invocation, Scope } from '../plane.ts'
import { readHooks } from '../settings.ts'
import type { Steps } from '../steps.ts'
import { questionOf } from './prompt.ts'
import { urlProblem } from './url.ts'

async function ask(hook: object, options: PlaneOptions = {}, signal?: AbortSignal) {
  const { handlers, problems } = readHooks(
    { hooks: [{ hook_event_name: 'PreToolUse', ...hook }] },
    { source: { kind: 'settings' } },
  )
  assert.deepEqual(problems, [])
  const rows: Invocation[] = []
  const scope: Scope = {
    sessionId: 's',
    conversationId: 'c',
    dbPath: '/db',
    cwd: '/',
    ...(signal && { signal }),
    record: (row) => rows.push(row),
  }
  const fields = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't' }
  const answer = await createPlane(handlers, options).raise('PreToolUse', fields, scope)
  return { answer, row: rows[0]! }
}

async function served<T>(
  serve: (request: IncomingMessage, body: string, response: ServerResponse) => void,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    serve(request, body, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=1`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const denying = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } }

test('a URL gets the event and the headers, and its JSON is the answer', async () => {
  const seen: unknown[] = []
  const { answer, row } = await served(
    (request, body, response) => {
      seen.push(request.method, request.headers.authorization, JSON.parse(body).tool_name)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(denying))
    },
    (url) =>
      ask(
        { type: 'http', url, headers: { Authorization: 'Key $TOKEN$OTHER' }, allowedEnvVars: ['TOKEN'] },
        { env: { TOKEN: 'abc', OTHER: 'hidden' } },
      ),
  )
  assert.deepEqual([seen, answer.decision], [['POST', 'Key abc', 'Bash'], 'deny'])
  assert.deepEqual([row.exitCode, row.stdout, row.stderr], [null, JSON.stringify(denying), null])
  assert.match(row.command, /^http:http:\/\/127\.0\.0\.1:\d+\/hook$/)
})

const open = 'failed open: PreToolUse went on unchecked ("onFailure": "refuse" refuses instead)'

test('a URL that fails, sends too much, or is not there is passed over and recorded', async () => {
  const failing = await served(
    (_, __, response) => response.writeHead(500).end('broken'),
    (url) => ask({ type: 'http', url }),
  )
  assert.deepEqual(
    [failing.answer.decision, failing.row.stderr, failing.row.stdout],
    ['none', `answered 500\n[SDLC_HOOK] ${open}`, 'broken'],
  )
  const flood = await served(
    (_, __, response) => response.end('x'.repeat(5_000_000)),
    (url) => ask({ type: 'http', url }),
  )
  assert.match(flood.row.stderr!, /more than 4194304 bytes/)
  const gone = await ask({ type: 'http', url: 'http://127.0.0.1:1/' })
  assert.match(gone.row.stderr!, /ECONNREFUSED/)
})

test('a header that HTTP forbids is a failure, not a wait', async () => {
  const { answer, row } = await ask({ type: 'http', url: 'http://127.0.0.1:1/', headers: { a: 'b\nc' } })
  assert.equal(answer.decision, 'none')
  assert.match(row.stderr!, /Invalid character in header content/)
})

test('a URL that does not answer in time counts as exit 2 before a tool', async () => {
  const { answer } = await served(
    () => {},
    (url) => ask({ type: 'http', url, timeout_ms: 50 }),
  )
  assert.deepEqual([answer.decision, answer.reason], ['deny', '[0] timed out after 50 ms'])
})

test('an interrupt does not wait for a URL', async () => {
  const controller = new AbortController()
  const { answer, row } = await served(
    () => controller.abort(),
    (url) => ask({ type: 'http', url }, {}, controller.signal),
  )
  assert.deepEqual([answer.decision, row.stderr], ['deny', 'was interrupted'])
})

test('only https, and http on this machine', () => {
  assert.deepEqual(['https://a.b/', 'http://localhost:1/', 'http://[::1]/', 'http://127.0.0.9/'].map(urlProblem), [
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  for (const url of ['http://127.0.0.1.evil.com/', 'http://10.0.0.1/', 'ftp://a/', 'x']) assert.ok(urlProblem(url))
})

test('a model is asked with the event in its question, and its no blocks', async () => {
  const asked: string[] = []
  const reply = (text: string): PlaneOptions => ({
    askModel: async ({ prompt }) => {
      asked.push(prompt)
      return text
    },
  })
  const no = await ask(
    { type: 'prompt', prompt: 'Safe? $ARGUMENTS!' },
    reply('```json\n{"ok":false,"reason":"risky"}\n```'),
  )
  assert.deepEqual([no.answer.decision, no.answer.reason], ['deny', 'risky'])
  assert.match(asked[0]!, /^Safe\? \{"hook_event_name":"PreToolUse".*\}!$/)
  assert.equal((await ask({ type: 'prompt', prompt: 'x' }, reply('{"ok":true}'))).answer.decision, 'none')
  const vague = await ask({ type: 'prompt', prompt: 'x' }, reply('I would say yes'))
  assert.match(vague.row.stderr!, /the model did not answer with/)
  assert.match((await ask({ type: 'prompt', prompt: 'x' })).row.stderr!, /no model is at hand/)
})

test('at a step a model may steer with a verdict, and any other words are for the agent', async () => {
  const { handlers } = readHooks(
    {
      hooks: [
        {
          hook_event_name: 'before_turn_end',
          type: 'prompt',
          system: 'Judge.',
          render: { template: '{{stop_reason}}?' },
        },
      ],
    },
    { source: { kind: 'settings' } },
  )
  const end = async (reply: string) => {
    const asked: unknown[] = []
    const plane = createPlane(handlers, {
      askModel: async ({ system, prompt }) => {
        asked.push(system, prompt)
        return reply
      },
    })
    const scope: Scope = { sessionId: 's', conversationId: 'c', dbPath: '', cwd: '/', record() {} }
    const step: Steps['before_turn_end'] = { stopReason: 'end_turn', continuesSoFar: 0, voluntary: true, feedback: [] }
    const { control } = await plane.ask('before_turn_end', step, scope)
    return [asked, control.kind, step.feedback.map((block) => block.type === 'text' && block.text)]
  }
  const asked = ['Judge.', 'end_turn?']
  assert.deepEqual(await end('{"control":"continue","additional_context":["more"]}'), [asked, 'continue', ['more']])
  assert.deepEqual(await end('looks fine'), [asked, 'proceed', ['looks fine']])
  assert.deepEqual(await end(' '), [asked, 'proceed', []])
})

test('a question without a place for the event has it at its end', () => {
  const handler = readHooks(
    { hooks: [{ hook_event_name: 'Stop', type: 'prompt', prompt: 'Done?' }] },
    { source: { kind: 'settings' } },
  ).handlers[0]!
  assert.equal(questionOf(handler as never, { a: 1 }), 'Done?\n\n{"a":1}')
})
