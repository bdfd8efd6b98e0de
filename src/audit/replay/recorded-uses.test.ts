import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useOfCall, usesOfReply } from './recorded-uses.ts'

const use = (id: string, input: object = { command: 'ls' }) => ({ type: 'tool_use', id, name: 'Bash', input })
const reply = (...content: unknown[]) => JSON.stringify({ _t: 'assistant', uuid: 'u', content })

/** What reading the whole entry gives. */
function whole(payload: string): unknown[] {
  const { content } = JSON.parse(payload)
  return content.filter((block: { type?: string } | null) => block?.type === 'tool_use')
}

test('every call of a reply is found, wherever its text says something that looks like one', () => {
  const payloads = [
    reply(use('a')),
    reply({ type: 'text', text: 'first {"type":"tool_use"' }, use('a'), { type: 'text', text: ']}' }, use('b')),
    reply({ type: 'text', text: 'tool_use' }, use('a')),
    reply({ type: 'thinking', thinking: 'x', nested: { type: 'tool_use' } }, use('a')),
    reply({ type: 'thinking', nested: [{ type: 'tool_use' }] }, use('a')),
    reply(use('a', { nested: [{ type: 'tool_use', id: 'no', name: 'no', input: {} }] }), use('b')),
    reply({ id: 'a', type: 'tool_use', name: 'Bash', input: {} }, use('b')),
    JSON.stringify({ _t: 'assistant', uuid: 'u"', content: [use('a')] }),
    JSON.stringify({ uuid: 'u', content: [use('a')], _t: 'assistant' }),
    JSON.stringify({ _t: 'assistant', uuid: 'u', content: [use('a')], other: [use('no')] }),
    JSON.stringify({ _t: 'assistant', uuid: 'u', other: [use('no')], content: [use('a')] }),
    JSON.stringify({ _t: 'assistant', uuid: 'u', content: [], other: [use('no')] }),
    JSON.stringify({ _t: 'assistant', uuid: 'u', content: [use('a'), null, 3] }, null, 1),
    reply({ type: 'text', text: 'no call at all' }),
    reply(use('a')).replaceAll('tool_use', 'tool_\\u0075se'),
    reply(),
    ...[
      ...[
        '',
        'a "quoted" word',
        'ends in \\',
        '\\\\',
        '\\"',
        'two\nlines\tand a tab',
        '\u0001',
        'ü',
        '\u2028',
        '"}}]}',
        '\ud800',
      ],
      ...['","description":"', 'x"}}]}{"type":"tool_use"', 'long '.repeat(30_000), '\n'.repeat(60_000)],
    ].flatMap((text) => [
      reply(use('a', { command: text })),
      reply({ type: 'text', text: 'said' }, use('a', { command: text, description: 'what it does' })),
      reply(use('a', { command: 'ls', description: text })),
      reply(use(text, { command: 'ls' })),
    ]),
    reply(use('a', { command: 'ls', timeout: 5 })),
    reply(use('a', { command: 'ls', description: 'x', timeout: 5 })),
    reply(use('a', { command: 'ls', description: 5 })),
    reply(use('a', { command: 5 })),
    reply(use('a', { description: 'x', command: 'ls' })),
    reply(use('a', { command: 'ls' }), { type: 'text', text: 'said after it' }),
    reply(use('a', { command: 'ls' }), use('b', { command: 'pwd', description: 'x' })),
    reply({ ...use('a', { command: 'ls' }), name: 'Read' }),
    reply({ ...use('a', { command: 'ls' }), cache: true }),
  ]
  for (const payload of payloads) assert.deepEqual(usesOfReply(payload), whole(payload), payload)
})

test('an entry that holds no call, or is damaged, has none', () => {
  for (const payload of ['', 'x', '[]', 'null', '{"content":{}}', '{"content":[{"type":"tool_use","id":1}]}'])
    assert.deepEqual(usesOfReply(payload), [], payload)
  const command = reply(use('a', { command: 'one' }))
  const described = reply(use('a', { command: 'one', description: 'two' }))
  for (const payload of [
    reply(use('a')).slice(0, -1),
    `${reply(use('a'))}}`,
    command.replace('one', 'o\ne'),
    command.replace('one', '\\q'),
    command.replace('one"', 'one'),
    command.replace('one"}', 'one"'),
    described.replace('two', 't\no'),
    described.replace('two', '\\q'),
    described.replace('two"}', 'two"'),
    described.replace('"id":"a', '"id":"\u0001'),
  ])
    assert.deepEqual(usesOfReply(payload), [])
  assert.deepEqual(useOfCall('{"_t":"tool_use","id":"a","name":"Bash"}'), [])
  const call = { _t: 'tool_use', id: 'a', name: 'Bash', input: {} }
  assert.deepEqual(useOfCall(JSON.stringify(call)), [call])
})
