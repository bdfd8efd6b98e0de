/** Where a command hook runs: its environment, its time limit, and the programs it can find. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, test } from 'node:test'
import type { Handler, Source } from '../handler.ts'
import { onPath } from './find-program.ts'
import { envText, hookEnv } from './hook-env.ts'
import { defaultTimeout } from './timeout.ts'

const settings = { source: { kind: 'settings' } } as const

test('the environment is the host’s, and says where the hook is', () => {
  const own = { AGENT_SDLC_DB: '/db', SDLC_HOOK: '1' }
  const plugin: Source = { kind: 'plugin', pluginId: 'p', root: '/p', env: { CLAUDE_PLUGIN_DATA: '/d' } }
  const rows: [object, object, object, object][] = [
    [{ A: 'a' }, { dbPath: '/db' }, settings, { A: 'a', ...own, LANG: 'C.UTF-8' }],
    [{ LANG: 'de' }, { dbPath: '/db' }, settings, { LANG: 'de', ...own }],
    [{ LC_ALL: 'C' }, { dbPath: '/db' }, settings, { LC_ALL: 'C', ...own }],
    [{ LANG: '' }, { dbPath: '/db' }, settings, { ...own, LANG: 'C.UTF-8' }],
    [{ LANG: 'C' }, { dbPath: '/db', projectDir: '/w' }, settings, { LANG: 'C', ...own, CLAUDE_PROJECT_DIR: '/w' }],
    [{ LANG: 'C' }, { dbPath: '/db' }, { ...settings, profile: 'claude' }, { LANG: 'C', ...own, CLAUDECODE: '1' }],
    [
      { LANG: 'C' },
      { dbPath: '/db' },
      { source: plugin },
      { LANG: 'C', ...own, CLAUDE_PLUGIN_ROOT: '/p', CLAUDE_PLUGIN_DATA: '/d' },
    ],
    [
      // ona that runs inside a hook
      {
        ...{ AGENT_SDLC_DB: '/host', SDLC_HOOK: '0', LANG: 'C', CLAUDE_PROJECT_DIR: '/host', CLAUDECODE: '0' },
        ...{ CLAUDE_PLUGIN_ROOT: '/host', CLAUDE_PLUGIN_DATA: '/host' },
      },
      { dbPath: '/db', projectDir: '/w' },
      { source: plugin, profile: 'claude' },
      {
        ...{ LANG: 'C', ...own, CLAUDE_PROJECT_DIR: '/w', CLAUDECODE: '1' },
        ...{ CLAUDE_PLUGIN_ROOT: '/p', CLAUDE_PLUGIN_DATA: '/d' },
      },
    ],
    [{ LANG: 'C' }, { dbPath: '/db' }, { source: { kind: 'plugin', pluginId: 'p' } }, { LANG: 'C', ...own }],
    [{ LANG: 'C' }, { dbPath: '/db' }, { source: { ...plugin, kind: 'settings' } }, { LANG: 'C', ...own }],
  ]
  for (const [host, where, handler, env] of rows)
    assert.deepEqual(hookEnv(host as never, where as never, { ...handler } as never), env)
})

test('it is made once for a hook, unless what it is made from has changed', () => {
  const hook = { ...settings }
  const host = { LANG: 'C' }
  const first = hookEnv(host, { dbPath: '/db', projectDir: '/w' }, hook)
  assert.equal(hookEnv(host, { dbPath: '/db', projectDir: '/w' }, hook), first)
  const changes: [object, object, object][] = [
    [{ LANG: 'C', B: 'b' }, { dbPath: '/db', projectDir: '/w' }, { B: 'b' }],
    [host, { dbPath: '/other', projectDir: '/w' }, { AGENT_SDLC_DB: '/other' }],
    [host, { dbPath: '/db', projectDir: '/v' }, { CLAUDE_PROJECT_DIR: '/v' }],
  ]
  for (const [from, where, change] of changes) {
    hookEnv(host, { dbPath: '/db', projectDir: '/w' }, hook)
    assert.deepEqual(hookEnv(from as never, where as never, hook), { ...first, ...change })
  }
  const name = 'ONA_HOOK_ENV_TEST'
  process.env[name] = '1'
  assert.equal(hookEnv(process.env, { dbPath: '/db' }, hook)[name], '1')
  process.env[name] = '2'
  assert.equal(hookEnv(process.env, { dbPath: '/db' }, hook)[name], '2')
  delete process.env[name]
})

test('the text of an environment tells it from others, and is made once', () => {
  const env = { A: '1' }
  assert.deepEqual([envText(env), envText({ A: '2' })], ['{"A":"1"}', '{"A":"2"}'])
  env.A = '3'
  assert.equal(envText(env), '{"A":"1"}')
})

test('a handler that sets no limit has the default one, which variables change', () => {
  const handler = (event: string, kind: Handler['kind'] = 'command') => ({ event, kind }) as Handler
  const limits = { SDLC_HOOK_TIMEOUT_MS: '70', SDLC_SESSIONEND_HOOK_TIMEOUT_MS: '80' }
  const rows: [Handler, object, number][] = [
    [handler('PreToolUse'), {}, 600_000],
    [handler('PreToolUse', 'http'), {}, 600_000],
    [handler('PreToolUse', 'prompt'), {}, 30_000],
    [handler('SessionEnd'), {}, 1500],
    [handler('SessionEnd', 'prompt'), {}, 1500],
    [handler('PreToolUse'), limits, 70],
    [handler('PreToolUse', 'prompt'), limits, 70],
    [handler('SessionEnd'), limits, 80],
    [handler('PreToolUse'), { SDLC_HOOK_TIMEOUT_MS: '1' }, 1],
    [handler('PreToolUse'), { SDLC_HOOK_TIMEOUT_MS: '0.5' }, 0.5],
    ...['', '0', '-1', 'soon', 'Infinity'].map((text): [Handler, object, number] => [
      handler('PreToolUse'),
      { SDLC_HOOK_TIMEOUT_MS: text },
      600_000,
    ]),
  ]
  for (const [handler, env, ms] of rows) assert.equal(defaultTimeout(handler, env as never), ms, JSON.stringify(env))
})

test('a program is found as a shell finds it: the first name that a folder of PATH holds and that may be run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-path-'))
  after(() => rmSync(folder, { recursive: true }))
  const [one, two] = [join(folder, 'one'), join(folder, 'two')]
  for (const each of [one, two]) mkdirSync(each)
  for (const file of [join(one, 'b'), join(two, 'a'), join(two, 'b')]) writeFileSync(file, '', { mode: 0o755 })
  writeFileSync(join(one, 'a'), '')
  chmodSync(join(one, 'a'), 0o644)
  const PATH = `:${one}::${two}`
  assert.deepEqual(
    [onPath(['b'], { PATH }), onPath(['a', 'b'], { PATH }), onPath(['c', 'b'], { PATH }), onPath(['c'], { PATH })],
    [join(one, 'b'), join(two, 'a'), join(one, 'b'), undefined],
  )
  assert.equal(onPath(['b'], {}), undefined)
  // an empty part of PATH is not the current folder
  assert.equal(onPath([relative(process.cwd(), join(two, 'a'))], { PATH: ':' }), undefined)
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  try {
    writeFileSync(join(two, 'c.exe'), '', { mode: 0o755 })
    assert.deepEqual([onPath(['c'], { PATH }), onPath(['b'], { PATH })], [join(two, 'c.exe'), undefined])
  } finally {
    Object.defineProperty(process, 'platform', { value: platform })
  }
})
