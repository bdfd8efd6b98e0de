/** Names that secrets go by, in arguments, headers and variables; and the names by which a matcher may mean a tool. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claudeToolName, namesOf } from './claude/contract.ts'
import { defineHook } from './define.ts'
import { isEventName } from './events.ts'
import { type Handler, labelOf } from './handler.ts'
import { builtins } from './handlers/builtin.ts'
import { filesCommandsExecute } from './handlers/executed-files.ts'
import { createRedactor } from './secrets/redact.ts'
import { credentialNames, isSecretName, secretNamePattern, withoutCredentials } from './secrets/secret-names.ts'
import { readHooks } from './settings.ts'
import { wireBody } from './step/blocks.ts'
import { nearest, notKnown } from './text/nearest.ts'
import { readGlob, readStepMatch } from './wire/matcher.ts'
import { unknownOnly } from './wire/output.ts'

const words = (text: string) => text.split(' ')

test('a name that carries a secret', () => {
  const secret =
    'password PASSWORD db_password token API_TOKEN secret apiKey api_key API-Key apikeys accessKey privateKey secretKey SECRET_KEY_BASE passwd passphrase clientSecret client_secret credential credentials cookie Authorization api_key_2'
  const plain = 'tokens max_tokens tokenizer passwords secretary keys author cookies cookie_policy authorization_url x'
  assert.deepEqual([words(secret).filter((name) => !isSecretName(name)), words(plain).filter(isSecretName)], [[], []])
})

test('the names in a text: keys and credentials in the plural as well', () => {
  const whole = new RegExp(`^(?:${secretNamePattern})$`, 'i')
  const named = words('api_keys accessKeys private-keys secret_keys credentials password token Authorization cookie')
  const other = words('tokens passwords cookies secrets key')
  assert.deepEqual([named.filter((name) => !whole.test(name)), other.filter((name) => whole.test(name))], [[], []])
})

test('redact-secrets hides arguments by name, and says nothing where there is none', () => {
  const hide = builtins['redact-secrets']!
  const args = {
    password: 'a',
    apiKey: 'b',
    api_key: 'c',
    my_token: 'd',
    Authorization: 'e',
    secret: 'f',
    path: 'g',
    key: 'h',
  }
  assert.deepEqual(hide({ args }), {
    args: {
      password: '***',
      apiKey: '***',
      api_key: '***',
      my_token: '***',
      Authorization: '***',
      secret: '***',
      path: 'g',
      key: 'h',
    },
  })
  assert.deepEqual(
    [hide({ args: { path: 'x' } }), hide({ args: 7 }), hide({}), builtins['tracing-audit']!({ args })],
    [null, null, null, null],
  )
})

test('credentials of our own are left out of what tools inherit, and nothing else is', () => {
  const env = Object.fromEntries(credentialNames.map((name) => [name, 'x']))
  assert.deepEqual(withoutCredentials({ ...env, PATH: '/bin' }), { PATH: '/bin' })
  assert.deepEqual(
    credentialNames,
    words(
      'ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_OAUTH_REFRESH_TOKEN OPENAI_API_KEY LM_STUDIO_API_KEY ANTHROPIC_CUSTOM_HEADERS OPENAI_CUSTOM_HEADERS ANTHROPIC_UNIX_SOCKET CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR',
    ),
  )
})

test('known values are redacted as they stand, short ones are not, and JSON stays JSON', () => {
  const redact = createRedactor(['a.b*c(known)', 'short'])
  assert.equal(redact('x a.b*c(known) short aXb'), 'x [redacted] short aXb')
  const json = JSON.stringify({ text: "password='never closed", next: 'value' })
  assert.deepEqual(JSON.parse(redact(json, 'json')), { text: "password='[redacted]", next: 'value' })
})

test('tools by the names of both products', () => {
  assert.deepEqual(['Agent', 'Brief', 'ListMcpResources', 'ReadMcpResource', 'Bash', undefined].map(namesOf), [
    ...[
      ['Agent', 'Task'],
      ['Brief', 'SendUserMessage'],
      ['ListMcpResources', 'ListMcpResourcesTool'],
    ],
    ...[['ReadMcpResource', 'ReadMcpResourceTool'], ['Bash'], [undefined]],
  ])
  assert.deepEqual(['Brief', 'Bash'].map(claudeToolName), ['SendUserMessage', 'Bash'])
})

test('a step matches by every part that is given', () => {
  const cases = [
    { match: {}, is: [true, true, true] },
    { match: { tool: 'Bash' }, is: [true, false, false] },
    { match: { tool_glob: 'B*' }, is: [true, false, false] },
    { match: { safety: ['network' as const, 'mutating' as const] }, is: [true, false, false] },
    { match: { tool_glob: '*', safety: ['read_only' as const] }, is: [false, true, false] },
  ]
  for (const { match, is } of cases) {
    const matches = readStepMatch(match)
    assert.deepEqual(
      [matches('Bash', 'mutating'), matches('Read', 'read_only'), matches(undefined, undefined)],
      is,
      JSON.stringify(match),
    )
  }
  const sets: [string, string, string][] = [
    ['[a^]', 'a ^', 'b'],
    ['[!a]', 'b ^', 'a'],
    ['[^a]', 'b !', 'a'],
    ['[a\\]', 'a \\', 'b'],
    ['[[]', '[', 'a'],
    ['*a*b', 'ab xaxb aabb', 'a b aba'],
    ['{a,b{c,d}}', 'a bc bd', 'b abc'],
  ]
  for (const [glob, yes, no] of sets)
    assert.deepEqual(
      [words(yes).map(readGlob(glob)), words(no).some(readGlob(glob))],
      [words(yes).map(() => true), false],
      glob,
    )
})

test('the name that was probably meant: letters swapped, left out, put in or changed', () => {
  const names = ['PreToolUse', 'Stop', 'PostToolUse']
  assert.deepEqual(
    words('PreTolUse PerToolUse PretoolUse pre_tool_use PreToolUsee Sotp Stpo Stopp Xtop Pre Lunch').map((word) =>
      nearest(word, names),
    ),
    [
      ...[
        'PreToolUse',
        'PreToolUse',
        'PreToolUse',
        'PreToolUse',
        'PreToolUse',
        'Stop',
        'Stop',
        'Stop',
        'Stop',
        undefined,
        undefined,
      ],
    ],
  )
  assert.equal(
    nearest('abxd', ['abcd'], () => 0),
    undefined,
  )
  assert.equal(notKnown('x"', ['alpha', 'beta']), 'is "x\\""; it must be one of alpha, beta')
})

test('the result of a tool as a verdict would write it', () => {
  const text = { type: 'text', text: 'a' } as const
  const image = { type: 'image', data: 'AA', mimeType: 'image/png' } as const
  assert.deepEqual(wireBody({ kind: 'content', blocks: [text, image] }), {
    kind: 'content',
    blocks: [
      { kind: 'text', text: 'a' },
      { kind: 'image', mime: 'image/png', data: { kind: 'base64', encoded: 'AA' } },
    ],
  })
  for (const body of [{ kind: 'text', text: 'a' } as const, { kind: 'json', value: [1] } as const])
    assert.equal(wireBody(body), body)
})

test('what the record calls a handler', () => {
  const long = 'x'.repeat(300)
  const table: [object, string][] = [
    [{ kind: 'command', command: 'check' }, 'check'],
    [{ kind: 'command', command: 'check', args: ['-v', 'a b'] }, 'check -v a b'],
    [{ kind: 'builtin', name: 'tracing-audit' }, 'builtin:tracing-audit'],
    [{ kind: 'function', name: 'mine' }, 'function:mine'],
    [{ kind: 'http', url: 'https://ada:pw@host/path@2?key=1#x' }, 'http:https://host/path@2'],
    [{ kind: 'http', url: 'http://host/a/b' }, 'http:http://host/a/b'],
    [{ kind: 'prompt', prompt: long, system: 's' }, `prompt:${long.slice(0, 200)}`],
    [{ kind: 'prompt', system: 's' }, 'prompt:s'],
    [{ kind: 'prompt' }, 'prompt:json'],
  ]
  assert.deepEqual(
    table.map(([handler]) => labelOf(handler as Handler)),
    table.map(([, label]) => label),
  )
})

test('a name that every object inherits is none of ours: not an event, a built-in, a key, an answer or a program', () => {
  const place = { cwd: '/nowhere', projectDir: '/nowhere', home: '/nowhere' }
  for (const name of ['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf']) {
    assert.equal(isEventName(name), false)
    assert.throws(() => defineHook(name as 'Stop', () => undefined), new RegExp(`the event is "${name}"`))
    const hooks = [
      { hook_event_name: 'before_tool_apply', type: 'builtin', name },
      { hook_event_name: 'Stop', command: 'x', [name]: 1 },
    ]
    const { handlers, problems } = readHooks({ hooks }, { source: { kind: 'settings' } })
    assert.deepEqual(
      [handlers.length, problems.map(({ path, level }) => [path, level])],
      [
        1,
        [
          ['hooks[0].name', 'error'],
          [`hooks[1].${name}`, 'warning'],
        ],
      ],
    )
    assert.equal(unknownOnly('PreToolUse', { [name]: 1 }), name)
    assert.equal(unknownOnly('PreToolUse', { hookSpecificOutput: { [name]: 1 } }), name)
    assert.deepEqual(filesCommandsExecute([name], place), [])
  }
})
