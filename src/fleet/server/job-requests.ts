/** What users do with jobs: submit, decide, cancel, retry. Each is a row of the access log. */
import { randomUUID } from 'node:crypto'
import { nodeQueue, type Queue, queueOf } from '../jobs/queue.ts'
import type { Fleet, Sql } from './database.ts'
import { endJob, event, type Held, heldSql } from './jobs.ts'
import { Refused } from './request.ts'
import { logAccess, type User } from './user-access.ts'

export interface NewJob {
  readonly prompt: string
  readonly repo: string
  readonly ref: string
  readonly policy: string | null
  readonly onCrash: 'restart' | 'resume'
  readonly model: string | null
  readonly push: boolean
  readonly maxMinutes: number
  readonly maxTurns: number | null
  readonly maxCostUsd: number | null
  readonly attempts: number
}

/** The same key again submits nothing, and returns the jobs of the first time. */
export async function submit(
  fleet: Fleet,
  queue: Queue,
  user: User,
  job: NewJob,
  count: number,
  key: string | null,
): Promise<string[]> {
  const name = queueOf(job.repo)
  await queue.create(name)
  return fleet.as('service', undefined, async (sql) => {
    await logged(sql, user, 'submit jobs', job.repo, `${count}: ${job.prompt.slice(0, 200)}`)
    const ids: string[] = []
    for (let n = 0; n < count; n++) {
      const { rows } = await sql.query<{ id: string }>(
        `INSERT INTO ona_fleet.jobs(id, idempotency_key, prompt, repo, ref, policy, on_crash, model, push, max_minutes, max_turns,
           max_cost_usd, max_attempts, queue, status, submitted_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'queued', $15) ON CONFLICT (idempotency_key) DO NOTHING
         RETURNING id`,
        [
          ...[
            randomUUID(),
            key === null ? null : `${key}/${n}`,
            job.prompt,
            job.repo,
            job.ref,
            job.policy,
            job.onCrash,
          ],
          ...[job.model, job.push, job.maxMinutes, job.maxTurns, job.maxCostUsd, job.attempts, name, user.actor],
        ],
      )
      const [made] = rows
      if (made) await deliver(sql, queue, made.id, name, job)
      const id =
        made?.id ??
        (await sql.query<{ id: string }>('SELECT id FROM ona_fleet.jobs WHERE idempotency_key = $1', [`${key}/${n}`]))
          .rows[0]!.id
      ids.push(id)
    }
    return ids
  })
}

async function deliver(
  sql: Sql,
  queue: Queue,
  id: string,
  to: string,
  { attempts, maxMinutes }: Pick<NewJob, 'attempts' | 'maxMinutes'>,
) {
  const boss = await queue.send(sql, to, id, { attempts, expireSeconds: Math.ceil(maxMinutes * 60) + 300 })
  await sql.query(
    `UPDATE ona_fleet.jobs SET status = 'queued', boss_id = $2, boss_queue = $3, boss_retry = 0 WHERE id = $1`,
    [id, boss, to],
  )
}

/** The job is resumed where it waits once nothing of it is undecided: by the node that has its session. */
export async function decide(
  fleet: Fleet,
  queue: Queue,
  user: User,
  job: string,
  approval: string,
  allow: boolean,
  note: string | null,
): Promise<void> {
  const [found] = await fleet.query<{ node: string }>(
    'SELECT node_id AS node FROM ona_fleet.approvals WHERE job_id = $1 AND id = $2',
    [job, approval],
  )
  if (!found) throw new Refused(404, `there is no approval ${approval} of job ${job}`)
  const to = nodeQueue(found.node)
  await queue.create(to)
  await fleet.as('service', undefined, async (sql) => {
    await logged(sql, user, allow ? 'approve' : 'deny', `${job} ${approval}`, note ?? '')
    const { rows } = await sql.query<Held>(`${heldSql} WHERE id = $1 FOR UPDATE`, [job])
    const held = rows[0]!
    const { rowCount } = await sql.query(
      `UPDATE ona_fleet.approvals SET decision = $3, decided_by = $4, decided_at = now(), note = $5
       WHERE job_id = $1 AND id = $2 AND decision IS NULL AND expires_at > now()`,
      [job, approval, allow ? 'approved' : 'denied', user.actor, note],
    )
    if (!rowCount) throw new Refused(409, `approval ${approval} is decided or expired`)
    await event(sql, held, allow ? 'approved' : 'denied', `${approval} by ${user.actor}`)
    const open = await sql.query('SELECT 1 FROM ona_fleet.approvals WHERE job_id = $1 AND decision IS NULL', [job])
    if (open.rows.length === 0 && held.status === 'waiting')
      await deliver(sql, queue, job, to, { attempts: held.max_attempts, maxMinutes: held.max_minutes })
  })
}

export const cancel = (fleet: Fleet, queue: Queue, user: User, id: string): Promise<string> =>
  fleet.as('service', undefined, async (sql) => {
    await logged(sql, user, 'cancel job', id)
    const job = await lockJob(sql, id)
    if (job.status === 'ended') throw new Refused(409, `job ${id} has ended`)
    await sql.query('UPDATE ona_fleet.jobs SET cancel = true WHERE id = $1', [id])
    await event(sql, job, 'cancel', `by ${user.actor}`)
    if (job.status === 'running') return 'cancelling'
    if (job.status === 'queued') await queue.cancel(sql, job.boss_queue, job.boss_id)
    await endJob(sql, job, { outcome: 'cancelled', reason: `cancelled by ${user.actor}` })
    return 'cancelled'
  })

/** From its beginning, with a new set of attempts; what it had ended with is in its log. */
export const retry = (fleet: Fleet, queue: Queue, user: User, id: string): Promise<void> =>
  fleet.as('service', undefined, async (sql) => {
    await logged(sql, user, 'retry job', id)
    const job = await lockJob(sql, id)
    if (job.status !== 'ended' && job.status !== 'waiting') throw new Refused(409, `job ${id} is ${job.status}`)
    await sql.query('DELETE FROM ona_fleet.outcomes WHERE job_id = $1', [id])
    await sql.query('UPDATE ona_fleet.jobs SET cancel = false WHERE id = $1', [id])
    await event(sql, job, 'retry', `by ${user.actor}`)
    await deliver(sql, queue, id, job.queue, { attempts: job.max_attempts, maxMinutes: job.max_minutes })
  })

async function lockJob(sql: Sql, id: string): Promise<Held> {
  const { rows } = await sql.query<Held>(`${heldSql} WHERE id = $1 FOR UPDATE`, [id])
  if (!rows[0]) throw new Refused(404, `there is no job ${id}`)
  return rows[0]
}

const logged = (sql: Sql, { actor, role, address }: User, action: string, target: string, detail = '') =>
  logAccess(sql, { actor, role, action, target, detail, address })
