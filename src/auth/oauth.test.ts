import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { authorizationServer } from '../../test/support/authorization-server.ts'
import { storable } from '../store/secrets.ts'
import { type LoginTalk, loginWithKey, loginWithOAuth, loginWithRefreshToken } from './login.ts'
import { forgetLogin, loginNote, readLogin, saveLogin } from './login-store.ts'
import { type OAuthSettings, oauthCredential, oauthSettings } from './oauth.ts'
import { credentialFor } from './sources.ts'

const { signal } = new AbortController()

async function setUp(t: TestContext, options = {}) {
  const server = await authorizationServer(options)
  const home = mkdtempSync(join(tmpdir(), 'ona-login-'))
  t.after(() => {
    server.close()
    rmSync(home, { recursive: true })
  })
  const env = { ...server.env, HOME: home, ONA_KEYCHAIN: 'off' }
  const settings = oauthSettings({}, env) as OAuthSettings
  const login = (talk: Partial<LoginTalk> = {}) =>
    loginWithOAuth(
      settings,
      { visit: (url) => void fetch(url), paste: () => new Promise(() => {}), ...talk },
      env,
      signal,
    )
  return { server, env, home, settings, login }
}

/** Makes the stored access token one that is about to end. */
async function age(env: NodeJS.ProcessEnv) {
  const login = await readLogin(env)
  assert.ok(login?.kind === 'oauth')
  await saveLogin({ ...login, expiresAt: Date.now() + 1000 }, env)
}

test('the browser comes back on loopback, and the login is kept in a file that only its owner can read', async (t) => {
  const { env, home, login, server } = await setUp(t)
  const note = await login()
  assert.ok(!('problem' in note))
  assert.deepEqual([note.kind, note.kept, note.lastFour, note.account], ['oauth', 'file', '…er-1', 'ada@example.org'])
  assert.equal(statSync(join(home, '.ona/credentials.json')).mode & 0o777, 0o600)
  assert.ok(!readFileSync(join(home, '.ona/login.json'), 'utf8').includes('access-token'))
  assert.equal(server.forms[0]!.grant_type, 'authorization_code')

  const credential = await credentialFor('claude_code_subscription', { settings: {}, env })
  assert.ok(!('problem' in credential))
  assert.deepEqual([credential.class, credential.source], ['oauth', 'login'])
  assert.deepEqual(await credential.now(signal), { bearer: 'access-token-number-1', beta: 'oauth-1' })
  assert.equal(storable('access-token-number-1 refresh-token-number-1'), '[secret] [secret]')

  assert.equal(await forgetLogin(env), 'forgotten')
  assert.equal(loginNote(env), undefined)
  assert.deepEqual(await credentialFor('claude_code_subscription', { settings: {}, env }), {
    problem: 'Not logged in · Please run /login',
  })
})

test('where the browser cannot come back, the code is pasted: with its state, or as the whole address', async (t) => {
  const { login } = await setUp(t)
  const elsewhere = async (url: string) => (await fetch(url, { redirect: 'manual' })).headers.get('location')!
  for (const form of [
    (url: URL) => url.href,
    (url: URL) => `${url.searchParams.get('code')}#${url.searchParams.get('state')}`,
  ]) {
    let back: Promise<string>
    const note = await login({
      visit(_url, manual) {
        back = elsewhere(manual)
      },
      paste: async () => form(new URL(await back)),
    })
    assert.ok(!('problem' in note), JSON.stringify(note))
  }
})

test('a code that belongs to another login is refused, and a page with a wrong state does not end the wait', async (t) => {
  const { login, server } = await setUp(t)
  const pasted = await login({ visit: () => {}, paste: async () => 'stolen-code#other-state' })
  assert.match((pasted as { problem: string }).problem, /state differs/)
  const bare = await login({ visit: () => {}, paste: async () => 'code-without-state' })
  assert.match((bare as { problem: string }).problem, /state differs/)
  assert.equal(server.forms.length, 0)

  const note = await login({
    async visit(url) {
      const redirect = new URL(new URL(url).searchParams.get('redirect_uri')!)
      redirect.search = 'code=stolen&state=wrong'
      assert.equal((await fetch(redirect)).status, 400)
      await fetch(url)
    },
  })
  assert.ok(!('problem' in note))
})

test('a refusal by the user or by the server ends the login with its reason', async (t) => {
  const { login, server, env } = await setUp(t)
  const denied = await login({
    async visit(url) {
      const query = new URL(url).searchParams
      await fetch(`${query.get('redirect_uri')}?error=access_denied&state=${query.get('state')}`)
    },
  })
  assert.deepEqual(denied, { problem: 'OAuth error: access_denied' })
  server.answerWith(400)
  assert.match(((await login()) as { problem: string }).problem, /refused: invalid_grant/)
  server.answerWith(307)
  assert.match(((await login()) as { problem: string }).problem, /could not be reached/)
  assert.equal(loginNote(env), undefined)
})

test('an access token near its end is renewed before it is used, and after a 401', async (t) => {
  const { login, server, env } = await setUp(t)
  await login()
  const credential = oauthCredential(env)
  assert.deepEqual(await credential.now(signal), { bearer: 'access-token-number-1', beta: 'oauth-1' })
  await age(env)
  assert.deepEqual(await oauthCredential(env).now(signal), { bearer: 'access-token-number-2', beta: 'oauth-1' })
  // The first one holds the old token still; what another has renewed is as good as renewing it.
  assert.equal(await credential.renew(signal), true)
  assert.deepEqual(await credential.now(signal), { bearer: 'access-token-number-2', beta: 'oauth-1' })
  assert.equal(server.forms.length, 2)
  assert.equal(await credential.renew(signal), true)
  assert.deepEqual(await credential.now(signal), { bearer: 'access-token-number-3', beta: 'oauth-1' })
})

test('several processes renew one login once', async (t) => {
  const { login, server, env } = await setUp(t)
  await login()
  await age(env)
  const script = `
    import('${new URL('./oauth.ts', import.meta.url).href}').then(async ({ oauthCredential }) => {
      const { bearer } = await oauthCredential(process.env).now(new AbortController().signal)
      console.log(bearer)
    })`
  const one = () => promisify(execFile)(process.execPath, ['-e', script], { env: { ...process.env, ...env } })
  const said = await Promise.all([one(), one(), one()])
  assert.deepEqual(
    said.map(({ stdout }) => stdout.trim()),
    Array(3).fill('access-token-number-2'),
  )
  assert.equal(server.forms.filter(({ grant_type }) => grant_type === 'refresh_token').length, 1)
})

test('a login that cannot be renewed any more is forgotten; one whose server is away is kept', async (t) => {
  const { login, server, env } = await setUp(t)
  await login()
  await age(env)
  server.answerWith(503)
  assert.match(((await oauthCredential(env).now(signal)) as { problem: string }).problem, /could not be renewed/)
  assert.ok(loginNote(env))
  server.answerWith(400)
  assert.deepEqual(await oauthCredential(env).now(signal), { problem: 'Login expired · Please run /login' })
  assert.equal(loginNote(env), undefined)
})

test('tokens are renewed where they came from, whatever the settings say by then', async (t) => {
  const { login, server, env } = await setUp(t)
  await login()
  await age(env)
  const turned = { ...env, ONA_OAUTH_TOKEN_URL: 'http://127.0.0.1:9/elsewhere', ONA_OAUTH_CLIENT_ID: 'other' }
  assert.deepEqual(await oauthCredential(turned).now(signal), { bearer: 'access-token-number-2', beta: 'oauth-1' })
  assert.equal(server.forms.at(-1)!.client_id, 'client-1')
})

test('a refresh token that was handed over becomes a login without a browser', async (t) => {
  const { login, server, env, settings } = await setUp(t)
  await login()
  const { refreshToken } = server.current()
  await forgetLogin(env)
  assert.ok(!('problem' in (await loginWithRefreshToken(settings, refreshToken, env, signal))))
  assert.deepEqual(await oauthCredential(env).now(signal), { bearer: 'access-token-number-2', beta: 'oauth-1' })
})

test('a key that is pasted is kept like a login', async (t) => {
  const { env } = await setUp(t)
  assert.ok('problem' in (await loginWithKey('  ', env)))
  assert.ok('problem' in (await loginWithKey('two words', env)))
  assert.ok(!('problem' in (await loginWithKey(' sk-ant-planted-0000\n', env))))
  const credential = await credentialFor('claude_code_subscription', { settings: {}, env })
  assert.ok(!('problem' in credential))
  assert.deepEqual(await credential.now(signal), { key: 'sk-ant-planted-0000' })
})

test('endpoints come from the environment or the settings, and must be safe', () => {
  const stored = { authorizeUrl: 'https://a.example/authorize', tokenUrl: 'https://a.example/token', clientId: 'c' }
  assert.deepEqual(oauthSettings(stored, { ONA_OAUTH_CLIENT_ID: 'mine', ONA_OAUTH_SCOPES: 'x y' }), {
    ...stored,
    clientId: 'mine',
    scopes: ['x', 'y'],
  })
  assert.match(
    (oauthSettings({}, {}) as { problem: string }).problem,
    /OAuth is not set up: set ONA_OAUTH_AUTHORIZE_URL/,
  )
  const plain = oauthSettings({ ...stored, tokenUrl: 'http://a.example/token' }, {})
  assert.match((plain as { problem: string }).problem, /must begin with https/)
})
