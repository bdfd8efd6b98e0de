/** `ona logout`: forgets the login. */
import { forgetLogin } from '../../auth/store.ts'

export async function run(words: string[]): Promise<number> {
  const unknown = words.find((word) => !['--json', '--help', '-h'].includes(word))
  if (unknown !== undefined) {
    process.stderr.write(`ona logout: "${unknown}" is not known here; ona logout --help shows what is\n`)
    return 2
  }
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(help)
    return 0
  }
  const done = await forgetLogin(process.env)
  process.stdout.write(words.includes('--json') ? `${JSON.stringify({ login: done })}\n` : `${said[done]}\n`)
  return done === 'kept' ? 1 : 0
}

const said = {
  forgotten: 'Logged out. The login is removed.',
  nothing: 'Nobody was logged in.',
  kept: 'The keychain would not let go of the login; unlock it and try again, or remove the entry "ona" by hand.',
}

const help = `ona logout removes the login that ona login has kept. Keys in the environment stay as they are.

  ona logout
  ona logout --json              {"login":"forgotten"} or {"login":"nothing"}
`
