import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readPlainFile } from './plain-file.ts'

test('only files of a sensible size are read; pipes, devices and folders are refused at once', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-plain-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  writeFileSync(at('text'), 'hé\n')
  writeFileSync(at('huge'), '')
  truncateSync(at('huge'), 2 ** 34)
  execFileSync('mkfifo', [at('pipe')])
  symlinkSync(at('text'), at('link'))
  symlinkSync('/dev/zero', at('zero'))
  symlinkSync(at('loop'), at('loop'))
  const why = (name: string) => {
    try {
      return readPlainFile(at(name))
    } catch (error) {
      return (error as NodeJS.ErrnoException).code
    }
  }
  assert.deepEqual(['text', 'link', 'huge', 'pipe', 'zero', 'loop', '.', 'none'].map(why), [
    'hé\n',
    'hé\n',
    'EFBIG',
    'EINVAL',
    'EINVAL',
    'ELOOP',
    'EISDIR',
    'ENOENT',
  ])
})
