/** How what a handler printed, returned or failed with is read; nothing runs here. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { ask, type Outcome, TimeLimit } from '../kernel.ts'
import { questionFor, type Reply, readExit, replyOf } from './ask.ts'
import { builtins } from './builtin.ts'
import { eventReply, questionOf, renderInput, stepReply } from './prompt.ts'
import { urlProblem } from './url.ts'

test('what a command says by its exit code and its output', () => {
  const failed = (why: string) => ({ kind: 'failure', why, cause: 'failed' })
  const rows: [Parameters<typeof readExit>, object][] = [
    [[0, '', '', true], { kind: 'nothing' }],
    [[0, ' \n', 'noise', true], { kind: 'nothing' }],
    [[0, ' {"a":1}\n', '', true], { kind: 'answer', value: { a: 1 } }],
    [[0, '{"a":1}', '', false], { kind: 'answer', value: { a: 1 } }],
    [[0, '[1]', '', true], { kind: 'text', text: '[1]' }],
    [[0, '[1]', '', false], { kind: 'answer', value: [1] }],
    [[0, 'hello\n', '', true], { kind: 'text', text: 'hello\n' }],
    [[0, 'hello\n', '', false], { kind: 'text', text: 'hello\n' }],
    [[0, '{', '', true], failed(`answered with broken JSON: ${whyBroken('{')}`)],
    [[0, '{', '', false], failed(`answered with broken JSON: ${whyBroken('{')}`)],
    [[2, '{"a":1}', 'no\n', true], { kind: 'block', text: 'no\n' }],
    [[2, '', '', true], { kind: 'block', text: '' }],
    [[1, '', '', true], failed('exited with 1')],
    [[127, 'x', ' \nnot found\nmore', true], failed('exited with 127: not found')],
    [[3, '', 'e'.repeat(400), true], failed(`exited with 3: ${'e'.repeat(300)}`)],
    [[null, '', '', true], failed('exited with null')],
  ]
  for (const [given, said] of rows) assert.deepEqual(readExit(...given), said, JSON.stringify(given).slice(0, 80))
})

const whyBroken = (text: string) => {
  try {
    return JSON.parse(text)
  } catch (error) {
    return (error as Error).message
  }
}

test('what became of a handler is a reply, a failure too', () => {
  const kept = { exitCode: null, stdout: null }
  const answered: Reply = { kind: 'text', text: 'x', exitCode: 0, stdout: 'x', stderr: '' }
  const failed = (why: string, cause = 'failed') => ({ kind: 'failure', why, cause, ...kept, stderr: why })
  const rows: [Outcome<Reply>, object][] = [
    [{ kind: 'answered', value: answered }, answered],
    [{ kind: 'timed-out', afterMs: 50 }, failed('timed out after 50 ms', 'timed-out')],
    [{ kind: 'timed-out', afterMs: 7, cause: new TimeLimit(7, 'held') }, failed('timed out after 7 ms', 'timed-out')],
    [{ kind: 'interrupted' }, failed('was interrupted', 'interrupted')],
    [
      { kind: 'skipped', why: 'off' },
      { kind: 'nothing', ...kept, stderr: null },
    ],
    [{ kind: 'failed', cause: new RangeError('too far') }, failed('threw RangeError: too far')],
    [{ kind: 'failed', cause: 'words' }, failed('threw words')],
  ]
  for (const [outcome, reply] of rows) assert.deepEqual(replyOf(outcome), reply)
})

test('a command of a turn that is over is not started, whether or not it could go on alone', async () => {
  const scope = { sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: '/', record() {} }
  const asking = { input: {}, inputJson: '{}', timeoutMs: 1000, env: {} }
  const handler = {
    event: 'Stop',
    source: { kind: 'settings' },
    matcher: '',
    ifCondition: '',
    kind: 'command',
  } as const
  for (const profile of [undefined, 'claude'] as const) {
    const command = { ...handler, command: '/none/such', shell: 'sh', args: [], ...(profile && { profile }) } as const
    const question = questionFor(command, { ...asking, scope: { ...scope, signal: AbortSignal.abort() } })
    const why = 'was interrupted before it started'
    assert.deepEqual(replyOf(await ask(question)), {
      ...{ kind: 'failure', why, cause: 'interrupted', exitCode: null, stdout: '', stderr: `[SDLC_HOOK] ${why}` },
    })
  }
})

test('a command leaves no listener on the signal of the turn, whether or not it could go on alone', async () => {
  const { signal } = new AbortController()
  const scope = { sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: '/', record() {}, signal }
  const handler = {
    ...({ event: 'Stop', source: { kind: 'settings' }, matcher: '', ifCondition: '' } as const),
    ...({ kind: 'command', command: '/bin/echo', shell: 'sh', args: ['{}'] } as const),
  }
  for (const more of [{}, { profile: 'claude' }, { profile: 'claude', async: true }] as const) {
    const asking = { input: {}, inputJson: '{}', timeoutMs: 60_000, env: {}, scope, mayDetach: 'profile' in more }
    const reply = replyOf(await ask(questionFor({ ...handler, ...more }, asking)))
    assert.equal(reply.kind, 'async' in more ? 'detached' : 'answer')
    if (reply.kind === 'detached') await reply.rest
    assert.deepEqual(getEventListeners(signal, 'abort'), [], JSON.stringify(more))
  }
})

test('what a model answered, at an event and at a step', () => {
  const no = { decision: 'block', reason: 'the model that was asked said no' }
  const rows: [string, object | undefined, object | null][] = [
    ['', undefined, null],
    [' \n', undefined, null],
    ['{"ok":true}', {}, { ok: true }],
    ['{"ok":true,"reason":"fine"}', {}, { ok: true, reason: 'fine' }],
    ['{"ok":false}', no, { ok: false }],
    ['{"ok":false,"reason":7}', no, { ok: false, reason: 7 }],
    [' {"ok":false,"reason":"risky"}\n', { decision: 'block', reason: 'risky' }, { ok: false, reason: 'risky' }],
    ['```json\n{"ok":true}\n```', {}, { ok: true }],
    ['```\n{"ok":true}```', {}, { ok: true }],
    ['so: ```json\n{"ok":true}\n```', undefined, { additional_context: ['so: ```json\n{"ok":true}\n```'] }],
    ['```json\n{"ok":true}\n``` so', undefined, { additional_context: ['```json\n{"ok":true}\n``` so'] }],
    ['{}', undefined, {}],
    ['{"ok":"yes"}', undefined, { ok: 'yes' }],
    ['{"decision":"block"}', { decision: 'block' }, { decision: 'block' }],
    ['{"ok":', undefined, { additional_context: ['{"ok":'] }],
    ['[1]', undefined, { additional_context: ['[1]'] }],
    [' yes ', undefined, { additional_context: [' yes '] }],
  ]
  for (const [reply, atEvent, atStep] of rows)
    assert.deepEqual([eventReply(reply), stepReply(reply)], [atEvent, atStep], reply)
})

test('a question: $ARGUMENTS stands for the input, {{key}} for one of its keys', () => {
  const ask = (hook: object) => questionOf(hook as never, { a: '$&', b: [1], toString: 'own' })
  const json = '{"a":"$&","b":[1],"toString":"own"}'
  assert.deepEqual(
    [
      ask({ prompt: 'Safe? $ARGUMENTS, $ARGUMENTS' }),
      ask({ prompt: 'Safe?' }),
      ask({ system: 's' }),
      ask({ system: 's', render: 'json' }),
      ask({ system: 's', render: { template: 'is {{a}} {{ b }}{{c}} {{toString}}?' } }),
    ],
    [`Safe? ${json}, ${json}`, `Safe?\n\n${json}`, json, json, 'is $& [1] own?'],
  )
  assert.equal(renderInput({ template: '{{toString}}{{a\nb}}' }, { 'a\nb': null }), 'null')
})

test('where an event may be posted to', () => {
  const rows: Record<string, string | undefined> = {
    'https://a.b/': undefined,
    'http://localhost:1/': undefined,
    'http://[::1]/': undefined,
    'http://127.0.0.9/': undefined,
    'http://127.255.255.255/': undefined,
    'http://x127.0.0.1.nip.io/': 'sends the event unencrypted to another machine; use https',
    'http://127.0.0.1.nip.io/': 'sends the event unencrypted to another machine; use https',
    'http://localhost.nip.io/': 'sends the event unencrypted to another machine; use https',
    'http://notlocalhost/': 'sends the event unencrypted to another machine; use https',
    'http://[::2]/': 'sends the event unencrypted to another machine; use https',
    'http://10.0.0.1/': 'sends the event unencrypted to another machine; use https',
    'https://user@a.b/': 'has a password in it; give it in a header, from an environment variable',
    'https://:pass@a.b/': 'has a password in it; give it in a header, from an environment variable',
    'ftp://a/': 'is ftp:; only http and https can be posted to',
    'file:///a': 'is file:; only http and https can be posted to',
    'a.b/c': 'is not a URL',
  }
  for (const [url, problem] of Object.entries(rows)) assert.equal(urlProblem(url), problem, url)
})

test('redact-secrets hides the arguments that sound like secrets; tracing-audit says nothing', () => {
  const hide = builtins['redact-secrets']!
  const rows: [unknown, object | null][] = [
    [{ args: { path: '/a', tokens: 3 } }, { args: { path: '/a', tokens: '***' } }],
    [
      { args: { Password: 'a', my_token_2: 'b', SECRET: 'c', apiKey: 'd', api_key: 'e', 'x-authorization': {} } },
      {
        args: {
          Password: '***',
          my_token_2: '***',
          SECRET: '***',
          apiKey: '***',
          api_key: '***',
          'x-authorization': '***',
        },
      },
    ],
    [{ args: { path: '/a' } }, null],
    [{ args: ['token'] }, null],
    [{ args: null }, null],
    [{}, null],
  ]
  for (const [envelope, said] of rows) assert.deepEqual(hide(envelope as never), said)
  assert.equal(builtins['tracing-audit']!({ args: { token: 'x' } }), null)
})
