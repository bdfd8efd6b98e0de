import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import { storable } from '../store/secrets.ts'
import { withOwnPath, withoutSecrets } from './child-env.ts'
import { loginWithKey } from './login.ts'
import { type AuthContext, anthropicSource, authStatus, credentialFor } from './sources.ts'

const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), 'ona-auth-'))
after(() => rmSync(folder, { recursive: true }))
const home = { HOME: folder, ONA_KEYCHAIN: 'off' }

const token = 'tok-planted-000000000001'
const key = 'sk-ant-planted-00000002'
const oauth = 'oat-planted-00000000003'

async function used(context: Partial<AuthContext>): Promise<unknown> {
  const given: AuthContext = { settings: {}, ...context, env: { ...home, ...context.env } }
  const credential = await credentialFor('claude_code_subscription', given)
  if ('problem' in credential) return credential.problem
  return [credential.class, credential.source, await credential.now(signal)]
}

test('the first source that applies wins', async () => {
  const helper = { apiKeyHelper: 'echo from-the-helper' }
  const both = { key: 'from-the-helper', bearer: 'from-the-helper' }
  const all = { ANTHROPIC_AUTH_TOKEN: token, ANTHROPIC_API_KEY: key, CLAUDE_CODE_OAUTH_TOKEN: oauth }
  const { ANTHROPIC_AUTH_TOKEN: _, ...noToken } = all
  const login = join(folder, 'with-login')
  await loginWithKey('sk-ant-stored-0000004', { HOME: login, ONA_KEYCHAIN: 'off' })
  const stored = ['api_key', 'login', { key: 'sk-ant-stored-0000004' }]
  const nobody = 'Not logged in · Please run /login'

  assert.deepEqual(await used({ settings: helper, env: all }), [
    'auth_token',
    'ANTHROPIC_AUTH_TOKEN',
    { bearer: token },
  ])
  assert.deepEqual(await used({ settings: helper, env: noToken }), ['api_key', 'ANTHROPIC_API_KEY', { key }])
  assert.deepEqual(await used({ settings: helper, env: { CLAUDE_CODE_OAUTH_TOKEN: oauth } }), [
    'api_key_helper',
    'apiKeyHelper',
    both,
  ])
  assert.deepEqual(await used({ env: { CLAUDE_CODE_OAUTH_TOKEN: oauth, HOME: login } }), [
    'oauth',
    'CLAUDE_CODE_OAUTH_TOKEN',
    { bearer: oauth },
  ])
  assert.deepEqual(await used({ env: { ANTHROPIC_UNIX_SOCKET: '/s', HOME: login } }), [
    'proxy',
    'ANTHROPIC_UNIX_SOCKET',
    {},
  ])
  assert.deepEqual(await used({ env: { HOME: login } }), stored)
  assert.deepEqual(await used({}), nobody)
  assert.deepEqual(await used({ env: { ANTHROPIC_API_KEY: '', ANTHROPIC_AUTH_TOKEN: '' } }), nobody)
})

test('--bare takes ANTHROPIC_API_KEY or a helper given by --settings, and nothing else', async () => {
  const login = join(folder, 'bare')
  await loginWithKey('sk-ant-stored-0000005', { HOME: login, ONA_KEYCHAIN: 'off' })
  const env = { ANTHROPIC_AUTH_TOKEN: token, CLAUDE_CODE_OAUTH_TOKEN: oauth, ANTHROPIC_UNIX_SOCKET: '/s', HOME: login }
  assert.match((await used({ env, bare: true })) as string, /with --bare, set ANTHROPIC_API_KEY/)
  assert.deepEqual(await used({ env: { ...env, ANTHROPIC_API_KEY: key }, bare: true }), [
    'api_key',
    'ANTHROPIC_API_KEY',
    { key },
  ])
  const settings = { apiKeyHelper: 'echo bare-helper' }
  assert.deepEqual(((await used({ env, bare: true, settings, helperFrom: 'flag' })) as unknown[])[0], 'api_key_helper')
  assert.match((await used({ env, bare: true, settings, helperFrom: 'user' })) as string, /no credential/)
  const status = await authStatus('claude_code_subscription', {
    env: { ...home, ...env },
    bare: true,
    settings,
    helperFrom: 'user',
  })
  assert.deepEqual(status.notes.length, 4)
})

test("a project's helper does not run before the folder is trusted", async () => {
  const mark = join(folder, 'ran')
  const settings = { apiKeyHelper: `touch ${mark}; echo project-helper` }
  for (const helperFrom of ['project', 'local'] as const) {
    assert.equal(await used({ settings, helperFrom, trusted: false }), 'Not logged in · Please run /login')
    assert.equal(anthropicSource({ settings, helperFrom, trusted: false, env: home }), undefined)
  }
  const status = await authStatus('claude_code_subscription', { settings, helperFrom: 'project', env: home })
  assert.match(status.notes[0]!, /this folder is not trusted/)
  assert.equal(existsSync(mark), false)
  assert.equal(((await used({ settings, helperFrom: 'project', trusted: true })) as unknown[])[0], 'api_key_helper')
  assert.equal(existsSync(mark), true)
})

test('a helper runs only when a request needs it, is remembered for a while, and runs again after a refusal', async () => {
  const count = join(folder, 'count')
  const env = { ...home, CLAUDE_CODE_API_KEY_HELPER_TTL_MS: '60000' }
  const settings = { apiKeyHelper: `echo x >> ${count}; echo helper-secret-$(wc -l < ${count})` }
  const runs = () => (existsSync(count) ? readFileSync(count, 'utf8').length / 2 : 0)
  const context = { settings, env }
  assert.equal(anthropicSource(context), 'apiKeyHelper is set')
  const credential = await credentialFor('claude_code_subscription', context)
  await authStatus('claude_code_subscription', context)
  assert.equal(runs(), 0)
  assert.ok(!('problem' in credential))
  const [first, second] = await Promise.all([credential.now(signal), credential.now(signal)])
  assert.deepEqual([first, second, runs()], [{ key: 'helper-secret-1', bearer: 'helper-secret-1' }, first, 1])
  assert.equal(await credential.renew(signal), true)
  assert.deepEqual(await credential.now(signal), { key: 'helper-secret-2', bearer: 'helper-secret-2' })
  assert.equal(storable('helper-secret-2'), '[secret]')
})

test('what is wrong with a helper is said without a word of what it printed', async () => {
  const { helperCredential } = await import('./api-key-helper.ts')
  const cases: [command: string, why: RegExp, timeoutMs?: number][] = [
    ['echo planted-secret; exit 3', /failed with exit code 3/],
    ['true', /printed nothing/],
    ['echo planted-secret; echo more', /must print one token/],
    ['yes planted-secret', /printed more than 16384 characters/],
    ['echo planted-secret; sleep 60', /did not finish within 0.2 s/, 200],
  ]
  for (const [command, why, timeoutMs] of cases) {
    const answer = await helperCredential({ command, env: process.env, timeoutMs }).now(signal)
    assert.ok('problem' in answer)
    assert.match(answer.problem, why)
    assert.doesNotMatch(answer.problem, /planted/)
  }
})

test('a token may come through an open file', async () => {
  const file = join(folder, 'token')
  writeFileSync(file, `${oauth}\n`)
  const name = 'CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR'
  const number = String(openSync(file, 'r'))
  for (const _time of [1, 2])
    assert.deepEqual(await used({ env: { [name]: number } }), ['oauth', name, { bearer: oauth }])
  assert.match((await used({ env: { [name]: '987' } })) as string, /file 987 is not open/)
  assert.match((await used({ env: { [name]: 'x' } })) as string, /must be the number/)
})

test('a key that no header can carry is refused by name', async () => {
  const said = await used({ env: { ANTHROPIC_API_KEY: 'sk-planted\nX-Other: 1' } })
  assert.match(said as string, /^ANTHROPIC_API_KEY holds characters that no key has/)
  assert.doesNotMatch(said as string, /planted/)
})

test('the other providers take theirs from the environment', async () => {
  const env = { OPENAI_API_KEY: 'sk-openai-planted-6' }
  const openai = await credentialFor('openai_compatible', { settings: {}, env })
  assert.ok(!('problem' in openai))
  assert.deepEqual(await openai.now(signal), { bearer: 'sk-openai-planted-6' })
  assert.deepEqual(await credentialFor('openai_compatible', { settings: {}, env: {} }), {
    problem: 'openai_compatible needs OPENAI_API_KEY in the environment',
  })
  const local = await credentialFor('lm_studio_local', { settings: {}, env: {} })
  assert.ok(!('problem' in local))
  assert.deepEqual(await local.now(signal), { bearer: 'lm-studio' })
})

test('status shows the class, the source and four characters; a credential in use shows nothing', async () => {
  const context = { settings: {}, env: { ...home, ANTHROPIC_API_KEY: key } }
  const status = await authStatus('claude_code_subscription', context)
  assert.deepEqual(status, {
    loggedIn: true,
    authMethod: 'api_key',
    source: 'ANTHROPIC_API_KEY',
    lastFour: '…0002',
    account: null,
    kept: null,
    notes: [],
  })
  const credential = await credentialFor('claude_code_subscription', context)
  const dump = inspect(credential, { depth: 9, showHidden: true }) + JSON.stringify(credential)
  assert.doesNotMatch(dump, /planted/)
  assert.equal(storable(`x-api-key: ${key}`), 'x-api-key: [secret]')
})

test("children get the user's own PATH, and tools none of our secrets", () => {
  const PATH = '/w/node_modules/.bin:/node_modules/.bin:/usr/lib/node-gyp-bin:/usr/bin:/home/me/node_modules/.bin'
  const env = { PATH, npm_lifecycle_event: 'start', ANTHROPIC_API_KEY: key, OPENAI_API_KEY: 'x', HOME: '/home/me' }
  const own = '/usr/bin:/home/me/node_modules/.bin'
  assert.deepEqual(withOwnPath(env), { ...env, PATH: own })
  assert.deepEqual(withoutSecrets(env), { PATH: own, npm_lifecycle_event: 'start', HOME: '/home/me' })
  assert.equal(withoutSecrets({ PATH: '/w/node_modules/.bin:/bin' }).PATH, '/w/node_modules/.bin:/bin')
})
