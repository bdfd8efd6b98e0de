import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { defineHook } from './define.ts'
import type { Handler, Source } from './handler.ts'
import { orderHandlers } from './order.ts'

const command = (text: string, source: Source, more: object = {}): Handler => ({
  event: 'PreToolUse',
  matcher: '',
  ifCondition: '',
  kind: 'command',
  shell: 'bash',
  command: text,
  source,
  ...more,
})
const settings: Source = { kind: 'settings' }
const plugin = (pluginId: string): Source => ({ kind: 'plugin', pluginId })
const names = (handlers: Handler[]) =>
  orderHandlers(handlers).map((each) => [each.ordinal, each.kind === 'command' ? each.command : each.kind])

test('functions, then settings as written, then plugins by id, then the session', () => {
  assert.deepEqual(
    names([
      command('late', { kind: 'session' }),
      command('b1', plugin('b')),
      command('two', settings),
      command('later', { kind: 'session' }),
      command('a1', plugin('a')),
      command('one', settings),
      defineHook('Stop', () => undefined),
      command('b2', plugin('b')),
    ]),
    [
      [0, 'function'],
      [1, 'two'],
      [2, 'one'],
      [3, 'a1'],
      [4, 'b1'],
      [5, 'b2'],
      [6, 'late'],
      [7, 'later'],
    ],
  )
})

test('plugins go by code point, capital letters before small ones and emoji last', () => {
  assert.deepEqual(
    names(['\u{1F600}', 'b', '\uFF5E', 'B', 'ab', 'a'].map((id) => command(id, plugin(id)))).map(([, id]) => id),
    ['B', 'a', 'ab', 'b', '\uFF5E', '\u{1F600}'],
  )
})

test('a hook that repeats the one before it is asked once; only the very same, and only next to it', () => {
  const same = command('x', settings)
  assert.deepEqual(names([same, { ...same }, command('y', settings), same]), [
    [0, 'x'],
    [1, 'y'],
    [2, 'x'],
  ])
  for (const other of [
    ...[{ matcher: 'Bash' }, { shell: 'sh' }, { ifCondition: 'Bash' }, { event: 'Stop' }],
    ...[{ withheld: 'untrusted_workspace' }, { onFailure: 'refuse' }, { profile: 'claude' }],
    ...[{ sandbox: true }, { persistent: true }, { parallel: true }, { args: [] }, { args: ['y'] }, { command: 'y' }],
    ...[{ once: true }, { async: true }],
  ])
    assert.equal(names([same, command('x', settings, other)]).length, 2, JSON.stringify(other))
  const words = (args: string[]) => command('x', settings, { args })
  assert.equal(names([words(['a', 'b']), words(['a', 'b'])]).length, 1)
  assert.equal(names([words(['a b']), words(['a', 'b'])]).length, 2)
  assert.equal(names([same, command('x', settings, { timeoutMs: 5 })]).length, 1)
  const hook = () => defineHook('Stop', () => undefined)
  assert.equal(names([hook(), hook()]).length, 2)
  const one = hook()
  assert.deepEqual([names([one, one]).length, names([one, same]).length, names([same, one]).length], [1, 2, 2])
})

test('the same URL or built-in is asked once, a prompt as often as it is written', () => {
  const other = (kind: object) => ({ ...command('x', settings), command: undefined, ...kind }) as unknown as Handler
  const url = (path: string, headers = {}, allowedEnvVars: string[] = []) =>
    other({ kind: 'http', url: `https://x/${path}`, headers, allowedEnvVars })
  const builtin = (name: string) => other({ kind: 'builtin', name })
  const prompt = () => other({ kind: 'prompt', prompt: 'p' })
  const count = (...handlers: Handler[]) => orderHandlers(handlers).length
  assert.deepEqual(
    [
      ...[count(url('a'), url('a')), count(url('a'), url('b'))],
      ...[count(builtin('a'), builtin('a')), count(builtin('a'), builtin('b')), count(builtin('a'), url('a'))],
      count(prompt(), prompt()),
      count(command('builtin:a', settings), builtin('a')),
      ...[count(url('a?rule=1'), url('a?rule=2')), count(url('a', { Rule: '1' }), url('a', { Rule: '2' }))],
      ...[
        count(url('a', {}, ['K']), url('a')),
        count(url('a?b', { Rule: '1' }, ['K']), url('a?b', { Rule: '1' }, ['K'])),
      ],
    ],
    [1, 2, 1, 2, 2, 2, 2, 2, 2, 2, 1],
  )
})

test('the order does not depend on how the sources are mixed', () => {
  const all = [
    ...['s1', 's2'].map((text) => command(text, settings)),
    ...['p1', 'p2'].map((text) => command(text, plugin(text))),
    ...['z1', 'z2'].map((text) => command(text, { kind: 'session' })),
  ]
  fc.assert(
    fc.property(fc.array(fc.nat(1), { minLength: 12, maxLength: 12 }), (picks) => {
      const queues = [all.slice(0, 2), all.slice(2, 4), all.slice(4)]
      const mixed: Handler[] = []
      for (const pick of picks)
        mixed.push(...(queues[pick * 2]?.splice(0, 1) ?? []), ...(queues[1 - pick]?.splice(0, 1) ?? []))
      mixed.push(...queues.flat())
      assert.deepEqual(names(mixed), names(all))
    }),
  )
})
