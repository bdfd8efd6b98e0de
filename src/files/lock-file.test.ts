import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { holderOf, tryLock, unlock } from './lock-file.ts'

function place(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ona-lock-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a lock has one holder, and is free again when it is given back', (t) => {
  const path = join(place(t), 'x.lock')
  assert.deepEqual([tryLock(path), holderOf(path), tryLock(path)], [true, process.pid, false])
  unlock(path)
  assert.deepEqual([holderOf(path), tryLock(path)], [0, true])
})

test('a lock of a process that is gone is taken; so is an old one that nobody signed', (t) => {
  const folder = place(t)
  const path = join(folder, 'x.lock')
  writeFileSync(path, '999999999')
  assert.equal(tryLock(path), true)
  writeFileSync(path, '')
  assert.equal(tryLock(path), false)
  utimesSync(path, 1000, 1000)
  assert.equal(tryLock(path), true)
  assert.deepEqual(readdirSync(folder), ['x.lock'])
})

test('of many that find the same left-over lock at once, one at a time is in', async (t) => {
  const folder = place(t)
  const log = join(folder, 'log')
  const path = join(folder, 'x.lock')
  const program = `import { appendFileSync, writeFileSync } from 'node:fs'
    import { tryLock, unlock } from ${JSON.stringify(join(import.meta.dirname, 'lock-file.ts'))}
    const [path, log] = process.argv.slice(1)
    for (let done = 0; done < 40; ) {
      if (!tryLock(path)) continue
      appendFileSync(log, 'in ' + process.pid + '\\n')
      appendFileSync(log, 'out ' + process.pid + '\\n')
      // every other time it is left, as by a process that was killed
      if (++done % 2) writeFileSync(path, '999999999')
      else unlock(path)
    }`
  writeFileSync(path, '999999999')
  const children = [1, 2, 3].map(() =>
    spawn(process.execPath, ['--input-type=module-typescript', '-e', program, path, log], { stdio: 'inherit' }),
  )
  const codes = await Promise.all(children.map((child) => new Promise((done) => child.on('exit', done))))
  assert.deepEqual(codes, [0, 0, 0])
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  assert.equal(lines.length, 240)
  for (let at = 0; at < lines.length; at += 2) {
    assert.equal(lines[at]!.replace('in ', 'out '), lines[at + 1], `line ${at}`)
  }
})
