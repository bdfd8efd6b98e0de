/** A shell that never gets through the profile ends with the process that started it, and is not waited for. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../../../test/support/until.ts'
import { expectCommand, withWarmShell } from './warm-shell.ts'

const root = mkdtempSync(join(tmpdir(), 'ona-endless-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** For a machine at any load: nothing that these tests start ends by itself. */
const manyLooks = 12_000
const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
/** Writes down its process and its child's, and never ends. */
const endless = 'sleep 100000 & echo $$ $! >> pids; wait; while :; do sleep 1; done'

const cases: readonly [what: string, profile: string, code: string][] = [
  ['the login that is looked at', endless, 'warm.expectCommand("true", place)'],
  [
    'a shell started ahead',
    // a function that asks for its place is read by every shell, also where a login takes long and others would be restored
    `f() { caller; }; [[ $BASH_EXECUTION_STRING == *'printf r;'* ]] && { ${endless}; }`,
    'warm.expectCommand("true", place)',
  ],
  [
    'a persistent program',
    endless,
    'persistent.expectPersistent({ command: "cat", shell: "bash", cwd: place.cwd, env: place.env })',
  ],
]

for (const [what, profile, code] of cases)
  test(`in ${what} an endless profile ends with the process`, async (t) => {
    const home = mkdtempSync(join(root, 'home-'))
    writeFileSync(join(home, '.bash_profile'), profile)
    const place = { shell: '/bin/bash', cwd: home, env: { HOME: home, PATH: process.env['PATH'] } }
    const program = `
      const warm = await import(${JSON.stringify(join(import.meta.dirname, 'warm-shell.ts'))})
      const persistent = await import(${JSON.stringify(join(import.meta.dirname, '../persistent.ts'))})
      const place = ${JSON.stringify(place)}
      ${code}
      process.stdin.resume().once('end', () => process.exit())`
    const stdio = ['pipe', 'inherit', 'inherit'] as const
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: [...stdio] })
    t.after(() => child.kill('SIGKILL'))
    await until(() => read(join(home, 'pids')).endsWith('\n'), manyLooks)
    child.stdin!.end()
    await once(child, 'exit')
    const pids = read(join(home, 'pids')).trim().split(/\s/).map(Number)
    await until(() => !pids.some(isRunning), manyLooks)
  })

test('a shell that is still in the profile at the limit is ended, and hooks run cold from then on', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const { setTimeout } = globalThis
  t.mock.method(globalThis, 'setTimeout', ((work: () => void, ms: number, ...given: []) => {
    return setTimeout(work, ms === 30_000 ? 100 : ms, ...given)
  }) as typeof setTimeout)
  const home = mkdtempSync(join(root, 'home-'))
  writeFileSync(join(home, '.bash_profile'), endless)
  const place = { shell: '/bin/bash', cwd: home, env: { HOME: home, PATH: process.env['PATH'] } }
  expectCommand('true', place)
  await until(() => shells().length > 0, manyLooks)
  await until(() => shells().length === 0, manyLooks)
  const begun = read(join(home, 'pids'))
  for (const command of ['true', 'echo another']) {
    expectCommand(command, place)
    await wait(1) // by then one would be started: timers fire in order
    assert.equal(await withWarmShell(command, place, async (shell) => shell), undefined)
  }
  assert.deepEqual([shells(), read(join(home, 'pids'))], [[], begun])
})

/** The processes of this one that have a waiting script. */
const shells = (): string[] =>
  read(`/proc/self/task/${process.pid}/children`)
    .split(' ')
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes('builtin printf r;'))
