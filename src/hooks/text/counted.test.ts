import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counted } from './counted.ts'

test('one thing is singular, none and many are plural, and long numbers are grouped', () =>
  assert.deepEqual(
    [0, 1, 2, 9999, 12_345, 1_234_567].map((count) => counted(count, 'row')),
    ['0 rows', '1 row', '2 rows', '9999 rows', '12,345 rows', '1,234,567 rows'],
  ))

test('a word with a plural of its own', () =>
  assert.deepEqual(
    [counted(1, 'criterion', 'criteria'), counted(3, 'criterion', 'criteria')],
    ['1 criterion', '3 criteria'],
  ))
