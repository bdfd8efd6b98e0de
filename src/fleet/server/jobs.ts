/**
 * Jobs: delivered at least once by pg-boss, ended once by us. Whoever takes a job gets an attempt number; only the holder
 * of the current attempt is heard, so a worker that was given up cannot end what another does now.
 */
import { counted } from '../../hooks/text/counted.ts'
import { type Delivery, nodeQueue, type Queue } from '../jobs/queue.ts'
import type { Fleet, Sql } from './database.ts'
import type { NodeKey } from './node-access.ts'
import { Refused } from './request.ts'

export interface Taken {
  readonly id: string
  readonly attempt: number
  readonly prompt: string
  readonly repo: string
  readonly ref: string
  readonly policy: string | null
  readonly onCrash: string
  readonly model: string | null
  readonly push: boolean
  readonly maxMinutes: number
  readonly maxTurns: number | null
  readonly maxCostUsd: number | null
  /** Of a job that waited: what was decided. */
  readonly decisions: readonly Decision[]
  readonly heartbeatSeconds: number
}

export interface Decision {
  readonly id: string
  readonly decision: 'approved' | 'denied'
  readonly by: string
  readonly note: string | null
}

/** `running`: what this worker really has. What it was given and does not have was lost on the way, and is given out again. */
export async function take(
  fleet: Fleet,
  queue: Queue,
  node: NodeKey,
  slots: number,
  running: readonly string[],
): Promise<Taken[]> {
  if (!node.worker) throw new Refused(403, 'this node may not take jobs; invite it with ona fleet invite --worker')
  return fleet.as('service', undefined, async (sql) => {
    const { rows: lost } = await sql.query<Held>(
      `${heldSql} WHERE node_id = $1 AND status = 'running' AND NOT (id = ANY ($2)) FOR UPDATE SKIP LOCKED`,
      [node.id, running],
    )
    for (const job of lost) {
      await event(sql, job, 'lost', 'its worker died, or lost it')
      await queue.fail(sql, deliveryOf(job), 'its worker died')
      await sql.query("UPDATE ona_fleet.jobs SET status = 'queued' WHERE id = $1", [job.id])
    }
    const taken: Taken[] = []
    while (taken.length < slots) {
      const next = await nextJob(sql, queue, node.id)
      if (!next) break
      if (next !== 'skipped') taken.push({ ...next, heartbeatSeconds: queue.heartbeatSeconds })
    }
    return taken
  })
}

/** Resumed jobs of this node first; then the repository of which the fewest jobs run, and of those the oldest. */
async function nextJob(
  sql: Sql,
  queue: Queue,
  node: string,
): Promise<Omit<Taken, 'heartbeatSeconds'> | 'skipped' | undefined> {
  const { rows } = await sql.query<{ queue: string }>(
    `SELECT boss_queue AS queue FROM ona_fleet.jobs WHERE status <> 'ended' AND boss_queue IS NOT NULL
       AND (boss_queue NOT LIKE 'node-%' OR boss_queue = $1)
     GROUP BY boss_queue ORDER BY boss_queue <> $1, count(*) FILTER (WHERE status = 'running'), min(submitted_at) LIMIT 50`,
    [nodeQueue(node)],
  )
  for (const { queue: name } of rows) {
    const delivery = await queue.fetch(sql, name)
    if (delivery) return start(sql, queue, node, delivery)
  }
  return undefined
}

async function start(
  sql: Sql,
  queue: Queue,
  node: string,
  delivery: Delivery,
): Promise<Omit<Taken, 'heartbeatSeconds'> | 'skipped'> {
  const { rows } = await sql.query<Omit<Taken, 'heartbeatSeconds' | 'decisions'> & { attempt: number }>(
    `UPDATE ona_fleet.jobs SET status = 'running', attempt = attempt + 1, node_id = $2, started_at = now(), boss_id = $3, boss_queue = $4,
       boss_retry = $5
     WHERE id = $1 AND status <> 'ended' AND NOT cancel
     RETURNING id, attempt, prompt, repo, ref, policy, on_crash AS "onCrash", model, push, max_minutes AS "maxMinutes",
       max_turns AS "maxTurns", max_cost_usd AS "maxCostUsd"`,
    [delivery.job, node, delivery.id, delivery.queue, delivery.retry],
  )
  const [job] = rows
  if (!job) {
    await queue.complete(sql, delivery)
    await endJob(sql, { id: delivery.job, attempt: 0, node_id: null }, { outcome: 'cancelled', reason: 'cancelled' })
    return 'skipped'
  }
  await event(sql, { id: job.id, attempt: job.attempt, node_id: node }, 'started', '')
  const decided = await sql.query<Decision>(
    `SELECT id, decision, decided_by AS by, note FROM ona_fleet.approvals WHERE job_id = $1 AND node_id = $2 AND decision IS NOT NULL`,
    [job.id, node],
  )
  return { ...job, decisions: decided.rows }
}

export interface Held {
  readonly id: string
  readonly attempt: number
  readonly node_id: string | null
  readonly status: string
  readonly cancel: boolean
  readonly boss_id: string
  readonly boss_queue: string
  readonly boss_retry: number
  readonly max_attempts: number
  readonly max_minutes: number
  readonly queue: string
}

export const heldSql =
  'SELECT id, attempt, node_id, status, cancel, boss_id, boss_queue, boss_retry, max_attempts, max_minutes, queue FROM ona_fleet.jobs'

const deliveryOf = ({ boss_id, boss_queue, boss_retry }: Held) => ({
  id: boss_id,
  queue: boss_queue,
  retry: boss_retry,
})

/** Works on a job that this node holds with this attempt; anybody else gets the answer that it is no longer theirs. */
const holding = <T>(
  fleet: Fleet,
  node: NodeKey,
  id: string,
  attempt: number,
  work: (sql: Sql, job: Held) => Promise<T>,
): Promise<T> =>
  fleet.as('service', undefined, async (sql) => {
    const { rows } = await sql.query<Held>(`${heldSql} WHERE id = $1 FOR UPDATE`, [id])
    const [job] = rows
    if (job?.status !== 'running' || job.node_id !== node.id || job.attempt !== attempt)
      throw new Refused(409, `job ${id}, attempt ${attempt}, is not held by this node any more`)
    return work(sql, job)
  })

export const beat = (
  fleet: Fleet,
  queue: Queue,
  node: NodeKey,
  id: string,
  attempt: number,
): Promise<{ cancel: boolean }> =>
  holding(fleet, node, id, attempt, async (sql, job) => {
    await queue.touch(sql, deliveryOf(job))
    return { cancel: job.cancel }
  })

export interface Ending {
  readonly outcome: 'done' | 'failed' | 'cancelled' | 'dead'
  readonly reason: string
  readonly branch?: string | undefined
  readonly commit?: string | undefined
  readonly result?: string
  readonly turns?: number | undefined
  readonly costUsd?: number | undefined
}

/** Ends it for good; or, where it failed through no fault of its own, gives it out again. */
export const end = (
  fleet: Fleet,
  queue: Queue,
  node: NodeKey,
  id: string,
  attempt: number,
  how: Ending & { again: boolean },
): Promise<void> =>
  holding(fleet, node, id, attempt, async (sql, job) => {
    if (how.again) {
      await event(sql, job, 'failed, to be tried again', how.reason)
      await sql.query("UPDATE ona_fleet.jobs SET status = 'queued' WHERE id = $1", [id])
      return queue.fail(sql, deliveryOf(job), how.reason)
    }
    await queue.complete(sql, deliveryOf(job))
    await endJob(sql, job, how)
  })

export async function endJob(sql: Sql, job: Pick<Held, 'id' | 'attempt' | 'node_id'>, how: Ending): Promise<void> {
  const { rowCount } = await sql.query(
    `INSERT INTO ona_fleet.outcomes(job_id, outcome, reason, attempt, node_id, branch, commit_id, result, turns, cost_usd)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
    [
      ...[job.id, how.outcome, how.reason, job.attempt, job.node_id, how.branch ?? null, how.commit ?? null],
      ...[how.result ?? '', how.turns ?? null, how.costUsd ?? null],
    ],
  )
  await sql.query("UPDATE ona_fleet.jobs SET status = 'ended' WHERE id = $1", [job.id])
  if (rowCount) await event(sql, job, how.outcome, how.reason)
}

/** pg-boss has tried it as often as it may. */
export const bury = (fleet: Fleet, id: string): Promise<void> =>
  fleet.as('service', undefined, async (sql) => {
    const { rows } = await sql.query<Held>(`${heldSql} WHERE id = $1 AND status <> 'ended' FOR UPDATE`, [id])
    const [job] = rows
    if (!job) return
    const last = await sql.query<{ what: string; detail: string }>(
      'SELECT what, detail FROM ona_fleet.job_events WHERE job_id = $1 ORDER BY id DESC LIMIT 1',
      [id],
    )
    const { what = '', detail = '' } = last.rows[0] ?? {}
    const why = what === 'started' ? 'its worker was not heard of any more' : detail
    await endJob(sql, job, { outcome: 'dead', reason: `tried ${counted(job.attempt, 'time')}: ${why}` })
  })

export interface Question {
  readonly id: string
  readonly session: string
  readonly tool: string
  readonly input: string
  readonly reason: string
  readonly expiresAt: string
}

/** Calls of the job wait for a decision: its worker has a slot free meanwhile. */
export const wait = (
  fleet: Fleet,
  queue: Queue,
  node: NodeKey,
  id: string,
  attempt: number,
  asked: readonly Question[],
): Promise<void> =>
  holding(fleet, node, id, attempt, async (sql, job) => {
    for (const { id: approval, session, tool, input, reason, expiresAt } of asked)
      await sql.query(
        `INSERT INTO ona_fleet.approvals(job_id, id, node_id, session_id, tool_name, input, reason, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
        [id, approval, node.id, session, tool, input, reason, expiresAt],
      )
    await queue.complete(sql, deliveryOf(job))
    await sql.query("UPDATE ona_fleet.jobs SET status = 'waiting' WHERE id = $1", [id])
    await event(sql, job, 'waiting for approval', asked.map(({ id: each, tool }) => `${each} ${tool}`).join(', '))
  })

export const event = (sql: Sql, job: Pick<Held, 'id' | 'attempt' | 'node_id'>, what: string, detail: string) =>
  sql.query('INSERT INTO ona_fleet.job_events(job_id, attempt, node_id, what, detail) VALUES ($1, $2, $3, $4, $5)', [
    ...[job.id, job.attempt, job.node_id, what, detail.slice(0, 2000)],
  ])
