import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerView } from './answer-view.ts'
import { PlainView } from './plain-view.ts'

const retry = {
  type: 'retry',
  attempt: 1,
  most: 2,
  waitMs: 1000,
  failure: { kind: 'network', message: 'the connection was closed' },
} as const

test('a reply that was cut off ends its line, and the next try starts over', () => {
  let written = ''
  const view = new PlainView((text) => {
    written += text
  })
  view.on({ type: 'text', text: 'The answer is fort' })
  view.on(retry)
  view.on({ type: 'text', text: 'The answer is forty-two.' })
  view.on({ type: 'assistant', text: 'The answer is forty-two.', toolUses: [] })
  assert.deepEqual(written.split('\n'), [
    'The answer is fort',
    'trying again in 1.0s: the connection was closed',
    'The answer is forty-two.',
    '',
  ])
  assert.deepEqual(view.answers, ['The answer is forty-two.'])
})

test('what was drawn of a reply and is void is not drawn again', async () => {
  const view = new AnswerView(() => {})
  await view.prepare()
  view.write('The answer is fort')
  assert.equal(view.drop(), false)
  view.write('The answer is forty-two.')
  assert.equal(view.end(80)?.text, 'The answer is forty-two.')
  view.write('One paragraph.\n\nAnother')
  assert.ok(view.finished(80).length > 0)
  assert.equal(view.drop(), true)
  assert.deepEqual([view.live(80), view.end(80)], [[], undefined])
})
