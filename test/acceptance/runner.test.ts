/** The runner of the tests itself: what it prints, and that nothing outlives it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { compileCache } from '../support/compile-cache.ts'

const root = join(import.meta.dirname, '../..')

/** Runs a test file with this text, outside of the test run that this is in. */
function start(t: TestContext, text: string, ...words: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-runner-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'a.test.ts')
  writeFileSync(file, `import { test } from 'node:test'\nimport assert from 'node:assert/strict'\n${text}`)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, [compileCache, 'scripts/test.ts', file, ...words], { cwd: root, env })
  let stdout = ''
  child.stdout.on('data', (piece) => {
    stdout += piece
  })
  const ended = new Promise<{ code: number | null; stdout: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, stdout })),
  )
  return { folder, child, ended }
}

test('a failure is printed with its cause and listed again at the end; --times counts what children took', async (t) => {
  const { ended } = start(
    t,
    `import { execFileSync } from 'node:child_process'
test('sums', () => assert.equal(1 + 1, 3))
test('busy', () => void execFileSync(process.execPath, ['-e', 'for (; process.cpuUsage().user < 4e5; );']))
`,
    '--times',
  )
  const { code, stdout } = await ended
  assert.equal(code, 1)
  assert.match(
    stdout,
    /✖ sums\n[\s\S]*2 !== 3[\s\S]*ℹ pass 1\nℹ fail 1\n[\s\S]*failed:\n {2}\S+a\.test\.ts:4 sums\n\n$/,
  )
  if (!existsSync('/proc/self/stat')) return
  const [, seconds] = /^ +([\d.]+) +[\d.]+ {2}\S+a\.test\.ts$/m.exec(stdout)!
  assert.ok(Number(seconds) >= 0.4, stdout)
})

test('a signal ends the test files and what they started', async (t) => {
  const { folder, child, ended } = start(
    t,
    `import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
test('waits', () => {
  const { pid } = spawn('sleep', ['600'], { detached: true })
  writeFileSync(import.meta.dirname + '/new', String(pid))
  renameSync(import.meta.dirname + '/new', import.meta.dirname + '/pid')
  return new Promise(() => setInterval(() => {}, 1000))
})
`,
  )
  const at = join(folder, 'pid')
  while (!existsSync(at)) await sleep(20)
  child.kill('SIGTERM')
  assert.equal((await ended).code, 130)
  const pid = Number(readFileSync(at, 'utf8'))
  const isThere = () => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  while (isThere()) await sleep(20)
})
