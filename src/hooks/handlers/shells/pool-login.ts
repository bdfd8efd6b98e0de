/** How the shells of a pool get to where a login takes them: each reads the profile, or all are restored from one login. */
import type { LoginSnapshot } from './login-snapshot.ts'
import { stampOf, type WarmPlace } from './waiting-shell.ts'

/** `quick`, `read`: every shell reads the profile, since that takes no time, or since it has to. */
export type Login = 'unknown' | 'learning' | 'quick' | 'read' | LoginSnapshot

export interface HasLogin {
  readonly place: WarmPlace
  login: Login
  /** Of what the snapshot was taken from. */
  stamp: string
  /** Its shells have ended, for those of another place. */
  dropped: boolean
  coldOnly: boolean
}

/** What a login depends on besides the profile may have changed by then. */
const snapshotMs = 60_000

/** Sees whether shells can do without reading the profile each. */
export async function learn(pool: HasLogin): Promise<void> {
  pool.login = 'learning'
  pool.stamp = stampOf(pool.place)
  const { takeSnapshot } = await import('./login-snapshot.ts')
  const taken = await takeSnapshot(pool.place).catch(() => undefined) // no room for it, no more descriptors
  if (taken === 'takes input') pool.coldOnly = true
  pool.login = taken === undefined || taken === 'takes input' ? 'read' : taken
  if (pool.dropped) learnAgain(pool) // nobody else closes the snapshot
}

/** Where hooks leave no time to read even a quick profile, shells are restored, too. Until one can be, each reads it. */
export async function learnInHaste(pool: HasLogin): Promise<void> {
  if (pool.login !== 'quick') return
  pool.login = 'read'
  const { stamp } = pool
  const { dropSnapshot, takeSnapshot } = await import('./login-snapshot.ts')
  const snapshot = await takeSnapshot(pool.place, 0).catch(() => undefined)
  if (typeof snapshot !== 'object') return
  if (pool.dropped || pool.login !== 'read' || pool.stamp !== stamp) dropSnapshot(snapshot)
  else pool.login = snapshot
}

/** What was learned of another profile is forgotten; an old snapshot is compared with a login, beside the shells it serves. */
export function refresh(pool: HasLogin): void {
  if (stampOf(pool.place) !== pool.stamp) learnAgain(pool)
  else if (typeof pool.login === 'object' && Date.now() - pool.login.checkedAt > snapshotMs)
    void recheck(pool, pool.login)
}

/** A snapshot that a login no longer leads to is closed, and each shell reads the profile. */
export async function recheck(pool: HasLogin, login: LoginSnapshot): Promise<void> {
  login.checkedAt = Date.now()
  const { isStillTrue } = await import('./login-snapshot.ts')
  if ((await isStillTrue(pool.place, login)) || pool.login !== login) return
  learnAgain(pool)
  pool.login = 'read'
}

export function learnAgain(pool: HasLogin): void {
  if (typeof pool.login === 'object') process.getBuiltinModule('node:fs').closeSync(pool.login.fd)
  if (pool.login !== 'learning') pool.login = 'unknown'
}
