import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ContentBlock, Message } from '../model.ts'
import { wellFormed } from '../transport/history.ts'
import { bytesOf, bytesOnce, conversationBytes } from './request-bytes.ts'

const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  fc.constantFrom('', 'words', 'ü🐢', 'x'.repeat(3000)).map((text): ContentBlock => ({ type: 'text', text })),
  fc.constant<ContentBlock>({ type: 'tool_use', id: 'c', name: 'Read', input: {} }),
  fc.constant<ContentBlock>({ type: 'tool_result', tool_use_id: 'c', content: 'done', is_error: false }),
)
const message: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  content: fc.array(block, { maxLength: 2 }),
})
/** Puts messages in the place of those from an index on: at the end that is a turn, before it a rewind or a repair. */
const edit = fc.record({ fromEnd: fc.nat(4), added: fc.array(message, { maxLength: 3 }), kept: fc.nat(2) })

const write = ({ role, content }: Message) => (content.length === 0 ? '' : JSON.stringify({ role, content }))

test('a conversation that grows or changes is written and checked as one that is new', () => {
  fc.assert(
    fc.property(message, fc.array(edit, { maxLength: 8 }), (first, edits) => {
      const bytesOf = conversationBytes(write)
      const sent: { readonly bytes: Buffer; readonly then: string }[] = []
      let messages = [first]
      for (const { fromEnd, added, kept } of edits) {
        const at = Math.max(1, messages.length - fromEnd)
        messages = [...messages.slice(0, at), ...added, ...messages.slice(at + kept)]
        const bytes = bytesOf(messages)
        const then = messages.map((each) => write(each) && `,${write(each)}`).join('')
        assert.equal(bytes.toString(), then)
        sent.push({ bytes, then })
        assert.equal(JSON.stringify(wellFormed(messages)), JSON.stringify(wellFormed(structuredClone(messages))))
      }
      for (const { bytes, then } of sent) assert.equal(bytes.toString(), then, 'bytes that may still be on their way')
    }),
  )
})

test('what a turn adds is all that is written, and no copy is kept for each turn', () => {
  let written = 0
  const bytesOf = conversationBytes((each) => {
    written++
    return write(each)
  })
  const messages: Message[] = []
  const blocks = new Set<ArrayBufferLike>()
  for (let turn = 0; turn < 500; turn++) {
    messages.push({ role: turn % 2 ? 'assistant' : 'user', content: [{ type: 'text', text: 'some words' }] })
    blocks.add(bytesOf(messages).buffer)
  }
  assert.equal(written, 500)
  assert.ok(blocks.size < 20, `${blocks.size} blocks`)
})

test('halves of characters are not sent: a server would reject the conversation from then on', () => {
  const texts = ['\ud83d', 'a\udc22b', '\\ud83d', '\\\\ud83d', '\\\ud83d', '🐢', '\ud83d\ud83d\udc22']
  const sent = ['\ufffd', 'a\ufffdb', '\\ud83d', '\\\\ud83d', '\\\ufffd', '🐢', '\ufffd🐢']
  const content = (of: readonly string[]) => of.map((text) => ({ type: 'text' as const, text }))
  const message: Message = { role: 'user', content: content(texts) }
  const expected = { role: 'user', content: content(sent) }
  assert.deepEqual(JSON.parse(conversationBytes(write)([message]).subarray(1).toString()), expected)
  assert.deepEqual(JSON.parse(bytesOnce(write)(message).toString()), expected)
  assert.deepEqual(JSON.parse(Buffer.concat(bytesOf('[', JSON.stringify(texts), ']')).toString()), [sent])
})
