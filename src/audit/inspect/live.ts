/** Keeps the index up to date while the pages are served, and tells the pages when there is something new. */
import type { ServerResponse } from 'node:http'
import { type Db, StoreError } from '../../store/open.ts'
import { fill } from './data/fill.ts'
import type { Progress } from './data/shapes.ts'
import type { Schema } from './data/tables.ts'

export interface Live {
  /** Reads what is new, for a moment: what a page is about to show is as fresh as that allows. */
  refresh(): Progress
  /** From now on this response is a stream of events (`text/event-stream`). */
  follow(response: ServerResponse): void
  close(): void
}

/** How long the index may hold up everything else in one go. */
const sliceMs = 30
const pollMs = 500
const silenceMs = 15_000

export function openLive(db: Db, schema: Schema): Live {
  const followers = new Set<ServerResponse>()
  let progress = fill(db, schema, 200) // a short record is read before the first page
  let version = dataVersion(db)
  let toldAt = performance.now()
  let timer: NodeJS.Timeout

  const tell = (text: string) => {
    for (const each of followers) each.write(text)
    toldAt = performance.now()
  }
  const refresh = () => {
    const now = dataVersion(db)
    const isChanged = now !== version
    if (isChanged || progress.read < progress.rows) progress = fill(db, schema, sliceMs)
    version = now
    if (isChanged) tell(`event: change\ndata: ${JSON.stringify(progress)}\n\n`)
    return progress
  }
  const poll = () => {
    const wasBehind = progress.read < progress.rows
    try {
      refresh()
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause // a full disk, a lock: a page that is asked for says so
      timer = setTimeout(poll, pollMs)
      return
    }
    const isBehind = progress.read < progress.rows
    const silent = performance.now() - toldAt
    if (wasBehind && (!isBehind || silent > pollMs)) tell(`event: progress\ndata: ${JSON.stringify(progress)}\n\n`)
    else if (silent > silenceMs) tell(': still here\n\n')
    timer = setTimeout(poll, isBehind ? 1 : pollMs)
  }
  timer = setTimeout(poll, 1)

  return {
    refresh,
    follow(response) {
      response.write('retry: 2000\n\n')
      followers.add(response)
      response.on('close', () => followers.delete(response))
    },
    close() {
      clearTimeout(timer)
      for (const each of followers) each.end()
    },
  }
}

/** Changes when another connection has committed; our own commits do not count. */
const dataVersion = (db: Db): number => db.get<{ data_version: number }>('PRAGMA data_version')!.data_version
