/** Which turn of its session a row belongs to: by the ends of turns before it, which are read once and then only what is new. */
import type { ReadDb } from '../../store/open.ts'

interface Ends {
  readonly ids: number[]
  readonly times: string[]
}

/** Kept from one batch to the next; sessions that a batch does not mention are dropped. */
export class TurnEnds {
  #known = new Map<string, Ends>()
  #used = new Map<string, Ends>()

  begin(): void {
    this.#known = this.#used
    this.#used = new Map()
  }

  /** How many turns had ended before an event. */
  beforeEvent = (db: ReadDb, session: string, id: number): number => below(this.#of(db, session).ids, id)

  /** How many turns had ended before a time. */
  beforeTime = (db: ReadDb, session: string, time: string): number => below(this.#of(db, session).times, time)

  /** When the turn before this one ended; undefined for the first. */
  lastEnd(db: ReadDb, session: string, turn: number): string | undefined {
    return this.#of(db, session).times[turn - 1]
  }

  #of(db: ReadDb, session: string): Ends {
    const used = this.#used.get(session)
    if (used) return used
    const ends = this.#known.get(session) ?? { ids: [], times: [] }
    this.#used.set(session, ends)
    const sql = `SELECT id, timestamp FROM events WHERE session_id = ? AND event_type = 'turn_end' AND id > ? ORDER BY id`
    for (const [id, time] of db.arrays<[number, string]>(sql, session, ends.ids.at(-1) ?? 0)) {
      ends.ids.push(id)
      ends.times.push(time)
    }
    return ends
  }
}

/** How many values of a sorted list are lower. */
function below<T>(sorted: readonly T[], value: T): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (sorted[middle]! < value) from = middle + 1
    else to = middle
  }
  return from
}
