import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claudecode } from '../claudecode/index.ts'
import type { BrainHook } from '../hook.ts'
import { hosts } from '../index.ts'
import { ona } from '../ona/index.ts'

const hook = (command: string, what = 'Bash'): BrainHook => ({
  author: 'repo=a/role=b',
  event: 'onTool',
  command,
  timeout: 'PT5S',
  filter: { what, when: 'before' },
})
const written = (hooks: readonly BrainHook[], text: string | null = null) => claudecode.write(text, hooks, 'x')!
const groups = (text: string) => JSON.parse(text).hooks?.PreToolUse
const handler = (command: string) => JSON.parse(written([hook(command)])).hooks.PreToolUse[0].hooks[0]
const mine = { type: 'command', command: './mine.sh' }
const file = (...list: object[]) => JSON.stringify({ hooks: { PreToolUse: list } }, null, 2)

test('a hook of ours that was moved into a group of the user stays there as long as it says the same', () => {
  const moved = file({ matcher: 'Bash', hooks: [mine, handler('a')] })
  assert.equal(written([hook('a')], moved), moved)
  assert.deepEqual(groups(written([hook('a', 'Edit')], moved)), [
    { matcher: 'Bash', hooks: [mine] },
    { matcher: 'Edit', hooks: [handler('a')] },
  ])
  assert.deepEqual(groups(written([], moved)), [{ matcher: 'Bash', hooks: [mine] }])
})

test('a group that holds only hooks of ours goes with the last of them', () => {
  const together = file({ matcher: 'Bash', hooks: [handler('a'), handler('b')] }, { matcher: 'Bash', hooks: [mine] })
  assert.deepEqual(groups(written([hook('b')], together)), [
    { matcher: 'Bash', hooks: [handler('b')] },
    { matcher: 'Bash', hooks: [mine] },
  ])
  assert.deepEqual(groups(written([], together)), [{ matcher: 'Bash', hooks: [mine] }])
})

test('a hook that somebody copied is there once again', () => {
  const twice = file({ matcher: 'Bash', hooks: [handler('a')] }, { matcher: 'Bash', hooks: [handler('a')] })
  assert.deepEqual(groups(written([hook('a')], twice)), [{ matcher: 'Bash', hooks: [handler('a')] }])
})

test('a comment neither swallows a hook nor goes with one, wherever it stands', () => {
  const texts = ['{\n  // nothing yet\n}\n', '{ "a": 1 // mine\n}\n', '{ "hooks": { /* none */ } }', '{ // all\n}']
  const list = '{ "hooks": { "PreToolUse": [ // mine\n  ] } }'
  assert.equal(ona.write(ona.write(list, [hook('a')], 'x'), [], 'x'), list)
  for (const text of texts) {
    const full = ona.write(text, [hook('a')], 'x')!
    assert.deepEqual(ona.read(full, 'x'), [hook('a')])
    assert.equal(ona.write(full, [], 'x'), text)
  }
})

test('things of other shapes are stepped over, and in the way only where we must write', () => {
  const odd = JSON.stringify({
    hooks: { Notification: 'ring', PreToolUse: [null, 5, { hooks: 'x' }, { matcher: 7, hooks: [null] }] },
  })
  assert.deepEqual(JSON.parse(written([hook('a')], odd)).hooks.PreToolUse.length, 5)
  assert.equal(written([], odd), odd)
  assert.throws(() => written([hook('a')], '{ "hooks": [] }'), /x: "hooks" must be an object; nothing was written/)
  assert.throws(
    () => written([hook('a')], '{ "hooks": { "PreToolUse": {} } }'),
    /x: hooks\.PreToolUse must be a list; nothing was written/,
  )
})

test('commands of every kind come back as they were', () => {
  const commands = [
    "it's",
    'a "b" `c` $D \\e',
    'one\ntwo',
    "cat <<'EOF'\nx\nEOF",
    "'",
    "''",
    ' # ona: no',
    'é 🙂',
    'a # ona: repo=x/role=y',
    "cd 'x' && y",
  ]
  for (const brain of [...hosts, claudecode.shared!.forAll])
    for (const event of ['onBoot', 'onTool', 'onStop'] as const)
      for (const command of commands) {
        const { filter, ...rest } = hook(command)
        const given: BrainHook = { ...rest, event, ...(event === 'onTool' && { filter: filter! }) }
        const text = brain.write(null, [given], 'x')!
        assert.deepEqual(brain.read(text, 'x'), [given], `${brain.slug} ${event} ${command}`)
      }
})

test('hooks that rhachet wrote are ours: kept once, put into our form, removed with their role', () => {
  const theirs = (command: string, more: object = {}) => ({
    type: 'command',
    command,
    timeout: 5,
    author: 'repo=a/role=b',
    ...more,
  })
  const settings = {
    hooks: {
      PreToolUse: [
        { matcher: 'Bash', hooks: [theirs('one'), mine, theirs('two')] },
        { matcher: '# author=repo=a/role=b Write', hooks: [{ type: 'command', command: 'older', timeout: 5 }] },
      ],
      Stop: [{ matcher: '*', hooks: [theirs('stop')] }],
      PostCompact: [{ matcher: '*', hooks: [theirs('again')] }],
    },
  }
  const text = JSON.stringify(settings, null, 2)
  const found = claudecode.read(text, 'x')
  assert.deepEqual(
    found.map(({ event, command, filter }) => [event, command, filter?.what]),
    [
      ['onBoot', 'again', 'PostCompact'],
      ['onTool', 'one', 'Bash'],
      ['onTool', 'two', 'Bash'],
      ['onTool', 'older', 'Write'],
      ['onStop', 'stop', undefined],
    ],
  )
  const after = claudecode.write(text, found, 'x')!
  assert.deepEqual(claudecode.read(after, 'x'), found)
  assert.equal(after.includes('author='), false)
  assert.equal(after.includes('"author"'), false)
  const { PreToolUse, PostCompact, SessionStart } = JSON.parse(after).hooks
  assert.deepEqual(
    [PreToolUse[0], PostCompact, SessionStart[0].matcher],
    [{ matcher: 'Bash', hooks: [mine] }, undefined, 'compact'],
  )
  assert.deepEqual(JSON.parse(claudecode.write(text, [], 'x')!), {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [mine] }] },
  })
  // an import takes them over, as it does with the user's own
  assert.equal(claudecode.foreign!(text, 'x').filter((one) => 'moment' in one).length, 6)
})

test('many hooks at once go in and out without a trace in what is around them', () => {
  const text = `{\n    "hooks": {\n        "PreToolUse": [\n            { "matcher": "Bash", "hooks": [ ${JSON.stringify(mine)} ] }\n        ]\n    },\n    "z": [1,2]\n}\n`
  const many = Array.from({ length: 60 }, (_, index) => hook(`node ${index}.mjs`))
  const full = written(many, text)
  assert.deepEqual(claudecode.read(full, 'x'), many)
  const late = many.map((one) => ({ ...one, timeout: 'PT9S' }))
  assert.equal(written(many, written(late, full)), full)
  assert.equal(written([], full), text)
})

test('what goes into the file of Claude Code is what its published schema allows', () => {
  // SchemaStore, claude-code-settings.json: hookMatcher and hookCommand have no additional properties
  const allowed = {
    group: ['matcher', 'hooks'],
    handler: ['type', 'command', 'timeout', 'async', 'asyncRewake', 'shell', 'if', 'statusMessage', 'args'],
  }
  for (const brain of [claudecode, claudecode.shared!.forAll]) {
    const [group] = groups(brain.write(null, [hook('a')], 'x')!)
    assert.deepEqual(
      Object.keys(group).filter((key) => !allowed.group.includes(key)),
      [],
    )
    assert.deepEqual(
      Object.keys(group.hooks[0]).filter((key) => !allowed.handler.includes(key)),
      [],
    )
    assert.ok(group.hooks[0].timeout > 0)
  }
})
