import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { locked, readText, writeAll } from './file-edits.ts'

function folder(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'ona-files-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  return (name: string) => join(root, name)
}

test('when one file cannot be written, those before it are as they were and nothing is left lying about', (t) => {
  const at = folder(t)
  writeFileSync(at('a'), 'old')
  // a folder cannot be replaced by a file: the rename fails, after that of a and b
  mkdirSync(at('c/inside'), { recursive: true })
  const edits = [
    { path: at('a'), before: 'old', after: 'new' },
    { path: at('deep/er/b'), before: null, after: 'new' },
    { path: at('c'), before: null, after: 'new' },
  ]
  assert.throws(() => writeAll(edits), { name: 'Problem', message: /cannot write .*c: / })
  assert.deepEqual([readFileSync(at('a'), 'utf8'), readdirSync(at('')).sort()], ['old', ['a', 'c']])
})

test('a lock whose process is gone is taken; one that is held is waited for', async (t) => {
  const at = folder(t)
  writeFileSync(at('x.lock'), '999999999')
  assert.equal(await locked([at('x')], async () => readFileSync(at('x.lock'), 'utf8')), String(process.pid))
  const order: string[] = []
  const hold = (name: string) =>
    locked([at('x')], async () => {
      order.push(`${name} in`)
      await new Promise((done) => setImmediate(done))
      order.push(`${name} out`)
    })
  await Promise.all([hold('a'), hold('b')])
  assert.deepEqual(
    order.map((word) => word.split(' ')[1]),
    ['in', 'out', 'in', 'out'],
  )
  assert.equal(existsSync(at('x.lock')), false)
})

test('an old empty lock does not hold anybody up', async (t) => {
  const at = folder(t)
  writeFileSync(at('x.lock'), '')
  utimesSync(at('x.lock'), 1000, 1000)
  assert.equal(await locked([at('x')], async () => 'in'), 'in')
})

test('a file that is not text, and a link to nothing, are refused', (t) => {
  const at = folder(t)
  writeFileSync(at('binary'), Buffer.from([0xff, 0xfe, 0x00]))
  assert.throws(() => readText(at('binary')), /is not UTF-8 text/)
  symlinkSync(at('nowhere'), at('link'))
  assert.throws(() => readText(at('link')), /cannot follow the link/)
  assert.throws(() => writeAll([{ path: at('link'), before: null, after: 'x' }]), /cannot follow the link/)
  assert.equal(existsSync(at('nowhere')), false)
})
