/** `ona status`: which model and which credential a session here would use. */
import { parseArgs } from 'node:util'
import { type AuthStatus, anthropicSource, authStatus } from '../../auth/sources.ts'
import { shownBaseUrl } from '../../providers/create.ts'
import { type ModelChoice, resolveModel } from '../../providers/resolve.ts'
import { authHere } from '../auth.ts'

export async function run(words: string[]): Promise<number> {
  const read = readWords(words)
  if ('why' in read) {
    process.stderr.write(`ona status: ${read.why}\n`)
    return 2
  }
  const { values } = read
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  const here = authHere({ bare: values.bare === true, ...(values.settings && { settings: values.settings }) })
  const { settings, env } = here
  const anthropic = anthropicSource(here)
  const resolved = resolveModel({ settings, env, anthropic, ...(values.model && { flag: values.model }) })
  if (!resolved.ok) {
    process.stdout.write(
      values.json ? `${JSON.stringify({ loggedIn: false, problem: resolved.problem })}\n` : `${resolved.problem}\n`,
    )
    return 1
  }
  const { choice } = resolved
  const auth = await authStatus(choice.rehearsal ? 'claude_code_subscription' : choice.provider, here)
  const report = { ...auth, ...modelOf(choice, env) }
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : told(choice, auth, env))
  return auth.loggedIn ? 0 : 1
}

const modelOf = (choice: ModelChoice, env: NodeJS.ProcessEnv) => ({
  provider: choice.provider,
  modelId: choice.modelId,
  model: choice.wireModel ?? null,
  rehearsal: choice.rehearsal === true,
  why: choice.why,
  baseUrl: choice.rehearsal ? null : shownBaseUrl(choice.provider, env),
})

function told(choice: ModelChoice, auth: AuthStatus, env: NodeJS.ProcessEnv): string {
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
    ...auth.notes.map((note): [string, string] => ['Note', note]),
  ]
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(11)} ${value}\n`])).join('')
}

function readWords(words: string[]) {
  try {
    return parseArgs({
      args: words,
      options: {
        bare: { type: 'boolean' },
        settings: { type: 'string' },
        model: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (cause) {
    return { why: (cause as Error).message }
  }
}

const help = `ona status says which model a session here would use, and which credential: its class, its source and at most its
last four characters. Exit code 0 when there is one, 1 when there is none.

  ona status
  ona status --json
  ona status --model opus        as if started with --model opus
  ona status --bare              as with ona --bare
`
