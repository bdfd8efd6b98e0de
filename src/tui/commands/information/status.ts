import { instructionFiles } from '../../../agent/context/instructions.ts'
import { authStatus } from '../../../auth/sources.ts'
import { shownBaseUrl } from '../../../providers/create.ts'
import { settingsFile } from '../../../store/settings/settings-files.ts'
import { paint } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'
import { placesOf } from '../../session/save-setting.ts'

export async function run(_args: string, ui: Ui): Promise<void> {
  const { session, front, version } = ui
  const { runtime, model } = session
  const { settings, env, trusted, bare } = runtime
  const auth = await authStatus(model.providerName, { settings, env, trusted, bare })
  const row = (name: string, value: string) => front.print(`${paint('dim', `${name}:`.padEnd(17))}${value}`)
  row('Version', version)
  row('Session', session.id)
  row('Conversation', `${session.conversationId} (phase ${session.phase})`)
  row('Folder', session.cwd)
  row('Database', session.db.path)
  row('Model', `${model.wireModel} (${model.providerName}: ${model.why})`)
  row('Server', model.rehearsal ? 'built in, on this machine' : shownBaseUrl(model.providerName, env))
  row(
    'Credentials',
    auth.authMethod === 'local' && auth.source === 'default'
      ? 'none needed'
      : auth.loggedIn
        ? `${auth.authMethod} from ${auth.source}${auth.lastFour ? ` (${auth.lastFour})` : ''}`
        : 'none; /login',
  )
  if (auth.account) row('Account', auth.account)
  if (auth.kept) row('Login kept in', auth.kept)
  for (const note of auth.notes) row('', note)
  row('Permission mode', session.mode)
  row('Folder trusted', trusted ? 'yes' : 'no: its hooks, allow rules and servers are ignored')
  const files = (['user', 'project', 'local'] as const).flatMap((level) => settingsFile(level, placesOf(ui)) ?? [])
  row('Settings', files.join(', ') || 'none; the built-in ones')
  row(
    'Instructions',
    instructionFiles(session)
      .map(({ file_path }) => file_path)
      .join(', ') || 'none yet',
  )
  row(
    'MCP servers',
    (runtime.mcp?.status() ?? []).map(({ name, status }) => `${name} (${status})`).join(', ') || 'none',
  )
}
