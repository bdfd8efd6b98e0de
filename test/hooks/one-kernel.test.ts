/** One table of handler behaviours through the three fronts of the kernel: the agent's rounds, the dispatcher, the SDK. */
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { askModules } from '../../src/dispatcher/ask-modules.ts'
import { testRun } from '../../src/dispatcher/setup/testing.ts'
import type { HookModule } from '../../src/dispatcher/types.ts'
import { defineHook } from '../../src/hooks/define.ts'
import { createPlane } from '../../src/hooks/dispatch.ts'
import { describe } from '../../src/hooks/kernel.ts'
import { defineAgent } from '../../src/sdk/agent.ts'
import { Context } from '../../src/sdk/context.ts'
import { fire, type HookFailure, readHooks } from '../../src/sdk/hooks.ts'

type Behaviour = () => unknown
type Class = 'answered' | 'failed' | 'timed-out'

const limitMs = 60
const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic
const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error('no')
    },
    getPrototypeOf() {
      throw new Error('no')
    },
  },
)
const throws = (thrown: unknown) => () => {
  throw thrown
}
/** Answers when the wait is over. */
const late = () =>
  new Promise((resolve) => setTimeout(resolve, 4 * limitMs, { decision: 'block', block: { reason: 'late' } }))
const oddError = Object.assign(new Error('x'), { message: { toString: null } })

const behaviours: Record<string, { readonly does: Behaviour; readonly is: Class; readonly unread?: Class }> = {
  'says nothing': { does: () => undefined, is: 'answered' },
  'says null': { does: () => null, is: 'answered' },
  'answers at once': { does: () => ({}), is: 'answered' },
  'answers with a promise': { does: async () => ({}), is: 'answered' },
  'answers with a thenable': {
    // biome-ignore lint/suspicious/noThenProperty: the point of the case
    does: () => ({ then: (done: (value: unknown) => void) => done({}) }),
    is: 'answered',
  },
  'throws an error': { does: throws(new Error('x')), is: 'failed' },
  'throws text': { does: throws('x'), is: 'failed' },
  'throws nothing': { does: throws(undefined), is: 'failed' },
  'throws an object without a prototype': { does: throws(Object.create(null)), is: 'failed' },
  'throws a symbol': { does: throws(Symbol('x')), is: 'failed' },
  'throws a hostile proxy': { does: throws(hostile), is: 'failed' },
  'throws an error with an odd message': { does: throws(oddError), is: 'failed' },
  rejects: { does: () => Promise.reject(new Error('x')), is: 'failed' },
  'rejects with an object without a prototype': { does: () => Promise.reject(Object.create(null)), is: 'failed' },
  'returns a thenable that throws': {
    // biome-ignore lint/suspicious/noThenProperty: the point of the case
    does: () => ({ then: throws(new Error('x')) }),
    is: 'failed',
  },
  hangs: { does: () => new Promise(() => {}), is: 'timed-out' },
  'answers late': { does: late, is: 'timed-out' },
  'rejects late': {
    does: () => new Promise((_, reject) => setTimeout(reject, 4 * limitMs, new Error('late'))),
    is: 'timed-out',
  },
  'returns a number': { does: () => 42, is: 'failed', unread: 'answered' },
  'returns text': { does: async () => 'yes', is: 'failed', unread: 'answered' },
  'returns a list': { does: () => [], is: 'failed', unread: 'answered' },
  'returns a cycle': { does: () => cyclic, is: 'failed', unread: 'answered' },
  'promises a cycle': { does: async () => cyclic, is: 'failed', unread: 'answered' },
}

interface Front {
  /** What became of the behaviour, and whether the handler after it was asked. */
  ask(does: Behaviour): Promise<{ is: Class; next: boolean }>
  /** What is returned there is not read: the hooks only watch. */
  readonly watches?: true
}

const classOf = (failed: boolean, timedOut: boolean): Class => (timedOut ? 'timed-out' : failed ? 'failed' : 'answered')

const fronts: Record<string, Front> = {
  agent: {
    async ask(does) {
      const heard: string[] = []
      const plane = createPlane([
        defineHook('Notification', does as never, { name: 'first', timeoutMs: limitMs }),
        defineHook('Notification', () => void heard.push('next') as undefined, { name: 'next' }),
      ])
      const rows: string[] = []
      const answer = await plane.raise(
        'Notification',
        { message: 'm', notification_type: 't' },
        {
          sessionId: 's',
          conversationId: 'c',
          dbPath: '/db',
          cwd: '/',
          record: (row) => rows.push(`${row.command}: ${row.stderr ?? ''}`),
        },
      )
      assert.equal(rows.length, 2)
      const note = answer.notes.find(({ effect }) => effect === 'failed')
      return {
        is: classOf(note !== undefined, note?.reason.includes('timed out after') ?? false),
        next: heard.length === 1,
      }
    },
  },
  dispatcher: {
    async ask(does) {
      const heard: string[] = []
      const run = testRun(mkdtempSync(join(tmpdir(), 'kernel-')), { module: 'first', event: 'PostToolUse' })
      Object.assign(run, { budgetMs: limitMs })
      const seat = (name: string, handle: () => unknown) => ({
        name,
        priority: 1,
        critical: name === 'next',
        own: false,
        module: { name, supports: new Set(['PostToolUse']), handle } as unknown as HookModule,
      })
      await askModules(run, [seat('first', does), seat('next', () => void heard.push('next'))])
      const kinds = run.events.map(({ kind }) => kind)
      return {
        is: classOf(kinds.includes('ERROR_MODULE'), kinds.includes('BUDGET_EXCEEDED')),
        next: heard.length === 1,
      }
    },
  },
  sdk: {
    watches: true,
    async ask(does) {
      const heard: string[] = []
      const failures: HookFailure[] = []
      await fire(
        {
          agent: defineAgent({ name: 'a', model: 'rehearsal', instructions: 'x' }),
          context: new Context({}) as Context<never>,
          hooks: readHooks('test', { onStart: [does, () => void heard.push('next')] }),
          timeoutMs: limitMs,
          failed: (failure) => failures.push(failure),
        },
        'onStart',
        { input: 'x' },
      )
      return {
        is: classOf(
          failures.length > 0,
          failures.some(({ cause }) => describe(cause).includes('did not settle')),
        ),
        next: heard.length === 1,
      }
    },
  },
}

test('the three fronts agree on what became of a handler, and go on with the next one', async () => {
  const found: Record<string, unknown> = {}
  const wanted: Record<string, unknown> = {}
  for (const [name, { does, is, unread }] of Object.entries(behaviours))
    for (const [front, { ask, watches }] of Object.entries(fronts)) {
      found[`${front}: ${name}`] = await ask(does)
      wanted[`${front}: ${name}`] = { is: (watches && unread) || is, next: true }
    }
  assert.deepEqual(found, wanted)
})
