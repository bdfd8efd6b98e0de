import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, lstatSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { replaceFile, writeAtomic } from './atomic-write.ts'

test('a pipe is written into and stays a pipe, also behind a link', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-device-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const pipe = join(folder, 'pipe')
  const link = join(folder, 'link')
  execFileSync('mkfifo', [pipe])
  symlinkSync(pipe, link)
  const reader = openSync(pipe, 'r+') // both ends, so that nobody waits for anybody
  t.after(() => closeSync(reader))
  for (const path of [pipe, link]) {
    writeAtomic(path, `by ${path}`)
    const room = Buffer.alloc(4096)
    assert.equal(room.toString('utf8', 0, readSync(reader, room)), `by ${path}`)
  }
  assert.deepEqual([lstatSync(pipe).isFIFO(), lstatSync(link).isSymbolicLink()], [true, true])
  assert.throws(() => replaceFile(pipe, 'x'), /it is a pipe or a device/)
  assert.equal(lstatSync(pipe).isFIFO(), true)
})

test('/dev/stdout is the stdout that there is: a pipe, a socket or a file', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-device-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const program = join(import.meta.dirname, 'atomic-write.ts')
  const long = 300_000
  const script = `const { writeAtomic } = await import(${JSON.stringify(program)}); writeAtomic('/dev/stdout', 'x'.repeat(${long})); writeAtomic('/dev/fd/1', 'end')`
  const words = ['--input-type=module', '-e', script]
  const piped = spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 1_000_000 })
  assert.deepEqual([piped.stderr, piped.stdout.length, piped.stdout.slice(-3)], ['', long + 3, 'end'])
  const file = join(folder, 'out')
  spawnSync(process.execPath, words, { stdio: ['ignore', openSync(file, 'w'), 'inherit'] })
  assert.equal(readFileSync(file, 'utf8').length, long + 3)
})
