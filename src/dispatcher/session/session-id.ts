/** From whatever a host calls its session to eight hex digits that are safe as a folder's name. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { late, sha256 } from '../lazy-builtins.ts'
import { isObject } from './paths.ts'

export const isSessionId = (name: string): boolean => /^[0-9a-f]{8}$/.test(name)

/** A host that names no session is taken to mean the one that was active this short a time ago. */
const sameSessionWithinMs = 10 * 60_000

/** `snapshotOf`: what state.json of a session holds. It tells which host's session a folder already belongs to. */
export function sessionIdFor(
  hostId: string | undefined,
  workRoot: string,
  eventsFileName: string,
  now: number,
  snapshotOf: (sid: string) => unknown,
): string {
  if (hostId === undefined || hostId === '') return newestSession(workRoot, eventsFileName, now) ?? randomId()
  const taken = (sid: string): boolean => {
    const value = snapshotOf(sid)
    const core = isObject(value) ? value['core'] : undefined
    const owner = isObject(core) ? core['hostSessionId'] : undefined
    return owner !== undefined && owner !== hostId.slice(0, hostIdLimit)
  }
  // A UUID's first group already is what we need, and spares us loading node:crypto.
  const lead = /^([0-9a-f]{8})(?:-|$)/.exec(hostId)?.[1]
  if (lead && !taken(lead)) return lead
  const digits = sha256(hostId, 16)
  return taken(digits.slice(0, 8)) ? digits.slice(8) : digits.slice(0, 8)
}

/** As much of a host's name for its session as the state keeps. */
export const hostIdLimit = 500

const randomId = (): string => late('node:crypto').randomBytes(4).toString('hex')

function newestSession(workRoot: string, eventsFileName: string, now: number): string | undefined {
  let newest: { sid: string; at: number } | undefined
  let names: string[] = []
  try {
    names = readdirSync(workRoot).filter(isSessionId)
  } catch {} // no session yet
  for (const sid of names) {
    try {
      const at = statSync(join(workRoot, sid, eventsFileName)).mtimeMs
      if (now - at <= sameSessionWithinMs && at > (newest?.at ?? 0)) newest = { sid, at }
    } catch {} // a session without a log is not the one in use
  }
  return newest?.sid
}
