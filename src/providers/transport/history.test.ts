import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ContentBlock, Message } from '../model.ts'
import { wellFormed } from './history.ts'

const text: fc.Arbitrary<ContentBlock> = fc.constant({ type: 'text', text: 'words' })
const result = fc
  .integer({ min: 0, max: 6 })
  .map((id): ContentBlock => ({ type: 'tool_result', tool_use_id: `c${id}`, content: 'done', is_error: false }))
const use = fc.constant<ContentBlock>({ type: 'tool_use', id: '', name: 'Read', input: {} })
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), content: fc.array(fc.oneof(text, result), { maxLength: 4 }) }),
  fc.record({ role: fc.constant('assistant' as const), content: fc.array(fc.oneof(text, use), { maxLength: 4 }) }),
)
/** Any mess, but with an id of its own for each call, as replies have them. */
const history = fc.array(message, { maxLength: 8 }).map((messages) => {
  let next = 0
  return messages.map(({ role, content }) => ({
    role,
    content: content.map((block) => (block.type === 'tool_use' ? { ...block, id: `c${next++}` } : block)),
  }))
})

const calls = (message: Message | undefined) =>
  message?.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])) ?? []

test('of any history it makes one in which calls and results belong together', () => {
  fc.assert(
    fc.property(history, (messages) => {
      const whole = wellFormed(messages)
      for (const [at, { role, content }] of whole.entries()) {
        assert.ok(content.length > 0)
        const open = role === 'user' ? calls(whole[at - 1]) : []
        const answered = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
        assert.deepEqual(answered, open)
        assert.ok(content.slice(0, open.length).every((block) => block.type === 'tool_result'))
        if (calls(whole[at]).length > 0) assert.equal(whole[at + 1]?.role, 'user')
      }
      assert.deepEqual(wellFormed(whole), whole)
      const words = (list: readonly Message[]) =>
        list.flatMap(({ content }) => content.filter(({ type }) => type === 'text')).length
      assert.equal(words(whole), words(messages))
    }),
  )
})

test('a history in which nothing is amiss is left alone', () => {
  const messages: Message[] = [
    { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok', is_error: false }] },
  ]
  assert.equal(wellFormed(messages), messages)
})
