/** `apiKeyHelper`: a command of the operator's that prints a credential. Run only when a request is about to be sent. */
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
  const { spawn } = await import('node:child_process')
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    let text = ''
    const stop = () => {
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // it ended by itself in the same moment
      }
    }
    const done = (answer: { text: string } | CredentialProblem) => {
      signal.removeEventListener('abort', stop)
      resolve(answer)
    }
    signal.addEventListener('abort', stop)
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (piece: string) => {
      text += piece
      if (text.length > LONGEST) stop()
    })
    child.on('error', (cause) => done({ problem: `could not be started: ${cause.message}` }))
    child.on('close', (code) => {
      const token = text.trim()
      if (signal.aborted) done({ problem: `did not finish within ${timeoutMs / 1000} s` })
      else if (text.length > LONGEST) done({ problem: `printed more than ${LONGEST} characters` })
      else if (code !== 0) done({ problem: `failed with exit code ${code}; run it by hand to see why` })
      else if (token === '') done({ problem: 'printed nothing' })
      else if (!/^[\x21-\x7e]+$/.test(token))
        done({ problem: 'must print one token of printable ASCII and nothing else' })
      else done({ text: token })
    })
  })
}

const LONGEST = 16_384

const lifetime = (value: string | undefined): number => (value && /^\d+$/.test(value) ? Number(value) : 300_000)
