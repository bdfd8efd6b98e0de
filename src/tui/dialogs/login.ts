/** Signing in: an account in the browser, or a key that is kept where only the user can read it. */
import { loginNote, saveLogin, whereKept } from '../../auth/login-store.ts'
import { addEvent } from '../../store/audit.ts'
import type { Ui } from '../session/command-context.ts'
import { ownProgram } from '../session/own-program.ts'

type Way = 'account' | 'key' | 'environment'

export async function signIn(ui: Ui, args: string): Promise<void> {
  const { front, session } = ui
  const { env, settings } = session.runtime
  if (!front.interactive) {
    front.print(
      'Signing in needs a terminal: ona login. Or set ANTHROPIC_API_KEY, or OPENAI_API_KEY and OPENAI_BASE_URL, or LM_STUDIO_MODEL.',
    )
    return
  }
  const ways: { label: string; value: Way; hint: string }[] = [
    { label: 'Account', value: 'account', hint: 'opens the browser' },
    { label: 'Anthropic API key', value: 'key', hint: 'kept in the keychain, or in a file of yours' },
    { label: 'Another provider', value: 'environment', hint: 'OpenAI-compatible or local' },
  ]
  const allowed = settings.forceLoginMethod === 'claudeai' ? ways.slice(0, 1) : ways
  const way =
    args === 'key' || args === 'account'
      ? args
      : (await front.choose<Way>({ title: 'How do you want to sign in?', choices: allowed }))?.value
  if (way === 'environment') {
    front.print(
      'Set these before you start ona:',
      '  OPENAI_API_KEY and OPENAI_BASE_URL for an OpenAI-compatible server',
      '  LM_STUDIO_BASE_URL and LM_STUDIO_MODEL for a local one',
    )
    return
  }
  if (way === 'account') {
    const { program, words } = ownProgram('login')
    if (!(await front.handOver(program, words))) return
  } else if (way === 'key') {
    const key = await front.ask({
      title: 'Your Anthropic API key',
      secret: true,
      check: (text) => (/^\S{8,}$/.test(text.trim()) ? undefined : 'a key has no spaces and at least 8 characters'),
    })
    if (!key) return
    await saveLogin({ kind: 'api_key', key: key.trim() }, env)
  } else return
  const note = loginNote(env)
  if (!note) return front.notice('warning', 'Not signed in.')
  front.notice('info', `Login successful (${note.lastFour}); kept in ${whereKept(note, env)}`)
  addEvent(session.db, {
    conversationId: session.conversationId,
    sessionId: session.id,
    type: 'login',
    detail: { kind: note.kind, kept: note.kept },
  })
  await session.raise('Notification', () => ({ message: 'Login successful', notification_type: 'auth_success' }))
  const model = await session.runtime.modelFor(
    session.model.providerName === 'claude_code_subscription' ? session.model.modelId : 'claude_sonnet_4',
  )
  if ('problem' in model) return front.notice('warning', model.problem)
  session.model = model
  ui.refresh()
  front.notice('info', `Model: ${model.wireModel}`)
}
