/** `ona status`: which model and which credential a session here would use. */
import { type AuthStatus, anthropicSource, authStatus, unusedCredentials } from '../../../auth/sources.ts'
import { shownBaseUrl } from '../../../providers/create.ts'
import { listedModels } from '../../../providers/models/listed-models.ts'
import { type ModelChoice, resolveModel } from '../../../providers/models/resolve.ts'
import { authHere, forShell } from '../../auth.ts'
import { command } from '../../command.ts'
import { said, saidJson } from '../../print.ts'

const help = `ona status says which model a session here would use, and which credential: its class, its source and at most its
last four characters. Exit code 0 when there is one, 1 when there is none.

  ona status
  ona status --json
  ona status --model opus        as if started with --model opus
  ona status --bare              as with ona --bare
`

const flags = { bare: 'flag', settings: 'value', model: 'value', json: 'flag' } as const

export const run = command('ona status', { help, flags }, async ({ bare = false, settings: given, model, json }) => {
  const here = authHere({ bare, ...(given && { settings: given }) })
  const { settings, env } = here
  const resolved = resolveModel({
    settings,
    env,
    anthropic: anthropicSource(here),
    unused: unusedCredentials(here),
    listed: listedModels(shownBaseUrl('claude_code_subscription', env), env),
    rehearsalByDefault: true,
    ...(model && { flag: model }),
  })
  if (!resolved.ok) {
    const notes = unusedCredentials(here).map(forShell)
    if (json) saidJson({ loggedIn: false, problem: forShell(resolved.problem), notes })
    else said(forShell(resolved.problem))
    return 1
  }
  const { choice } = resolved
  const auth = await authStatus(choice.rehearsal ? 'claude_code_subscription' : choice.provider, here)
  if (json) saidJson({ ...auth, notes: auth.notes.map(forShell), ...modelOf(choice, env) })
  else said(rendered(choice, auth, env))
  return auth.loggedIn ? 0 : 1
})

const modelOf = (choice: ModelChoice, env: NodeJS.ProcessEnv) => ({
  provider: choice.provider,
  modelId: choice.modelId,
  model: choice.wireModel ?? null,
  rehearsal: choice.rehearsal === true,
  why: choice.why,
  baseUrl: choice.rehearsal ? null : shownBaseUrl(choice.provider, env),
})

function rendered(choice: ModelChoice, auth: AuthStatus, env: NodeJS.ProcessEnv): string {
  const { baseUrl, model, why } = modelOf(choice, env)
  const rows: [string, string | null][] = [
    [
      'Model',
      choice.rehearsal
        ? 'the built-in rehearsal model (not a language model)'
        : `${model ?? 'the first that the server lists'} (${choice.provider})`,
    ],
    ['Because', why],
    ['Address', baseUrl],
    [
      'Credential',
      auth.loggedIn
        ? `${auth.authMethod} from ${auth.source}${auth.lastFour ? ` ending ${auth.lastFour}` : ''}`
        : 'none',
    ],
    ['Account', auth.account],
    ['Kept in', auth.kept],
    ...auth.notes.map((note): [string, string] => ['Note', forShell(note)]),
  ]
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(11)} ${value}\n`])).join('')
}
