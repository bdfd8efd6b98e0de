/** `ona logout`: forgets the login. */
import { forgetLogin } from '../../../auth/login-store.ts'
import { command } from '../../command.ts'
import { said, saidJson } from '../../print.ts'

const help = `ona logout removes the login that ona login has kept. Keys in the environment stay as they are.

  ona logout
  ona logout --json              {"login":"forgotten"} or {"login":"nothing"}
`

export const run = command('ona logout', { help, flags: { json: 'flag' } }, async ({ json }) => {
  const done = await forgetLogin(process.env)
  if (json) saidJson({ login: done })
  else said(words[done])
  return done === 'kept' ? 1 : 0
})

const words = {
  forgotten: 'Logged out. The login is removed.',
  nothing: 'Nobody was logged in.',
  kept: 'The keychain would not let go of the login; unlock it and try again, or remove the entry "ona" by hand.',
}
