/**
 * Rows out. The service knows how far it has received the chain, so nothing is kept here: after any crash the next run asks
 * and goes on. A service that is down costs nothing and loses nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { keepArchived } from '../../store/archive/reading.ts'
import type { ReadDb } from '../../store/open.ts'
import type { Cursor } from '../wire.ts'
import { type Client, type Reply, Unreachable, whyOf } from './client.ts'
import { type BatchOptions, chainOf, linkHash, nextBatch, type Position } from './outbox.ts'

export interface Shipped {
  readonly rows: number
  readonly batches: number
  /** What the service found wrong with the chain. */
  readonly faults: number
  /** Why it stopped before the end; the rest is sent the next time. */
  readonly problem?: string
}

export interface ShipOptions {
  readonly withoutContent: boolean
  readonly signal?: AbortSignal
  /** How often a request that failed or was put off is sent again. */
  readonly tries?: number
  readonly batchRows?: number
}

export async function ship(db: ReadDb, client: Client, options: ShipOptions): Promise<Shipped> {
  const sent = { rows: 0, batches: 0, faults: 0 }
  const archived = keepArchived()
  try {
    for (let restarts = 0; restarts < 3; restarts++) {
      const chain = chainOf(db)
      if (!chain) return sent
      const cursor = await cursorOf(client, chain.database, options)
      if (await shipFrom(db, client, cursor, sent, { ...options, archived: archived.with })) return sent
    }
    return { ...sent, problem: 'the chain changed while it was being sent' }
  } catch (cause) {
    if (cause instanceof Unreachable) return { ...sent, problem: cause.message }
    throw cause
  } finally {
    archived.close()
  }
}

/** False: it has to begin again. */
async function shipFrom(
  db: ReadDb,
  client: Client,
  cursor: Cursor,
  sent: { rows: number; batches: number; faults: number },
  options: ShipOptions & Pick<BatchOptions, 'archived'>,
): Promise<boolean> {
  let position: Position = { link: cursor.last, row: 0 }
  // a chain that is not the one received before is shown to the service, which reports it and begins again
  if (cursor.last > 0 && linkHash(db, cursor.last) !== cursor.head)
    position = { link: Math.max(0, lastBefore(db, cursor.last) - 1), row: 0 }
  // read after the service was asked: an honest chain has at least what was received of it
  const cut = chainOf(db)!.end.id < cursor.last
  while (!options.signal?.aborted) {
    const chain = chainOf(db)!
    const next = nextBatch(db, chain, cursor.epoch, position, {
      withoutContent: options.withoutContent,
      ...(options.archived && { archived: options.archived }),
      ...(options.batchRows !== undefined && { rows: options.batchRows }),
    })
    if (!next) return true
    const { body } = await accepted(client, 'POST', '/v1/rows', { ...next.batch, cut }, options)
    sent.batches++
    sent.rows += Number(body['rows'] ?? 0)
    sent.faults += Number(body['faults'] ?? 0)
    const received = body['cursor'] as Cursor | undefined
    if (body['restart'] === true || received?.epoch !== cursor.epoch) return false
    position = next.next
  }
  return true
}

const lastBefore = (db: ReadDb, id: number): number =>
  db.get<{ id: number }>('SELECT max(id) AS id FROM ona_chain WHERE id <= ?', id)?.id ?? 1

const cursorOf = async (client: Client, database: string, options: ShipOptions): Promise<Cursor> =>
  (await accepted(client, 'GET', `/v1/cursor?database=${database}`, undefined, options)).body as unknown as Cursor

/** Sends until it is accepted: again after a failure, later when the service is busy. */
async function accepted(
  client: Client,
  method: string,
  path: string,
  body: object | undefined,
  { tries = 5, signal }: ShipOptions,
): Promise<Reply> {
  for (let attempt = 1; ; attempt++) {
    let waitMs = Math.min(30_000, 250 * 2 ** attempt)
    try {
      const reply = await client.ask(method, path, body)
      if (reply.status === 200) return reply
      const isFinal = (reply.status !== 429 && reply.status < 500) || attempt >= tries
      if (isFinal) throw new Unreachable(whyOf(reply), { isFinal })
      const after = Number(reply.headers.get('retry-after'))
      if (after > 0) waitMs = Math.min(after, 60) * 1000
    } catch (cause) {
      if (!(cause instanceof Unreachable) || cause.isFinal || attempt >= tries || signal?.aborted) throw cause
    }
    await sleep(waitMs * (0.5 + Math.random() / 2), undefined, signal && { signal }).catch(() => {})
    if (signal?.aborted) throw new Unreachable('stopped')
  }
}
