/** Whatever the host does with the pipe, reading comes back with all of it or with the reason. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const reader = `import { readStdin } from '${new URL('./stdin.ts', import.meta.url).href}'
const { setTimeout, clearTimeout } = globalThis
const [limits, running, again] = [new Set(), new Map(), new Set()]
globalThis.setTimeout = (work, ms) => {
  const timer = setTimeout(work, ms)
  const { refresh } = timer
  timer.refresh = () => refresh.call(timer, again.add(ms))
  running.set(timer, ms)
  limits.add(ms)
  return timer
}
globalThis.clearTimeout = (timer) => clearTimeout(timer, running.delete(timer))
const read = readStdin()
const atOnce = !(read instanceof Promise)
process.stdout.write('reading\\n')
const answer = { ...(await read), atOnce, limits: [...limits], running: [...running.values()], again: [...again] }
process.stdout.write(JSON.stringify(answer), () => process.exit())`

/** `feed` is called when the reader listens; what it does not end stays open. */
function read(
  feed: (write: (text: string) => void, end: () => void) => void,
  stdin: 'pipe' | 'ignore' | number = 'pipe',
) {
  const words = ['--disable-warning=DEP0111', '--input-type=module', '-e', reader]
  const child = spawn(process.execPath, words, { stdio: [stdin, 'pipe', 'inherit'] })
  let printed = ''
  child.stdout!.setEncoding('utf8')
  child.stdin?.on('error', () => {}) // it may have given up
  return new Promise<Record<string, unknown>>((resolve, reject) => {
    child.stdout!.on('data', (piece) => {
      if (printed === '')
        feed(
          (text) => child.stdin?.write(text),
          () => child.stdin?.end(),
        )
      printed += piece
    })
    child.on('error', reject)
    child.on('close', () => {
      child.stdin?.destroy()
      resolve(JSON.parse(printed.split('\n')[1]!))
    })
  })
}

test('whole, in pieces, left open, cut off, silent, empty, closed or a file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'stdin-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'in.json'), '{"a":"é"}')
  const long = JSON.stringify({ long: 'é'.repeat(200_000) })
  const nothing = () => {}
  const results = await Promise.all([
    read((write, end) => [write('{"a":'), write('1}'), end()]),
    read((write, end) => [write(long), end()]),
    read((write) => write('{"a":{"b":1}} \n')),
    read((write) => [write('{"a":{}'), setTimeout(() => write('}'), 100)]),
    read((write, end) => [write('1'), setTimeout(() => [write('2'), end()], 200)]),
    read((write) => write('[1]')),
    read((write) => write('{"a":1')),
    read((write) => write('{"a":}')),
    read(nothing),
    read((_, end) => end()),
    read(nothing, 'ignore'),
    read(nothing, openSync(join(folder, 'in.json'), 'r')),
  ])
  const later = { atOnce: false, limits: [2500, 5000], running: [], again: [2500] } // each piece is waited for anew
  const quiet = { ...later, limits: [2500, 5000, 60] } // what ends an object may be all
  assert.deepEqual(results, [
    { text: '{"a":1}', ...quiet },
    { text: long, ...quiet },
    { text: '{"a":{"b":1}} \n', ...quiet },
    { text: '{"a":{}}', ...quiet },
    { text: '12', ...later }, // only an object may be taken for whole before the end
    { text: '[1]', ...later },
    { problem: 'cut-off', ...later },
    { problem: 'cut-off', ...quiet },
    { problem: 'silent', ...later, again: [] },
    { problem: 'empty', ...later, again: [] },
    { problem: 'empty', ...later, again: [] },
    { text: '{"a":"é"}', ...quiet },
  ])
})
