/**
 * A worker: takes jobs, runs each headless in a checkout of its own, ships its rows, and says how it ended. It may be killed
 * at any moment: what it held is given to another, or to itself when it is back.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseJsonc } from '../../files/jsonc.ts'
import { Problem } from '../../files/problem.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { decideApproval, openApprovals } from '../../store/approvals.ts'
import { newId, openDb, readDb } from '../../store/open.ts'
import { type Client, Unreachable, whyOf } from '../node/client.ts'
import { ship } from '../node/ship.ts'
import type { Taken } from '../server/jobs.ts'
import { commitChanges, makeCheckout, removeCheckout } from './checkout.ts'
import { type AgentResult, runAgent } from './run-agent.ts'

export interface WorkerOptions {
  readonly client: Client
  readonly slots: number
  /** Where checkouts lie. */
  readonly folder: string
  /** The folder of the node's key: no agent may read it. */
  readonly home: string
  readonly db: string
  readonly program: readonly string[]
  /** NAME.json here are the settings of `--policy NAME`. */
  readonly policies: string | undefined
  readonly withoutContent: boolean
  readonly pollMs?: number
  readonly signal: AbortSignal
  onNote?(text: string): void
}

export async function work(options: WorkerOptions): Promise<void> {
  const { client, slots, signal, pollMs = 2000, onNote = () => {} } = options
  openDb(options.db).close()
  const running = new Map<string, Promise<void>>()
  let problem = ''
  while (!signal.aborted) {
    const free = slots - running.size
    try {
      const reply = await client.ask('POST', '/v1/work/take', { slots: free, running: [...running.keys()] })
      if (reply.status !== 200)
        throw new Unreachable(whyOf(reply), { isFinal: reply.status === 403 || reply.status === 401 })
      problem = ''
      for (const job of reply.body['jobs'] as Taken[]) {
        onNote(`job ${job.id}: attempt ${job.attempt}`)
        const done = perform(job, options)
          .catch((cause: unknown) => onNote(`job ${job.id}: ${(cause as Error).message}`))
          .finally(() => running.delete(job.id))
        running.set(job.id, done)
      }
      if ((reply.body['jobs'] as Taken[]).length > 0 && running.size < slots) continue
    } catch (cause) {
      if (!(cause instanceof Unreachable)) throw cause
      if (cause.isFinal) throw new Problem(cause.message)
      if (cause.message !== problem) onNote(`${cause.message}; trying again`)
      problem = cause.message
    }
    const soon = sleep(pollMs, undefined, { signal }).catch(() => {})
    await (running.size === slots ? Promise.race([...running.values(), soon]) : soon)
  }
  await Promise.allSettled(running.values())
}

async function perform(job: Taken, options: WorkerOptions): Promise<void> {
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, options.signal])
  let verdict: 'cancelled' | 'taken away' | '' = ''
  const beating = (async () => {
    while (!signal.aborted) {
      await sleep((job.heartbeatSeconds * 1000) / 4, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      const reply = await options.client
        .ask('POST', `/v1/work/${job.id}/beat`, { attempt: job.attempt })
        .catch(() => undefined)
      if (reply?.status === 409) verdict = 'taken away'
      if (reply?.body['cancel'] === true) verdict = 'cancelled'
      if (verdict !== '') stop.abort()
    }
  })()
  try {
    const ending = await attempt(job, options, signal)
    stop.abort()
    if (options.signal.aborted || (verdict as string) === 'taken away') return
    await shipRows(options)
    if ((verdict as string) === 'cancelled')
      return await tell(job, options, 'end', { outcome: 'cancelled', reason: 'cancelled while it ran' })
    await tell(job, options, ending.path, ending.body)
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause
    if (verdict === '') await tell(job, options, 'end', { outcome: 'failed', again: true, reason: cause.message })
  } finally {
    stop.abort()
    await beating
  }
}

interface Told {
  readonly path: 'end' | 'wait'
  readonly body: JsonObject
}

async function attempt(job: Taken, options: WorkerOptions, signal: AbortSignal): Promise<Told> {
  const settings = settingsFor(job, options)
  if (typeof settings === 'string') return { path: 'end', body: { outcome: 'failed', reason: settings } }
  const folder = join(options.folder, job.id)
  const resumed = resumable(job, options)
  const branch = resumed?.branch ?? `ona/job-${job.id.slice(0, 8)}-${job.attempt}`
  const checkout = resumed ? { folder, repo: job.repo, branch } : await makeCheckout(folder, job.repo, job.ref, branch)
  const session = resumed?.session ?? uuidOf(options)
  remember(options, job.id, { session, branch })
  const result = await runAgent({
    ...{
      cwd: folder,
      program: options.program,
      settings,
      model: job.model,
      maxTurns: job.maxTurns,
      maxCostUsd: job.maxCostUsd,
    },
    prompt: resumed ? 'Continue where you stopped.' : job.prompt,
    session: resumed ? { resume: session } : { new: session },
    ...{ timeoutMs: job.maxMinutes * 60_000, db: options.db, signal },
  })
  if (result.reason === 'stopped')
    return { path: 'end', body: { outcome: 'failed', again: true, reason: 'the worker was stopped' } }
  const asked = result.reason === 'tool_deferred' ? questions(options, session) : []
  if (asked.length > 0) return { path: 'wait', body: { approvals: asked } }
  const ending = endingOf(result)
  if (ending.outcome !== 'done') return { path: 'end', body: { ...ending, branch } }
  const commit = await commitChanges(checkout, `${job.prompt.split('\n')[0]!.slice(0, 72)}\n\nJob ${job.id}`, job.push)
  removeCheckout(checkout)
  return { path: 'end', body: { ...ending, branch, commit } }
}

/** What became of the run. A crash is tried again; a limit, an error and a refusal are not. */
function endingOf({ reason, text, turns, costUsd }: AgentResult) {
  const facts = { result: text.slice(0, 10_000), turns, costUsd }
  if (reason === 'completed') return { ...facts, outcome: 'done', reason: 'completed' } as const
  if (reason === 'crashed')
    return { ...facts, outcome: 'failed', again: true, reason: `the agent crashed: ${text}` } as const
  const words: Record<string, string> = {
    timed_out: 'over its time limit',
    max_turns: 'over its limit of turns',
    budget_exhausted: 'over its limit of cost',
  }
  return { ...facts, outcome: 'failed', reason: (words[reason] ?? `${reason}: ${text}`).slice(0, 4000) } as const
}

/** Where the run is not allowed to go on by itself it asks, and the question waits at the centre. */
function settingsFor({ policy }: Taken, { policies, home }: WorkerOptions): JsonObject | string {
  // the key and the tokens beside it; clones may lie below
  const deny = ['json', 'pem'].flatMap((end) => [`Read(/${home}/*.${end})`, `Edit(/${home}/*.${end})`])
  const guard = { approvals: { expiresAfterHours: 72 }, permissions: { deny } }
  if (policy === null) return guard
  const file = policies === undefined ? undefined : join(policies, `${policy}.json`)
  if (file === undefined || !existsSync(file))
    return `the policy "${policy}" is not known to this worker (${file ?? 'start it with --policies DIR'})`
  const read = parseJsonc(readFileSync(file, 'utf8'))
  if (!read.ok || !isObject(read.value)) return `${file} is not a settings file`
  const { permissions, ...rest } = read.value
  const given = isObject(permissions) ? permissions : {}
  const denied = Array.isArray(given['deny']) ? given['deny'] : []
  return { ...guard, ...rest, permissions: { ...given, deny: [...denied, ...deny] } }
}

interface Remembered {
  readonly session: string
  readonly branch: string
}

const noteFile = ({ folder }: WorkerOptions, id: string) => join(folder, `${id}.json`)

function remember(options: WorkerOptions, id: string, note: Remembered): void {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 })
  writeFileSync(noteFile(options, id), JSON.stringify(note), { mode: 0o600 })
}

/** A job goes on where it stopped when it waited for a decision; after a crash only where that is its rule. */
function resumable(job: Taken, options: WorkerOptions): Remembered | undefined {
  if (!existsSync(join(options.folder, job.id)) || !existsSync(noteFile(options, job.id))) return undefined
  const note = JSON.parse(readFileSync(noteFile(options, job.id), 'utf8')) as Remembered
  const db = openDb(options.db)
  try {
    if (!db.get('SELECT 1 FROM transcript_entries WHERE session_id = ? LIMIT 1', note.session)) return undefined
    const open = openApprovals(db, note.session)
    for (const { id, decision, by, note: words } of job.decisions)
      if (open.some((each) => each.id === id && each.status === 'pending'))
        decideApproval(db, id, { allow: decision === 'approved', by, ...(words !== null && { note: words }) })
    return open.length > 0 || job.onCrash === 'resume' ? note : undefined
  } finally {
    db.close()
  }
}

function questions({ db: path }: WorkerOptions, session: string): JsonObject[] {
  const db = openDb(path)
  try {
    return openApprovals(db, session)
      .filter(({ status }) => status === 'pending')
      .map(({ id, tool, input, reason, expiresAt }) => ({
        id,
        session,
        tool,
        input,
        reason,
        expiresAt: Date.parse(`${expiresAt.replace(' ', 'T')}Z`),
      }))
  } finally {
    db.close()
  }
}

function uuidOf({ db: path }: WorkerOptions): string {
  const db = openDb(path)
  try {
    return newId(db)
  } finally {
    db.close()
  }
}

async function shipRows({ db: path, client, withoutContent, signal, onNote }: WorkerOptions): Promise<void> {
  const db = readDb(path)
  try {
    const { problem } = await ship(db, client, { withoutContent, signal, tries: 3 })
    if (problem !== undefined) onNote?.(`rows: ${problem}; the rest is sent with the next job`)
  } finally {
    db.close()
  }
}

/** Until the service has heard it, or says that the job is not ours any more. */
async function tell(
  { id, attempt }: Taken,
  { client, signal, onNote }: WorkerOptions,
  path: string,
  body: JsonObject,
): Promise<void> {
  for (let tries = 1; !signal.aborted; tries++) {
    const reply = await client.ask('POST', `/v1/work/${id}/${path}`, { attempt, ...body }).catch(() => undefined)
    if (reply?.status === 200) return
    if (reply && reply.status !== 429 && reply.status < 500) {
      onNote?.(`job ${id}: ${whyOf(reply)}`)
      return
    }
    await sleep(Math.min(15_000, 250 * 2 ** tries), undefined, { signal }).catch(() => {})
  }
}
