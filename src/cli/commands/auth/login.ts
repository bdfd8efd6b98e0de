/** `ona login`: a key that is pasted, or an account through OAuth. */
import { type CredentialProblem, lastFour } from '../../../auth/credential.ts'
import { loginWithKey, loginWithOAuth, loginWithRefreshToken } from '../../../auth/login.ts'
import { type LoginNote, whereKept } from '../../../auth/login-store.ts'
import { askLine, authHere, oauthHere, openBrowser } from '../../auth.ts'
import { command } from '../../command.ts'
import { failed, said, saidJson, warned } from '../../print.ts'

const help = `ona login keeps a credential for the Anthropic API in the system's keychain, or in a file that only you can read.

  ona login                      an account, where OAuth is set up; otherwise asks for a key
  ona login --key < key.txt      a key, from a file or typed without being shown
  ona login --oauth              an account; ona login --no-browser shows the address to open elsewhere
  ona status                     what is in use

OAuth needs ONA_OAUTH_AUTHORIZE_URL, ONA_OAUTH_TOKEN_URL and ONA_OAUTH_CLIENT_ID, or the same under "oauth" in
~/.ona/settings.json.
`

const flags = { key: 'flag', oauth: 'flag', 'no-browser': 'flag', json: 'flag' } as const

export const run = command('ona login', { help, flags }, async (flags) => {
  const here = authHere()
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const oauth = oauthHere(here)
  const refreshToken = here.env['CLAUDE_CODE_OAUTH_REFRESH_TOKEN']
  const forced = here.settings.forceLoginMethod
  if ((flags.oauth || forced === 'claudeai') && 'problem' in oauth) return failed(oauth.problem)
  if (flags.key && forced === 'claudeai') return failed('the settings allow an account only (forceLoginMethod)')
  if (flags.oauth && forced === 'console') return failed('the settings allow a key only (forceLoginMethod)')

  let note: LoginNote | CredentialProblem
  if (flags.key || forced === 'console' || 'problem' in oauth)
    note = await loginWithKey(await askLine('Paste your API key: ', { hidden: true }), here.env)
  else if (refreshToken) note = await loginWithRefreshToken(oauth, refreshToken, here.env, stop.signal)
  else note = await loginWithOAuth(oauth, talk(!flags['no-browser']), here.env, stop.signal)
  if ('problem' in note) return failed(note.problem)

  const { kind, account } = note
  const report = {
    loggedIn: true,
    authMethod: kind,
    lastFour: note.lastFour,
    account: account ?? null,
    kept: whereKept(note, here.env),
  }
  if (flags.json) saidJson(report)
  else said(`Login successful${account ? ` as ${account}` : ''}. Kept in ${report.kept}.`)
  const over = ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'].find((name) => here.env[name])
  if (over) warned(`${over} (${lastFour(here.env[over]!)}) is set and is used before the login`)
  return 0
})

const talk = (browser: boolean) => ({
  visit(url: string, manualUrl: string) {
    process.stderr.write(`Open this address to log in:\n\n  ${browser ? url : manualUrl}\n\n`)
    if (browser && process.stderr.isTTY) void openBrowser(url)
  },
  paste: (signal: AbortSignal) =>
    // A pipe that is closed pastes nothing; the browser may still come back.
    askLine('Paste code here if prompted: ', { signal }).then((line) => line || new Promise<string>(() => {})),
})
