/** Which process works in a session: two may not ask a model in one at the same time (spec 003 §2.5). */
import { readFileSync } from 'node:fs'
import type { Db } from '../open.ts'
import { deleteState, getState, setState } from '../state.ts'

interface Place {
  readonly db: Db
  readonly id: string
  readonly conversationId: string
}

/** For the first commit of a turn. A process that dies leaves it, and is seen to be gone. */
export const signIn = ({ db, id, conversationId }: Place): void =>
  setState(db, conversationId, keyOf(id), nameOf(process.pid) ?? '')

/** For its last commit. */
export const signOut = ({ db, id, conversationId }: Place): boolean => deleteState(db, conversationId, keyOf(id))

/** The number of another process that is in the middle of a turn there. */
export function workerIn({ db, id, conversationId }: Place): number | undefined {
  const name = getState(db, conversationId, keyOf(id))
  const pid = Number(name?.split(' ')[0])
  return pid && pid !== process.pid && nameOf(pid) === name ? pid : undefined
}

const keyOf = (id: string) => `working:${id}`

/** A number comes back, most of all in containers: where the system tells, with the moment that the process began. */
function nameOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return isThere(pid) ? String(pid) : undefined
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields[0] === 'Z' ? undefined : `${pid} ${fields[19]}`
  } catch {
    return undefined // it has ended
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH' // another user's may not be signalled
  }
}
