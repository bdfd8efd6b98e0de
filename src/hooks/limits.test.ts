/** What the plane's small parts say at their limits, and of texts that only nearly match. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { defineHook, defineStepHook } from './define.ts'
import { createPlane } from './dispatch.ts'
import { type Handler, labelOf } from './handler.ts'
import { filesCommandsExecute, filesHooksExecute } from './handlers/executed-files.ts'
import { orderHandlers } from './order.ts'
import type { Scope } from './plane.ts'
import { git } from './process/quiet-git.ts'
import { redact } from './secrets/redact.ts'
import { readHooks } from './settings.ts'
import { proceed, runStepPipeline } from './step/apply.ts'
import type { Steps } from './steps.ts'
import { grouped } from './text/counted.ts'
import { slowPart } from './text/slow-regex.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ona-hook-limits-')))
after(() => rmSync(folder, { recursive: true }))
const put = (file: string, text = 'x') => {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
  return join(folder, file)
}

test('the label of a server has no user, no password and no query in it, on however many lines', () => {
  const label = (url: string) => labelOf({ kind: 'http', url } as Handler)
  const rows: [string, string][] = [
    ['https://ada:pw@host/a?key=1', 'https://host/a'],
    ['https://ada:p@w@host/a', 'https://host/a'],
    ['https://host?to=a@b', 'https://host'],
    ['https://host#a@b', 'https://host'],
    ['http://host/a?key=1\n2', 'http://host/a'],
    ['http://host/ftp://b@c', 'http://host/ftp://b@c'],
    ['http://host/a@b', 'http://host/a@b'],
  ]
  assert.deepEqual(
    rows.map(([url]) => label(url)),
    rows.map(([, shown]) => `http:${shown}`),
  )
})

test('files that hooks execute: by an escaped word, in a folder that is only named like the system’s, not by any "~"', () => {
  const place = { cwd: folder, projectDir: folder, home: join(folder, 'home') }
  const files = ['a b.sh', 'usr/c.sh', 'home/d.sh', 'e~/f.sh'].map((file) => put(file))
  assert.deepEqual(filesCommandsExecute(['a\\ b.sh', './usr/c.sh && ~/d.sh', 'e~/f.sh', ' ', ''], place), files)
  const named = { kind: 'function', name: 'n' } as Handler
  const read = { ...named, file: 'usr/c.sh' } as Handler
  assert.deepEqual(filesHooksExecute([named, read], place), [join(folder, 'usr/c.sh')])
})

test('plugins are ordered by code point, a name before those that go on from it', () => {
  const handlers = ['ab', 'a', '\u{10000}', '\uffff', 'abc'].map((pluginId) => ({
    ...{ kind: 'command', command: 'x', event: 'Stop', matcher: '', ifCondition: '' },
    source: { kind: 'plugin', pluginId },
  })) as unknown as Handler[]
  const names = (given: readonly Handler[]) =>
    given.map(({ source }) => (source.kind === 'plugin' ? source.pluginId : ''))
  const ordered = handlers.map((each) => ({ ...each, matcher: names([each])[0]! }))
  assert.deepEqual(names(orderHandlers(ordered)), ['a', 'ab', 'abc', '\uffff', '\u{10000}'])
  assert.deepEqual(names(orderHandlers(ordered.toReversed())), ['a', 'ab', 'abc', '\uffff', '\u{10000}'])
})

test('git hears no variable that points it elsewhere, and every other', async (t) => {
  chmodSync(put('bin/git', '#!/bin/sh\nenv\n'), 0o755)
  const pointing =
    'DIR WORK_TREE INDEX_FILE COMMON_DIR CONFIG CONFIG_GLOBAL EXTERNAL_DIFF EXEC_PATH SSH SSH_COMMAND PROXY_COMMAND TEMPLATE_DIR'
      .split(' ')
      .map((name) => `GIT_${name}`)
  const others = ['MY_GIT_DIR', 'GIT_DIRS', 'GIT_AUTHOR_NAME']
  const before = process.env['PATH']
  t.after(() => {
    process.env['PATH'] = before
    for (const name of [...pointing, ...others]) delete process.env[name]
  })
  process.env['PATH'] = `${join(folder, 'bin')}:${before}`
  for (const name of [...pointing, ...others]) process.env[name] = 'x'
  const { text } = await git(folder, ['status'], { trusted: true })
  const heard = [...text.matchAll(/^(\w*GIT_\w*)=x$/gm)].map(([, name]) => name)
  assert.deepEqual(heard.sort(), others.toSorted())
})

test('redaction: a key block without content, an empty value in a JSON string, a value closed by fewer slashes', () => {
  const block = '-----BEGIN PRIVATE KEY----------END PRIVATE KEY----- and "more"'
  assert.equal(redact(block), '-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY----- and "more"')
  const empty = JSON.stringify({ command: "token='' and 'more'" })
  assert.equal(redact(empty, 'json'), empty)
  assert.equal(redact('password=\\\\\\"abcdef\\" and more'), 'password=\\\\\\"[redacted]\\" and more')
})

const scope = (delivered: unknown[] = []): Scope => ({
  ...{ sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: folder, toolUseId: 't' },
  record: (row) => void delivered.push(row.skippedReason),
})
const toolCall = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't' }

test('a rule that cannot be judged does not keep a handler from running', async () => {
  const guard = defineHook('PreToolUse', () => ({ decision: 'block', reason: 'no' }), { if: 'Bash(rm *)' } as never)
  assert.equal((await createPlane([guard]).raise('PreToolUse', toolCall, scope())).decision, 'deny')
  const judged = createPlane([guard], { matchesRule: async () => false })
  assert.equal((await judged.raise('PreToolUse', toolCall, scope())).decision, 'none')
})

test('a guard that answers with keys that the event takes has not failed', async () => {
  const answer = (text: string) => {
    const hook = { hook_event_name: 'PreToolUse', command: `printf '${text}'`, shell: 'sh', onFailure: 'refuse' }
    return createPlane(readHooks({ hooks: [hook] }, { source: { kind: 'settings' } }).handlers).raise(
      'PreToolUse',
      toolCall,
      scope(),
    )
  }
  const known = await answer('{"systemMessage":"hi"}')
  assert.deepEqual([known.decision, known.messages], ['none', ['hi']])
  assert.equal((await answer('{"message":"hi"}')).decision, 'deny')
})

test('a step of a tool with two names is shown to a handler of either', async () => {
  const seen: string[] = []
  const hooks = ['Task', 'Agent', 'Bash'].map((tool) =>
    defineStepHook('before_tool_apply', () => void seen.push(tool), { matcher: tool } as never),
  )
  const step: Steps['before_tool_apply'] = { toolName: 'Agent', safety: 'mutating', args: {}, result: null }
  await createPlane(hooks).ask('before_tool_apply', step, scope())
  assert.deepEqual(seen, ['Task', 'Agent'])
})

test('of several verdicts on a step the first that is not to proceed ends it, and so does a bad one that is answered for', () => {
  const run = (verdicts: unknown[], onError: Parameters<typeof runStepPipeline>[3] = () => undefined) => {
    const step: Steps['before_tool_apply'] = { toolName: 'Bash', safety: 'mutating', args: {}, result: null }
    return runStepPipeline('before_tool_apply', step, verdicts, onError)
  }
  const veto = { control: 'veto', reason: 'no' }
  const ended = run([{}, { control: 'proceed' }, veto, { control: 'nonsense' }], () => assert.fail('it had ended'))
  assert.equal(ended.kind, 'break')
  assert.deepEqual(run([{}, { control: 'proceed' }]), proceed)
  assert.equal(run([{ control: 'nonsense' }, veto]).kind, 'break')
  assert.deepEqual(
    run([{ control: 'nonsense' }, veto], () => proceed),
    proceed,
  )
})

test('numbers are grouped from five digits on', () => {
  assert.deepEqual([9999, 10_000, -9999, -10_000, 1_234_567].map(grouped), [
    '9999',
    '10,000',
    '-9999',
    '-10,000',
    '1,234,567',
  ])
})

test('slow expressions: one that only looks ahead slowly is slow; a "?:" within a group opens none; a class may stay open', () => {
  assert.match(slowPart('(?=.*.*.*.*x)y') ?? '', /more than 3 repeats/)
  assert.match(slowPart('y(?=(a+)+)') ?? '', /exponential/)
  assert.equal(slowPart('[a'), null)
  assert.match(slowPart('(aa?:|a+)+') ?? '', /exponential/)
})
