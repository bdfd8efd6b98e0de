import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { sha256 } from './sha256.ts'

test('it is SHA-256, whatever the bytes', () => {
  const hex = (bytes: Uint8Array) => Buffer.from(sha256(bytes)).toString('hex')
  const wanted = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
  for (const length of [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 10_000]) {
    const bytes = Buffer.alloc(length, 'abcdefg')
    assert.equal(hex(bytes), wanted(bytes))
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => hex(bytes) === wanted(bytes)))
})
