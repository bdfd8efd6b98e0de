/** Which hooks are started ahead of the calls that will ask them. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createPlane } from '../dispatch.ts'
import type { Handler, Wrap } from '../handler.ts'
import type { Scope } from '../plane.ts'
import { readHooks } from '../settings.ts'
import { startAhead } from './ahead.ts'
import { warmShells } from './warm-shell.ts'

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

/** Shells are started one after another: when the last is there, those before it would be. */
async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 3000) assert.fail('it was not started')
    await wait(10)
  }
}

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
    [...['wrapped', 'aborted', 'withheld', 'boxed'].map((name) => ready(`echo ${name}`)), existsSync(not)],
    [0, 0, 0, 0, false],
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
