import { forgetLogin } from '../../../auth/login-store.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(_args: string, ui: Ui): Promise<void> {
  const { env } = ui.session.runtime
  const done = await forgetLogin(env)
  if (done === 'kept')
    return ui.front.notice('error', 'the keychain would not let go of the login; remove "ona" there yourself')
  ui.front.notice('info', done === 'nothing' ? 'There was no stored login.' : 'Logged out: the stored login is gone.')
  const left = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY'].filter((name) => env[name])
  if (left.length > 0) ui.front.notice('info', `Still in the environment: ${left.join(', ')}`)
  if (done === 'forgotten') ui.leave('logout')
}
