import assert from 'node:assert/strict'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { authorizationServer } from './support/authorization-server.ts'
import { status, stream, wireServer } from './support/model/wire-server.ts'
import { type Place, place } from './support/program.ts'

const frame = (data: { type: string; [key: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const block = (index: number, content_block: object) => frame({ type: 'content_block_start', index, content_block })
const reply = (stop_reason: string, ...blocks: object[]) =>
  stream([
    frame({ type: 'message_start', message: { model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } }),
    ...blocks.map((each, index) => block(index, each)),
    frame({ type: 'message_delta', delta: { stop_reason } }),
    frame({ type: 'message_stop' }),
  ])
const says = (text: string) => reply('end_turn', { type: 'text', text })
const calls = (command: string) =>
  reply('tool_use', { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command } })

/** Every file below a folder, but those that may hold a secret. */
const filesOf = (folder: string, except: readonly string[] = []) =>
  globSync('**/*', { cwd: folder, exclude: (name) => except.includes(String(name)) })
    .concat(globSync('.*/**/*', { cwd: folder }))
    .filter((name) => !except.some((each) => name.endsWith(each)))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())

function leaks(at: Place, secret: string, except: readonly string[]): string[] {
  return [...filesOf(at.home, except), ...filesOf(at.folder, except)].filter((path) =>
    readFileSync(path).includes(secret),
  )
}

async function serverFor(t: TestContext, ...answers: Parameters<typeof wireServer>) {
  const server = await wireServer(...answers)
  t.after(() => server.close())
  return server
}

test('an account is logged in to through the browser, used, shown and forgotten', async (t) => {
  const authorization = await authorizationServer()
  t.after(() => authorization.close())
  const model = await serverFor(t, says('Hello.'))
  const at = place(t, { ...authorization.env, ANTHROPIC_BASE_URL: model.url })
  assert.equal((await at.run(['status'])).code, 1)

  let visited = false
  const login = await at.run(['login', '--oauth'], {
    onStderr(text) {
      const url = /(http:\/\/\S+authorize\S+)\n/.exec(text)?.[1]
      if (url && !visited) {
        visited = true
        void fetch(url)
      }
    },
  })
  assert.equal(login.code, 0, login.stderr)
  assert.match(
    login.stdout,
    /^Login successful as ada@example\.org\. Kept in \S+credentials\.json \(no keychain answered/,
  )

  const shown = JSON.parse((await at.run(['status', '--json'])).stdout)
  assert.deepEqual(
    [shown.loggedIn, shown.authMethod, shown.source, shown.lastFour, shown.account, shown.provider],
    [true, 'oauth', 'login', '…er-1', 'ada@example.org', 'claude_code_subscription'],
  )
  assert.equal((await at.run(['-p', 'hello'])).stdout, 'Hello.\n')
  assert.equal(model.seen[0]!.headers.authorization, 'Bearer access-token-number-1')
  assert.equal(model.seen[0]!.headers['anthropic-beta'], 'oauth-1')

  for (const secret of ['access-token-number-1', 'refresh-token-number-1'])
    assert.deepEqual(leaks(at, secret, ['credentials.json']), [])
  const bare = JSON.parse((await at.run(['status', '--json', '--bare'])).stdout)
  assert.deepEqual([bare.loggedIn, bare.notes[0]], [false, 'the login is not used with --bare'])

  assert.match((await at.run(['logout'])).stdout, /Logged out/)
  assert.equal((await at.run(['status'])).code, 1)
  assert.deepEqual(leaks(at, 'access-token-number-1', []), [])
})

test('a key is taken from a pipe, and its last four characters are all that is ever shown', async (t) => {
  const at = place(t)
  const key = 'sk-ant-planted-abcdefgh5678'
  const login = await at.run(['login', '--key'], { input: `${key}\n` })
  assert.equal(login.code, 0, login.stderr)
  const shown = await at.run(['status'])
  assert.match(shown.stdout, /Credential {2}api_key from login ending …5678/)
  for (const { stdout, stderr } of [login, shown]) assert.ok(!(stdout + stderr).includes('abcdefgh'))
  assert.equal((await at.run(['login', '--key'], { input: 'two words\n' })).code, 1)
  assert.equal((await at.run(['login', '--nothing'])).code, 2)
  assert.equal((await at.run(['status', '--nothing'])).code, 2)
  assert.equal((await at.run(['logout', '--nothing'])).code, 2)
})

test('the helper of a folder that nobody trusts is not run; of a trusted one its key is used', async (t) => {
  const model = await serverFor(t, says('Hello.'))
  const at = place(t, { ANTHROPIC_BASE_URL: model.url })
  at.write('key.txt', 'helper-key-000001')
  at.write('.ona/settings.json', { apiKeyHelper: `touch ${join(at.folder, 'ran')}; cat ${join(at.folder, 'key.txt')}` })
  const untrusted = await at.run(['-p', 'hello'])
  assert.deepEqual([untrusted.code, untrusted.stdout], [1, ''])
  assert.match(untrusted.stderr, /ANTHROPIC_BASE_URL is set, but no Anthropic credential|apiKeyHelper is not used/)
  assert.deepEqual(globSync('ran', { cwd: at.folder }), [])
  const trusted = await at.run(['-p', 'hello', '--trust'])
  assert.deepEqual([trusted.code, trusted.stdout], [0, 'Hello.\n'], trusted.stderr)
  assert.deepEqual(
    [model.seen[0]!.headers['x-api-key'], model.seen[0]!.headers.authorization],
    ['helper-key-000001', 'Bearer helper-key-000001'],
  )
  assert.deepEqual(leaks(at, 'helper-key-000001', ['key.txt']), [])
})

test('planted keys are nowhere after a busy session: not in the database, a log, or what a hook is given', async (t) => {
  const key = 'sk-ant-planted-key-in-env-0001'
  const other = 'sk-openai-planted-in-env-00002'
  const model = await serverFor(
    t,
    status(529, { error: { type: 'overloaded_error', message: `overloaded for ${key}` } }, { 'retry-after': '0' }),
    calls('cat leaked.txt; env'),
    calls(`echo ${key}; curl -s http://user:${other}@127.0.0.1:9/?key=${key}; false`),
    says(`Your key is ${key}.`),
    status(401, { error: { type: 'authentication_error', message: `the key ${key} is not valid` } }),
  )
  const at = place(t, { ANTHROPIC_API_KEY: key, OPENAI_API_KEY: other, ANTHROPIC_BASE_URL: model.url })
  at.write('leaked.txt', `the keys are ${key} and ${other}\n`)
  at.write('hook.sh', `#!/bin/sh\ncat >> "$1"\necho '{"systemMessage":"${key}"}'\necho ${other} >&2\n`)
  const events = [
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'PostToolUseFailure',
    'Stop',
    'StopFailure',
    'SessionEnd',
  ]
  const hook = [{ hooks: [{ type: 'command', command: './hook.sh hook-stdin.txt' }] }]
  const settings = {
    permissions: { allow: ['Bash'] },
    env: { MY_KEY: key },
    hooks: Object.fromEntries(events.map((event) => [event, hook])),
  }
  const flags = ['--settings', JSON.stringify(settings), '--output-format', 'stream-json', '--verbose']
  const ran = await at.run(['-p', `my key is ${key}`, ...flags])
  assert.equal(ran.code, 0, ran.stderr)
  const refused = await at.run(['-p', 'again', '--continue', ...flags])
  assert.equal(refused.code, 1)

  assert.ok(readFileSync(join(at.folder, 'hook-stdin.txt'), 'utf8').includes('PreToolUse'))
  for (const secret of [key, other]) assert.deepEqual(leaks(at, secret, ['leaked.txt', 'hook.sh']), [], secret)
  assert.ok(at.rows('SELECT * FROM hook_invocations').length >= 8)
})

test('a stored key that a tool reads does not reach the record, whichever credential is in use', async (t) => {
  const at = place(t)
  const key = 'sk-ant-stored-abcdefgh9012'
  assert.equal((await at.run(['login', '--key'], { input: `${key}\n` })).code, 0)
  const call = { tool: 'Bash', input: { command: 'cat "$HOME/.ona/credentials.json"' } }
  assert.equal((await at.run(['--eval', JSON.stringify(call)])).code, 0)
  assert.deepEqual(leaks(at, 'abcdefgh9012', ['credentials.json']), [])
})
