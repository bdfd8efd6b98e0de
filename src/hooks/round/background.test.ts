import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Background } from './background.ts'

function hook() {
  const { promise, resolve } = Promise.withResolvers<string>()
  return { rest: promise, stop: () => setImmediate(resolve, 'stopped'), end: () => resolve('ended') }
}

test('32 hooks may run beside the turn; one that ends makes room', async () => {
  const background = new Background()
  const hooks = Array.from({ length: 32 }, hook)
  const said: string[] = []
  for (const [at, each] of hooks.entries()) {
    assert.equal(background.isFull, false, `${at}`)
    background.adopt(each, (text) => said.push(text))
  }
  assert.equal(background.isFull, true)
  hooks[0]!.end()
  while (background.isFull) await new Promise(setImmediate)
  assert.deepEqual(said, ['ended'])
})

test('to close it ends all that run, and waits until each has been recorded', async () => {
  const background = new Background()
  const said: string[] = []
  for (const each of [hook(), hook()]) background.adopt(each, (text) => said.push(text))
  await background.close()
  assert.deepEqual(said, ['stopped', 'stopped'])
})
