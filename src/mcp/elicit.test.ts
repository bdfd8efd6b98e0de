import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlane } from '../hooks/dispatch.ts'
import type { Invocation, Scope } from '../hooks/plane.ts'
import { readHooks } from '../hooks/settings.ts'
import { type ElicitationAnswer, elicit } from './elicit.ts'

const asked = { server: 'forms', message: 'Your name?', mode: 'form' as const, schema: { type: 'object' } }
const say = (event: string, output: object) =>
  `printf %s '${JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...output } })}'`

async function round(hooks: object[], user: ElicitationAnswer | undefined) {
  const { handlers, problems } = readHooks({ hooks }, { source: { kind: 'settings' } })
  assert.deepEqual(problems, [])
  const rows: Invocation[] = []
  const scope: Scope = {
    sessionId: 's',
    conversationId: 'c',
    dbPath: '/db',
    cwd: process.cwd(),
    record: (row) => rows.push(row),
  }
  let userAsked = 0
  const answer = await elicit(asked, {
    plane: createPlane(handlers),
    scope,
    ask: async () => {
      userAsked++
      return user
    },
  })
  return { answer, userAsked, events: rows.map((row) => row.event) }
}

test('without hooks the user answers; without a user it is cancelled', async () => {
  assert.deepEqual(await round([], { action: 'accept', content: { name: 'Ada' } }), {
    answer: { action: 'accept', content: { name: 'Ada' } },
    userAsked: 1,
    events: [],
  })
  assert.deepEqual((await round([], undefined)).answer, { action: 'cancel' })
})

test('a hook may answer for the user, and another sees the answer before the server does', async () => {
  const hooks = [
    {
      hook_event_name: 'Elicitation',
      matcher: 'forms',
      shell: 'sh',
      command: say('Elicitation', { action: 'accept', content: { name: 'Bot' } }),
    },
    { hook_event_name: 'ElicitationResult', shell: 'sh', command: 'grep -q Bot' },
  ]
  assert.deepEqual(await round(hooks, undefined), {
    answer: { action: 'accept', content: { name: 'Bot' } },
    userAsked: 0,
    events: ['Elicitation', 'ElicitationResult'],
  })
  const changed = [
    { hook_event_name: 'ElicitationResult', shell: 'sh', command: say('ElicitationResult', { action: 'decline' }) },
  ]
  assert.deepEqual((await round(changed, { action: 'accept', content: {} })).answer, { action: 'decline' })
})

test('exit 2 declines, before the user is asked and after', async () => {
  const before = [{ hook_event_name: 'Elicitation', shell: 'sh', command: 'echo no >&2; exit 2' }]
  assert.deepEqual(await round(before, { action: 'accept' }), {
    answer: { action: 'decline' },
    userAsked: 0,
    events: ['Elicitation'],
  })
  const after = [{ hook_event_name: 'ElicitationResult', shell: 'sh', command: 'exit 2' }]
  assert.deepEqual((await round(after, { action: 'accept' })).answer, { action: 'decline' })
})
