import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import { KeyReader } from './keys.ts'

const read = (...chunks: string[]) => {
  const reader = new KeyReader()
  return [...chunks.flatMap((chunk) => reader.feed(chunk)), ...reader.flush()]
}

test('keys have the names a user would give them', () => {
  const table: Record<string, string> = {
    '\r': 'enter',
    '\n': 'ctrl+j',
    '\t': 'tab',
    '\x7f': 'backspace',
    '\x01': 'ctrl+a',
    '\x1b': 'esc',
    '\x1b[A': 'up',
    '\x1bOB': 'down',
    '\x1b[Z': 'shift+tab',
    '\x1b[3~': 'delete',
    '\x1b[1;5C': 'ctrl+right',
    '\x1bb': 'alt+b',
    '\x1b\r': 'alt+enter',
    '\x1b\x7f': 'alt+backspace',
    '\x1f': 'ctrl+_',
    '\x1b[13;2u': 'shift+enter',
    '\x1b[99;5u': 'ctrl+c',
    '\x1b[27u': 'esc',
    '\x1b[9;2u': 'shift+tab',
    '\x1b[27;2;13~': 'shift+enter',
    '\x1b[5~': 'pageup',
  }
  for (const [bytes, key] of Object.entries(table)) assert.deepEqual(read(bytes), [{ key }], JSON.stringify(bytes))
})

test('a sequence cut in two is one key, and two Escapes are two', () => {
  assert.deepEqual(read('\x1b[', 'A'), [{ key: 'up' }])
  assert.deepEqual(read('\x1b\x1b'), [{ key: 'esc' }, { key: 'esc' }])
})

test('typed text comes as text, and a paste as one piece with its newlines', () => {
  assert.deepEqual(read('héllo 日本'), [{ text: 'héllo 日本' }])
  assert.deepEqual(read('a\x1b[200~one\r\ntwo\x1b', '[20', '1~b'), [
    { text: 'a' },
    { paste: 'one\ntwo' },
    { text: 'b' },
  ])
})

test('a paste of a megabyte in small chunks is read once over', () => {
  const text = 'x'.repeat(1 << 20)
  const bytes = `\x1b[200~${text}\x1b[201~`
  const chunks = Array.from({ length: Math.ceil(bytes.length / 4096) }, (_, i) => bytes.slice(i * 4096, (i + 1) * 4096))
  assert.deepEqual(read(...chunks), [{ paste: text }])
})

test('no bytes make it throw or keep it waiting for ever', () => {
  fc.assert(
    fc.property(fc.array(anyText({ maxLength: 20 })), (chunks) => {
      const reader = new KeyReader()
      for (const chunk of chunks) reader.feed(`\x1b${chunk}`)
      reader.flush()
      assert.deepEqual(reader.feed('\x1b[201~').length >= 0, true)
    }),
  )
})
