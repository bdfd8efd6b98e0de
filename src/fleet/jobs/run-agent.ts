/** One headless run of the agent for a job: within its limits, and ended when the worker ends. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isObject, type JsonObject } from '../../hooks/shape.ts'

export interface AgentRun {
  readonly cwd: string
  readonly prompt: string
  /** How this ona is started: Node and the program. */
  readonly program: readonly string[]
  readonly session: { readonly resume: string } | { readonly new: string }
  readonly model: string | null
  readonly settings: JsonObject
  readonly maxTurns: number | null
  readonly maxCostUsd: number | null
  readonly timeoutMs: number
  readonly db: string
  readonly signal: AbortSignal
}

export interface AgentResult {
  /** As `terminal_reason` of the run; or `timed_out`, `stopped` and `crashed`. */
  readonly reason: string
  readonly text: string
  readonly turns: number | undefined
  readonly costUsd: number | undefined
}

export function runAgent(run: AgentRun): Promise<AgentResult> {
  const { session, model, maxTurns, maxCostUsd } = run
  const words = [
    ...['-p', '--output-format', 'json', '--settings', JSON.stringify(run.settings)],
    ...('resume' in session ? ['--resume', session.resume] : ['--session-id', session.new]),
    ...(model === null ? [] : ['--model', model]),
    ...(maxTurns === null ? [] : ['--max-turns', String(maxTurns)]),
    ...(maxCostUsd === null ? [] : ['--max-budget-usd', String(maxCostUsd)]),
  ]
  const [command = '', ...rest] = [...dyingWithUs, ...run.program, ...words]
  return new Promise((resolve) => {
    const child = spawn(command, rest, {
      cwd: run.cwd,
      env: agentEnv(run.db),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    // not as an argument: a prompt that begins with a dash is no flag
    child.stdin.on('error', () => {}) // it may end without reading
    child.stdin.end(run.prompt)
    let [stdout, stderr, why] = ['', '', '']
    const stop = (reason: string) => {
      why ||= reason
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // it has ended
      }
    }
    const timer = setTimeout(() => stop('timed_out'), run.timeoutMs)
    const onAbort = () => stop('stopped')
    run.signal.addEventListener('abort', onAbort, { once: true })
    if (run.signal.aborted) onAbort()
    child.stdout.on('data', (piece) => {
      if (stdout.length < 8_000_000) stdout += piece
    })
    child.stderr.on('data', (piece) => {
      stderr = (stderr + piece).slice(-4000)
    })
    const done = (code: number | null) => {
      clearTimeout(timer)
      run.signal.removeEventListener('abort', onAbort)
      resolve(
        why !== '' ? { reason: why, text: '', turns: undefined, costUsd: undefined } : resultOf(stdout, stderr, code),
      )
    }
    child.on('error', (cause) => {
      stderr = cause.message
      done(null)
    })
    child.on('close', done)
  })
}

function resultOf(stdout: string, stderr: string, code: number | null): AgentResult {
  const value = parsed(stdout.trim().split('\n').at(-1) ?? '')
  if (typeof value['terminal_reason'] !== 'string')
    return {
      reason: 'crashed',
      text: `exit code ${code}: ${stderr.trim().split('\n').at(-1) ?? ''}`,
      turns: undefined,
      costUsd: undefined,
    }
  const errors = Array.isArray(value['errors']) ? value['errors'].join('; ') : ''
  const number = (name: string) => (typeof value[name] === 'number' ? value[name] : undefined)
  return {
    reason: value['terminal_reason'],
    text: String(value['result'] ?? errors),
    turns: number('num_turns'),
    costUsd: number('total_cost_usd'),
  }
}

function parsed(line: string): JsonObject {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : {}
  } catch {
    return {} // it ended before it could say how
  }
}

/** An agent must not go on without the worker that holds it to its limits. */
const dyingWithUs = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--'] : []

/** Nothing of the fleet's reaches the agent: neither tokens nor the place of the key. */
const agentEnv = (db: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ONA_FLEET_'))),
  AGENT_SDLC_DB: db,
})
