/** Which hooks are started ahead of the calls that will ask them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { createPlane } from '../dispatch.ts'
import type { Handler, Wrap } from '../handler.ts'
import type { Scope } from '../plane.ts'
import { readHooks } from '../settings.ts'
import { startAhead } from './ahead.ts'
import { warmShells } from './shells/warm-shell.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-ahead-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const env = { PATH: process.env['PATH'], HOME: folder }
const scope: Scope = { sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: folder, record() {} }
const handler = (hook: object, more: object = {}): Handler => {
  const { handlers, problems } = readHooks(
    { hooks: [{ hook_event_name: 'PreToolUse', ...hook }] },
    { source: { kind: 'settings' } },
  )
  assert.deepEqual(problems, [])
  return { ...handlers[0]!, ...more } as Handler
}
const hook = (command: string, more: object = {}) => handler({ command }, more)
const ready = (command: string) => warmShells(undefined, command)

test('shells and programs of hooks that may run outside a sandbox', async () => {
  const [started, not] = [join(folder, 'started'), join(folder, 'not-started')]
  const touch = (file: string, more: object = {}) =>
    handler({ command: '/bin/sh', args: ['-c', `: >${file}; exec cat`], persistent: true }, more)
  const wrap: Wrap = async (words) => ({ words: [...words], env: {} })
  startAhead([hook('echo wrapped')], { ...scope, wrap }, env)
  startAhead([hook('echo aborted')], { ...scope, signal: AbortSignal.abort() }, env)
  startAhead(
    [
      hook('echo withheld', { withheld: 'untrusted_folder' }),
      hook('echo boxed', { sandbox: true }),
      hook('echo words', { args: ['a'] }),
      hook('echo plain', { shell: 'sh' }),
      touch(not, { withheld: 'untrusted_folder' }),
      handler({ type: 'http', url: 'http://127.0.0.1:9/' }),
      touch(started),
      hook('echo ahead'),
    ],
    scope,
    env,
  )
  await until(() => ready('echo ahead') > 0 && existsSync(started))
  assert.deepEqual(
    [
      ...['wrapped', 'aborted', 'withheld', 'boxed', 'words', 'plain'].map((name) => ready(`echo ${name}`)),
      existsSync(not),
    ],
    [0, 0, 0, 0, 0, 0, false],
  )
})

test('a plane starts the hooks of tool calls ahead, unless hooks are switched off; with more hooks it has them too', async () => {
  createPlane([hook('echo off')], { env, disabled: 'hooks_disabled' }).expectCalls(scope)
  const other = handler({ command: 'echo stop' }, { event: 'Stop' })
  const plane = createPlane([other, hook('echo first')], { env })
  const both = plane.with([handler({ command: 'echo second' }, { event: 'PostToolUse' })])
  both.expectCalls(scope)
  await until(() => ready('echo first') > 0 && ready('echo second') > 0)
  assert.deepEqual([ready('echo off'), ready('echo stop')], [0, 0])
  assert.deepEqual(
    [plane.listens('PostToolUse'), both.listens('PostToolUse'), both.listens('SessionEnd', 'Stop'), both.listens()],
    [false, true, true, false],
  )
  await plane.close()
})

test('what is started ahead keeps no process alive, not even a login that takes its time', async () => {
  const place = (name: string, profile: string) => {
    const home = join(folder, name)
    mkdirSync(home)
    writeFileSync(join(home, '.profile'), profile)
    return JSON.stringify({ shell: '/bin/bash', cwd: home, env: { ...env, HOME: home } })
  }
  const url = (file: string) => JSON.stringify(new URL(file, import.meta.url).href)
  const script = `import { expectCommand, warmShells, withWarmShell } from ${url('./shells/warm-shell.ts')}
    import { expectPersistent } from ${url('./persistent.ts')}
    import { setTimeout as wait } from 'node:timers/promises'
    const [slow, quick] = [${place('slow', 'sleep 60')}, ${place('quick', '')}]
    expectCommand('true', slow)
    expectCommand('true', quick)
    expectPersistent({ ...quick, command: 'cat', shell: 'sh' })
    while (warmShells(quick) === 0) await wait(5)
    await withWarmShell('true', quick, async ({ child, release }) => {
      child.stdin.end()
      release()
      await new Promise((resolve) => child.once('close', resolve)) // what has been released does
    })
    console.log('idle')`
  const { promise, resolve } = Promise.withResolvers<unknown[]>()
  const child = execFile(
    process.execPath,
    ['--input-type=module', '-e', script],
    { timeout: 40_000, killSignal: 'SIGKILL' },
    (_, stdout) => resolve([child.exitCode, stdout]),
  )
  assert.deepEqual(await promise, [0, 'idle\n'])
})
