import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readFault } from './read-fault.ts'

test('why a file cannot be read, without the system call and the path', () => {
  const why = (path: string) => {
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      return readFault(error)
    }
  }
  const here = import.meta.dirname
  assert.deepEqual(
    [why(join(here, 'gone')), why(join(here, 'read-fault.ts/x')), why(here), why('a\0b').split(':')[0]],
    [
      ...['there is no such file', 'there is no such file', 'it is a folder'],
      "The argument 'path' must be a string, Uint8Array, or URL without null bytes. Received 'a\\x00b'",
    ],
  )
  assert.equal(readFault(Object.assign(new Error('x'), { code: 'EACCES' })), 'there is no permission to read it')
})
