import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mechanic } from '../../test/support/host-suite.ts'
import type { BrainHooksAdapter } from '../hosts/adapter.ts'
import { type BrainHook, uniqueOf } from '../hosts/hook.ts'
import { applyChanges, diffHooks, syncRoleHooksIntoBrainRepl } from './sync.ts'

const hook = (command: string, over: Partial<BrainHook> = {}): BrainHook => ({
  author: 'repo=acme/role=mechanic',
  event: 'onStop',
  command,
  timeout: 'PT5S',
  ...over,
})

/** A supplier's adapter that keeps its hooks in memory and writes down what it was asked for. */
function memory(hooks: BrainHook[]) {
  const asked: string[] = []
  const set = async ({ hook }: { hook: BrainHook }) => {
    asked.push(`upsert ${hook.command}`)
    if (hook.command === 'explode') throw new Error('boom')
    const index = hooks.findIndex((one) => uniqueOf(one) === uniqueOf(hook))
    hooks.splice(index < 0 ? hooks.length : index, index < 0 ? 0 : 1, hook)
    return hook
  }
  const adapter: BrainHooksAdapter = {
    dao: {
      get: {
        one: async ({ by }) => hooks.find((one) => uniqueOf(one) === uniqueOf(by.unique)) ?? null,
        all: async ({ by } = {}) => hooks.filter(({ author }) => !by?.author || author === by.author),
      },
      set: { upsert: set, findsert: set },
      del: async ({ by }) => {
        asked.push(`del ${by.unique.command}`)
        hooks.splice(0, hooks.length, ...hooks.filter((one) => uniqueOf(one) !== uniqueOf(by.unique)))
      },
    },
  }
  return { adapter, asked, hooks }
}

test('syncRoleHooksIntoBrainRepl: the difference between found and declared', () => {
  const found = [hook('same'), hook('longer'), hook('gone')]
  const declared = [hook('new'), hook('same', { timeout: { seconds: 5 } }), hook('longer', { timeout: 'PT9S' })]
  assert.deepEqual(
    diffHooks(found, declared).map(({ kind, hook: { command } }) => `${kind} ${command}`),
    ['create new', 'keep same', 'update longer', 'delete gone'],
  )
})

test('syncRoleHooksIntoBrainRepl: a stale hook is removed, a changed one updated, others and other authors are left alone', async () => {
  const other = hook('theirs', { author: 'repo=acme/role=other' })
  const { adapter, asked, hooks } = memory([hook('stale'), hook('same'), other])
  const role = mechanic({
    onStop: [
      { command: 'same', timeout: 'PT5S' },
      { command: 'new', timeout: 'PT5S' },
    ],
  })
  await syncRoleHooksIntoBrainRepl({ role, adapter })
  assert.deepEqual(asked, ['upsert new', 'del stale'])
  assert.deepEqual(hooks, [hook('same'), other, hook('new')])
})

test('syncRoleHooksIntoBrainRepl: a failure half way is undone', async () => {
  const { adapter, hooks } = memory([hook('a'), hook('b')])
  const changes = diffHooks([hook('a'), hook('b')], [hook('a', { timeout: 'PT9S' }), hook('c'), hook('explode')])
  await assert.rejects(applyChanges(adapter, changes), /boom/)
  assert.deepEqual(hooks, [hook('a'), hook('b')])
})
