import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { type TestOptions, type TestSession, testSession } from '../../test/support/agent-session.ts'
import type { Line } from '../../test/support/model/scripted-model.ts'
import { defineHook } from '../hooks/define.ts'
import { textBlock } from '../hooks/step/blocks.ts'
import type { ModelRequest } from '../providers/model.ts'
import type { PermissionRequest } from './events.ts'
import { runTurn } from './turn.ts'

const open: TestSession[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.end()
})

const agents = (...prompts: string[]) => ({
  calls: prompts.map((prompt) => ({ id: prompt, name: 'Agent', input: { description: prompt, prompt } })),
})
const text = (request: ModelRequest) =>
  request.messages.flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : ''))).join('')

/** One function of the request plays everyone: requests of agents side by side come in any order. */
function start(play: (asked: string, request: ModelRequest) => Line | Promise<Line>, options: TestOptions = {}) {
  const script = Array.from({ length: 60 }, (): Line => (request) => play(text(request), request))
  const started = testSession({ mode: 'bypassPermissions', ...options, script })
  open.push(started)
  return started
}
const say = (it: TestSession) => runTurn(it.session, [textBlock('go')])
const results = (it: TestSession) =>
  it
    .transcript()
    .filter(({ _t }) => _t === 'tool_result')
    .map(({ tool_use_id, content }) => [tool_use_id, String(content).split('\n')[0]!] as const)
const rows = (it: TestSession) =>
  it
    .rows<{ event: string; id: string | null }>(
      `SELECT hook_event AS event, tool_use_id AS id FROM hook_invocations WHERE session_id = '${it.session.id}' ORDER BY hook_invocations.id`,
    )
    .map(({ event, id }) => (id ? `${event} ${id}` : event))

const taken = (request: ModelRequest) => request.messages.some(({ role }) => role === 'assistant')
const listening = ['PreToolUse', 'TaskCreated', 'TaskCompleted', 'PostToolUse'] as const

test('agents of one reply work at the same time; hooks, rows and results keep the order of the reply', async () => {
  const met = Promise.withResolvers<void>()
  const lastIsDone = Promise.withResolvers<void>()
  const order: string[] = []
  const it = start(
    async (asked, request) => {
      if (asked === 'go') return taken(request) ? 'All of them.' : agents('a', 'b', 'c')
      order.push(asked)
      if (order.length === 3) met.resolve()
      await met.promise // none is answered before all have asked
      if (asked === 'c') lastIsDone.resolve()
      else await lastIsDone.promise
      return `${asked} is done`
    },
    { handlers: listening.map((event) => defineHook(event, () => undefined)) },
  )
  assert.deepEqual(await say(it), { stop: 'end_turn', text: 'All of them.' })
  assert.deepEqual(order, ['a', 'b', 'c'])
  assert.deepEqual(results(it), [
    ['a', 'a is done'],
    ['b', 'b is done'],
    ['c', 'c is done'],
  ])
  assert.deepEqual(rows(it), [
    ...['a', 'b', 'c'].flatMap((id) => [`PreToolUse ${id}`, 'TaskCreated']),
    ...['a', 'b', 'c'].flatMap((id) => ['TaskCompleted', `PostToolUse ${id}`]),
  ])
  const answer = it.session.messages.findLast(({ role }) => role === 'user')!
  assert.deepEqual(
    answer.content.map((block) => block.type === 'tool_result' && block.tool_use_id),
    ['a', 'b', 'c'],
  )
})

test('one that a hook denies has its result in its place; calls of other tools are not overtaken', async () => {
  const it = start(
    (asked, request) => {
      if (asked !== 'go') return `${asked} is done`
      const { calls } = agents('a', 'b', 'c')
      return taken(request) ? 'Done.' : { calls: [...calls, { id: 'list', name: 'Glob', input: { pattern: '*.md' } }] }
    },
    {
      handlers: [
        defineHook('PreToolUse', ({ tool_use_id }) =>
          tool_use_id === 'b' ? { decision: 'block', reason: 'not b' } : undefined,
        ),
      ],
    },
  )
  await say(it)
  assert.deepEqual(results(it), [
    ['a', 'a is done'],
    ['b', 'not b'],
    ['c', 'c is done'],
    ['list', 'No files found'],
  ])
})

test('a hook that ends the turn after the first stops those at work and starts no more', async () => {
  const it = start(
    async (asked, request) => {
      if (asked === 'go') return agents(...'abcdefghijkl')
      if (asked === 'a') return 'a is done'
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }))
      return { failure: { kind: 'network', message: 'interrupted' } }
    },
    { handlers: [defineHook('PostToolUse', () => ({ continue: false, stopReason: 'enough' }))] },
  )
  assert.deepEqual(await say(it), { stop: 'end_turn', text: '', why: 'enough' })
  const stopped = results(it).map(([id, said]) => [id, said.replace(/ \(.*/, '')])
  const [first, ...others] = 'abcdefghijkl'
  assert.deepEqual(stopped, [
    [first, 'a is done'],
    ...others.slice(0, 9).map((id) => [id, 'the agent stopped']),
    ...others.slice(9).map((id) => [id, '[SDLC_INTERNAL] interrupted: enough']),
  ])
})

test('under the rehearsal model they run one after another: a script plays its lines in order', async () => {
  const order: string[] = []
  const it = start((asked, request) => {
    if (asked === 'go') return taken(request) ? 'Done.' : agents('a', 'b')
    order.push(taken(request) ? `${asked} again` : asked)
    return taken(request) ? 'done' : { calls: [{ name: 'Glob', input: { pattern: '*' } }] }
  })
  it.session.model = { ...it.session.model, rehearsal: true }
  await say(it)
  assert.deepEqual(order, ['a', 'a again', 'b', 'b again'])
})

test('an interrupt stops all of them, and each call has a result', async () => {
  let at = 0
  const it: TestSession = start(async (asked, request) => {
    if (asked === 'go') return agents('a', 'b')
    const stopped = new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }))
    if (++at === 2) it.session.interrupt()
    await stopped
    return { content: [], stop: 'cancelled', usage, model: 'scripted' }
  })
  assert.equal((await say(it)).stop, 'cancelled')
  assert.deepEqual(results(it), [
    ['a', 'the agent stopped (cancelled)'],
    ['b', 'the agent stopped (cancelled)'],
  ])
})

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }

test('prompts of several come one at a time, and what the user always allows is not prompted for again', async () => {
  const prompts: PermissionRequest[] = []
  let shown = 0
  const all = Promise.withResolvers<void>()
  let asking = 0
  const it = start(
    async (asked, request) => {
      if (asked === 'go') return taken(request) ? 'Done.' : agents('a', 'b', 'c')
      if (taken(request)) return 'done'
      if (++asking === 3) all.resolve()
      await all.promise
      return { calls: [{ id: `x${asked}`, name: 'Bash', input: { command: 'touch here' } }] }
    },
    {
      mode: 'default',
      permissions: { allow: ['Agent'] },
      user: {
        async permission(request) {
          assert.equal(++shown, 1, 'one at a time')
          prompts.push(request)
          await new Promise((resolve) => setImmediate(resolve))
          shown--
          return {
            allow: true,
            updates: [request.suggestions[0]!].map((each) => ({ ...each, destination: 'session' })),
          }
        },
      },
    },
  )
  await say(it)
  assert.deepEqual(
    prompts.map(({ tool, agent }) => [tool, agent]),
    [['Bash', 'general-purpose']],
  )
  assert.deepEqual(
    it.rows("SELECT count(*) AS n FROM events WHERE event_type = 'tool_start' AND detail LIKE '%\"Bash\"%'"),
    [{ n: 3 }],
  )
  assert.ok(it.session.permissions.allow!.length > 1, 'the rule holds for the session')
})
