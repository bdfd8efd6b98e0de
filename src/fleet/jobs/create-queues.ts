/** The tables of the queue: pg-boss in a schema of its own. */
import { PgBoss } from 'pg-boss'

export const queueSchema = 'ona_queue'
export const deadLetters = 'dead'

/** Makes the tables of the queue, or brings them up to date. */
export async function createQueues(url: string): Promise<void> {
  const boss = new PgBoss({ connectionString: url, schema: queueSchema, supervise: false, schedule: false })
  boss.on('error', () => {}) // start() throws what matters
  await boss.start()
  await boss.createQueue(deadLetters)
  await boss.stop({ graceful: false })
}
