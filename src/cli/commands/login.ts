/** `ona login`: a key that is pasted, or an account through OAuth. */
import { parseArgs } from 'node:util'
import { type CredentialProblem, lastFour } from '../../auth/credential.ts'
import { loginWithKey, loginWithOAuth, loginWithRefreshToken } from '../../auth/login.ts'
import { type LoginNote, whereKept } from '../../auth/store.ts'
import { askLine, authHere, oauthHere, openBrowser } from '../auth.ts'

export async function run(words: string[]): Promise<number> {
  const read = readWords(words)
  if ('why' in read) return wrong(read.why, 2)
  const { values } = read
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  const here = authHere()
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const oauth = oauthHere(here)
  const refreshToken = here.env['CLAUDE_CODE_OAUTH_REFRESH_TOKEN']
  const forced = here.settings.forceLoginMethod
  if ((values.oauth || forced === 'claudeai') && 'problem' in oauth) return wrong(oauth.problem, 1)
  if (values.key && forced === 'claudeai') return wrong('the settings allow an account only (forceLoginMethod)', 1)
  if (values.oauth && forced === 'console') return wrong('the settings allow a key only (forceLoginMethod)', 1)

  let note: LoginNote | CredentialProblem
  if (values.key || forced === 'console' || 'problem' in oauth)
    note = await loginWithKey(await askLine('Paste your API key: ', { hidden: true }), here.env)
  else if (refreshToken) note = await loginWithRefreshToken(oauth, refreshToken, here.env, stop.signal)
  else note = await loginWithOAuth(oauth, talk(values.browser !== false), here.env, stop.signal)
  if ('problem' in note) return wrong(note.problem, 1)

  const { kind, account } = note
  const report = {
    loggedIn: true,
    authMethod: kind,
    lastFour: note.lastFour,
    account: account ?? null,
    kept: whereKept(note, here.env),
  }
  process.stdout.write(
    values.json
      ? `${JSON.stringify(report)}\n`
      : `Login successful${account ? ` as ${account}` : ''}. Kept in ${report.kept}.\n`,
  )
  const over = ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'].find((name) => here.env[name])
  if (over)
    process.stderr.write(`ona login: ${over} (${lastFour(here.env[over]!)}) is set and is used before the login\n`)
  return 0
}

const talk = (browser: boolean) => ({
  visit(url: string, manualUrl: string) {
    process.stderr.write(`Open this address to log in:\n\n  ${browser ? url : manualUrl}\n\n`)
    if (browser && process.stderr.isTTY) void openBrowser(url)
  },
  paste: (signal: AbortSignal) =>
    // A pipe that is closed pastes nothing; the browser may still come back.
    askLine('Paste code here if prompted: ', { signal }).then((line) => line || new Promise<string>(() => {})),
})

function readWords(words: string[]) {
  try {
    return parseArgs({
      args: words,
      allowNegative: true,
      options: {
        key: { type: 'boolean' },
        oauth: { type: 'boolean' },
        browser: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (cause) {
    return { why: (cause as Error).message }
  }
}

function wrong(why: string, code: number): number {
  process.stderr.write(`ona login: ${why}\n`)
  return code
}

const help = `ona login keeps a credential for the Anthropic API in the system's keychain, or in a file that only you can read.

  ona login                      an account, where OAuth is set up; otherwise asks for a key
  ona login --key < key.txt      a key, from a file or typed without being shown
  ona login --oauth              an account; ona login --no-browser shows the address to open elsewhere
  ona status                     what is in use

OAuth needs ONA_OAUTH_AUTHORIZE_URL, ONA_OAUTH_TOKEN_URL and ONA_OAUTH_CLIENT_ID, or the same under "oauth" in
~/.ona/settings.json.
`
