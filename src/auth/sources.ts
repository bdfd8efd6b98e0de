/** Where a provider's credential comes from, in the order of precedence. */
import { closeSync, readFileSync } from 'node:fs'
import { keepOut, keepOutEnv } from '../store/secrets.ts'
import { helperCredential } from './api-key-helper.ts'
import { type Credential, type CredentialClass, type CredentialProblem, fixed, lastFour } from './credential.ts'
import { loginNote, readLogin, whereKept } from './login-store.ts'
import { oauthCredential } from './oauth.ts'

export interface AuthContext {
  readonly settings: { readonly apiKeyHelper?: unknown }
  readonly env: NodeJS.ProcessEnv
  /**
   * Where `apiKeyHelper` was written, if that is not clear from the settings as a whole: one from a project's own files
   * waits for the folder's trust, and with `--bare` only one from `--settings` counts.
   */
  readonly helperFrom?: 'managed' | 'flag' | 'user' | 'project' | 'local'
  /** `--bare`: only ANTHROPIC_API_KEY, or a helper given by `--settings`. */
  readonly bare?: boolean
  /** Whether the folder is trusted. */
  readonly trusted?: boolean
}

/** The providers of `providers/models/models.ts`; distinguished here by name only. */
type ProviderName = 'claude_code_subscription' | 'openai_compatible' | 'lm_studio_local'

export interface AuthStatus {
  readonly loggedIn: boolean
  readonly authMethod: CredentialClass | 'none'
  /** `ANTHROPIC_API_KEY`, `apiKeyHelper`, `login`; null when there is none. */
  readonly source: string | null
  readonly lastFour: string | null
  readonly account: string | null
  /** Where a login is kept, in words. */
  readonly kept: string | null
  /** Credentials that were ignored, and why. */
  readonly notes: readonly string[]
}

/** Where Anthropic credentials would come from, in words; never prompts the user or starts a program. */
export function anthropicSource(context: AuthContext): string | undefined {
  const found = choose(context)
  return found && (found.source === 'login' ? 'you are logged in' : `${found.source} is set`)
}

/** Must not throw. No helper, keychain or server is used before the first request needs it. */
export async function credentialFor(
  provider: ProviderName,
  context: AuthContext,
): Promise<Credential | CredentialProblem> {
  const { env } = context
  keepOutEnv(env)
  if (provider === 'openai_compatible') {
    if (!env['OPENAI_API_KEY']) return { problem: 'openai_compatible needs OPENAI_API_KEY in the environment' }
    return fromEnv('OPENAI_API_KEY', env, 'bearer')
  }
  if (provider === 'lm_studio_local') {
    const given = env['LM_STUDIO_API_KEY']
    return fixed(
      { class: 'local', source: given ? 'LM_STUDIO_API_KEY' : 'default', whenRefused: 'LM_STUDIO_API_KEY was refused' },
      { bearer: given || 'lm-studio' },
    )
  }
  const source = choose(context)
  if (!source) return { problem: nothing(context) }
  return source.credential()
}

/** Class and source of what would be used, and never more than the last four characters of it. */
export async function authStatus(provider: ProviderName, context: AuthContext): Promise<AuthStatus> {
  const { env } = context
  const notes = unusedCredentials(context)
  const none = {
    loggedIn: false,
    authMethod: 'none' as const,
    source: null,
    lastFour: null,
    account: null,
    kept: null,
    notes,
  }
  if (provider === 'claude_code_subscription') {
    const found = choose(context)
    if (!found) return { ...none, notes: [...notes, nothing(context)] }
    const note = found.source === 'login' ? loginNote(env) : undefined
    return {
      loggedIn: true,
      authMethod: found.class,
      source: found.source,
      lastFour: note?.lastFour ?? (env[found.source] ? lastFour(env[found.source]!) : null),
      account: note?.account ?? null,
      kept: note ? whereKept(note, env) : null,
      notes,
    }
  }
  const name = provider === 'openai_compatible' ? 'OPENAI_API_KEY' : 'LM_STUDIO_API_KEY'
  const value = env[name]
  if (provider === 'openai_compatible' && !value) return { ...none, notes: ['OPENAI_API_KEY is not set'] }
  return {
    ...none,
    loggedIn: true,
    authMethod: provider === 'openai_compatible' ? 'api_key' : 'local',
    source: value ? name : 'default',
    lastFour: value ? lastFour(value) : null,
    notes: [],
  }
}

interface Source {
  readonly class: CredentialClass
  readonly source: string
  credential(): Promise<Credential | CredentialProblem>
}

/** The first that applies wins, as in spec 003 §2.7.4. */
function choose(context: AuthContext): Source | undefined {
  const { env, bare } = context
  if (!bare && env['ANTHROPIC_AUTH_TOKEN']) return variable('auth_token', 'ANTHROPIC_AUTH_TOKEN', env)
  if (env['ANTHROPIC_API_KEY']) return variable('api_key', 'ANTHROPIC_API_KEY', env)
  const command = helperOf(context)
  if (command)
    return {
      class: 'api_key_helper',
      source: 'apiKeyHelper',
      credential: async () => helperCredential({ command, env }),
    }
  if (bare) return undefined
  if (env['CLAUDE_CODE_OAUTH_TOKEN']) return variable('oauth', 'CLAUDE_CODE_OAUTH_TOKEN', env)
  if (env['CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR'])
    return {
      class: 'oauth',
      source: 'CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR',
      credential: async () => fromDescriptor(env),
    }
  if (env['ANTHROPIC_UNIX_SOCKET'])
    return {
      class: 'proxy',
      source: 'ANTHROPIC_UNIX_SOCKET',
      credential: async () =>
        fixed(
          {
            class: 'proxy',
            source: 'ANTHROPIC_UNIX_SOCKET',
            whenRefused: 'The proxy of ANTHROPIC_UNIX_SOCKET was refused',
          },
          {},
        ),
    }
  const note = loginNote(env)
  if (!note) return undefined
  return {
    class: note.kind,
    source: 'login',
    credential: async () => (note.kind === 'oauth' ? oauthCredential(env) : fromLogin(env)),
  }
}

function helperOf({ settings, helperFrom, bare, trusted }: AuthContext): string | undefined {
  const command = settings.apiKeyHelper
  if (typeof command !== 'string' || command.trim() === '') return undefined
  if (bare && helperFrom !== undefined && helperFrom !== 'flag') return undefined
  if ((helperFrom === 'project' || helperFrom === 'local') && !trusted) return undefined
  return command
}

/** Credentials that are there and do not count here, and why. */
export function unusedCredentials(context: AuthContext): string[] {
  const { env, bare, settings } = context
  const notes: string[] = []
  if (settings.apiKeyHelper && !helperOf(context))
    notes.push(
      bare
        ? 'apiKeyHelper is not used: with --bare it must come from --settings'
        : 'apiKeyHelper is not used: this folder is not trusted, and its settings name the helper',
    )
  if (bare && env['ANTHROPIC_AUTH_TOKEN']) notes.push('ANTHROPIC_AUTH_TOKEN is not used with --bare')
  if (bare && loginNote(env)) notes.push('the login is not used with --bare')
  return notes
}

const nothing = ({ bare }: AuthContext): string =>
  bare
    ? 'no credential: with --bare, set ANTHROPIC_API_KEY or give apiKeyHelper by --settings'
    : 'Not logged in · Please run /login'

function variable(kind: CredentialClass, name: string, env: NodeJS.ProcessEnv): Source {
  return {
    class: kind,
    source: name,
    credential: async () => fromEnv(name, env, kind === 'api_key' ? 'key' : 'bearer'),
  }
}

function fromEnv(name: string, env: NodeJS.ProcessEnv, as: 'key' | 'bearer'): Credential | CredentialProblem {
  const value = (env[name] ?? '').trim()
  return (
    badForm(name, value) ??
    fixed(
      {
        class: classes[name] ?? 'api_key',
        source: name,
        whenRefused: refusals[name] ?? `Invalid API key · Fix ${name}`,
      },
      { [as]: value },
    )
  )
}

const classes: Record<string, CredentialClass> = {
  ANTHROPIC_AUTH_TOKEN: 'auth_token',
  CLAUDE_CODE_OAUTH_TOKEN: 'oauth',
}
const refusals: Record<string, string> = {
  ANTHROPIC_API_KEY: 'Invalid API key · Fix external API key',
  ANTHROPIC_AUTH_TOKEN: 'The bearer token was refused · Fix ANTHROPIC_AUTH_TOKEN',
  CLAUDE_CODE_OAUTH_TOKEN: 'OAuth token revoked or expired · Replace CLAUDE_CODE_OAUTH_TOKEN, or run /login',
}

/** A header cannot carry it, and Node's own error does not name the cause. */
const badForm = (name: string, value: string): CredentialProblem | undefined =>
  /^[\x21-\x7e]+$/.test(value)
    ? undefined
    : { problem: `${name} holds characters that no key has (a line break, a quote mark, a space?)` }

async function fromLogin(env: NodeJS.ProcessEnv): Promise<Credential | CredentialProblem> {
  const login = await readLogin(env)
  if (login?.kind !== 'api_key') return { problem: 'the stored key could not be read · Please run /login' }
  return fixed(
    { class: 'api_key', source: 'login', whenRefused: 'Invalid API key · Please run /login' },
    { key: login.key },
  )
}

/** Read once a process: a pipe gives its content only once. */
const descriptors = new Map<string, string>()

/** Closed at once: what a tool starts could open a file again by `/proc/PID/fd`. */
function readAndClose(descriptor: number): string {
  const token = readFileSync(descriptor, 'utf8').trim()
  if (descriptor > 2) closeSync(descriptor)
  return token
}

function fromDescriptor(env: NodeJS.ProcessEnv): Credential | CredentialProblem {
  const name = 'CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR'
  const number = env[name]!
  if (!/^\d+$/.test(number)) return { problem: `${name} must be the number of an open file` }
  try {
    const token = descriptors.get(number) ?? readAndClose(Number(number))
    descriptors.set(number, token)
    keepOut(token)
    return (
      badForm(name, token) ??
      fixed(
        { class: 'oauth', source: name, whenRefused: 'OAuth token revoked or expired · Please run /login' },
        { bearer: token },
      )
    )
  } catch {
    return { problem: `${name}: file ${number} is not open or cannot be read` }
  }
}
