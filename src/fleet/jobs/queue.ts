/** The queue: pg-boss in a schema of its own, one queue a repository, so that no repository can starve the others. */
import { PgBoss } from 'pg-boss'
import type { Sql } from '../server/database.ts'
import { sha256 } from '../wire.ts'
import { deadLetters, queueSchema } from './create-queues.ts'

export const queueOf = (repo: string): string => `repo-${sha256(repo).toString('hex').slice(0, 24)}`
export const nodeQueue = (node: string): string => `node-${node}`

export interface Delivery {
  readonly id: string
  readonly queue: string
  readonly retry: number
  readonly job: string
}

export interface SendOptions {
  readonly attempts: number
  readonly expireSeconds: number
}

export interface Queue {
  readonly heartbeatSeconds: number
  /** In the caller's transaction, like everything here that takes one. */
  send(sql: Sql, queue: string, job: string, options: SendOptions): Promise<string>
  create(queue: string): Promise<void>
  fetch(sql: Sql, queue: string): Promise<Delivery | undefined>
  touch(sql: Sql, delivery: Omit<Delivery, 'job'>): Promise<void>
  complete(sql: Sql, delivery: Omit<Delivery, 'job'>): Promise<void>
  fail(sql: Sql, delivery: Omit<Delivery, 'job'>, why: string): Promise<void>
  cancel(sql: Sql, queue: string, id: string): Promise<void>
  close(): Promise<void>
}

export interface QueueOptions {
  /** How long a worker may be silent before its job is given to another; pg-boss wants 10 or more. */
  readonly heartbeatSeconds?: number
  /** Hears of a job that failed for good. */
  onDead(job: string): Promise<void>
  onError?(cause: unknown): void
}

export async function openQueue(
  url: string,
  { heartbeatSeconds = 30, onDead, onError = () => {} }: QueueOptions,
): Promise<Queue> {
  const boss = new PgBoss({
    ...{ connectionString: url, schema: queueSchema, migrate: false, schedule: false, max: 3 },
    ...{ superviseIntervalSeconds: 5, monitorIntervalSeconds: 5, maintenanceIntervalSeconds: 60 },
  })
  boss.on('error', onError)
  await boss.start()
  const known = new Set<string>()
  const on = (sql: Sql) => ({ db: { executeSql: (text: string, values?: unknown[]) => sql.query(text, values) } })
  const settled = ({ id, retry }: Omit<Delivery, 'job'>) => ({ id, retryCount: retry })
  await boss.work<{ job: string }>(deadLetters, { pollingIntervalSeconds: 2 }, async (jobs) => {
    for (const job of jobs) await onDead(job.data.job)
  })
  return {
    heartbeatSeconds,
    async create(queue) {
      if (known.has(queue)) return
      await boss.createQueue(queue, { deadLetter: deadLetters, heartbeatSeconds })
      known.add(queue)
    },
    async send(sql, queue, job, { attempts, expireSeconds }) {
      const id = await boss.send(
        queue,
        { job },
        {
          ...{ retryLimit: attempts - 1, retryDelay: 1, expireInSeconds: expireSeconds, heartbeatSeconds },
          ...on(sql),
        },
      )
      if (id === null) throw new Error(`the queue ${queue} did not take the job`)
      return id
    },
    async fetch(sql, queue) {
      const [found] = await boss.fetch<{ job: string }>(queue, { batchSize: 1, includeMetadata: true, ...on(sql) })
      return found && { id: found.id, queue, retry: found.retryCount, job: found.data.job }
    },
    touch: async (sql, delivery) => void (await boss.touch(delivery.queue, settled(delivery), on(sql))),
    complete: async (sql, delivery) => void (await boss.complete(delivery.queue, settled(delivery), null, on(sql))),
    fail: async (sql, delivery, why) => void (await boss.fail(delivery.queue, settled(delivery), { why }, on(sql))),
    cancel: async (sql, queue, id) => void (await boss.cancel(queue, id, on(sql))),
    close: () => boss.stop({ graceful: false }),
  }
}
