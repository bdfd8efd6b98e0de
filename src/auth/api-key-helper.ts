/** `apiKeyHelper`: a command of the operator's that prints a credential. Run only when a request is about to be sent. */
import { runGroup } from '../hooks/process/process-group.ts'
import { keepOut } from '../store/secrets.ts'
import type { Credential, CredentialProblem, Secret } from './credential.ts'

export interface HelperOptions {
  readonly command: string
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs?: number
}

export function helperCredential({ command, env, timeoutMs = 30_000 }: HelperOptions): Credential {
  const ttlMs = lifetime(env['CLAUDE_CODE_API_KEY_HELPER_TTL_MS'])
  let kept: { readonly secret: Secret; readonly until: number } | undefined
  let running: Promise<Secret | CredentialProblem> | undefined

  async function ask(signal: AbortSignal): Promise<Secret | CredentialProblem> {
    const said = await output(command, env, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]), timeoutMs)
    if ('problem' in said) return { problem: `apiKeyHelper ${said.problem}` }
    keepOut(said.text)
    const secret = { key: said.text, bearer: said.text }
    kept = { secret, until: Date.now() + ttlMs }
    return secret
  }

  return {
    class: 'api_key_helper',
    source: 'apiKeyHelper',
    whenRefused: 'The key that apiKeyHelper printed is not valid · Fix the helper',
    async now(signal) {
      if (kept && Date.now() < kept.until) return kept.secret
      running ??= ask(signal).finally(() => {
        running = undefined
      })
      return running
    },
    async renew() {
      if (!kept) return false
      kept = undefined
      return true
    },
  }
}

/** What the command printed, as one token; or what is wrong, without a word of what it printed. */
async function output(
  command: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<{ text: string } | CredentialProblem> {
  let text = ''
  const tooLong = new AbortController()
  const end = await runGroup({
    program: '/bin/sh',
    args: ['-c', command],
    env,
    signal: AbortSignal.any([signal, tooLong.signal]),
    graceMs: 0,
    endsWhole: true,
    onStdout(chunk) {
      text += chunk.toString('utf8')
      if (text.length > LONGEST) tooLong.abort()
    },
  })
  const token = text.trim()
  if (typeof end.cause === 'object') return { problem: `could not be started: ${end.cause.notStarted}` }
  if (signal.aborted) return { problem: `did not finish within ${timeoutMs / 1000} s` }
  if (text.length > LONGEST) return { problem: `printed more than ${LONGEST} characters` }
  if (end.exitCode !== 0) return { problem: `failed with exit code ${end.exitCode}; run it by hand to see why` }
  if (token === '') return { problem: 'printed nothing' }
  if (!/^[\x21-\x7e]+$/.test(token)) return { problem: 'must print one token of printable ASCII and nothing else' }
  return { text: token }
}

const LONGEST = 16_384

const lifetime = (value: string | undefined): number => (value && /^\d+$/.test(value) ? Number(value) : 300_000)
