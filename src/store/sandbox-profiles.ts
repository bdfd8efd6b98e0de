/** The sandbox profiles that commands ran with, each kept once. */
import type { Db } from './open.ts'

export function keepProfile(db: Db, digest: string, profile: string): void {
  db.run('INSERT OR IGNORE INTO ona_sandbox_profiles(digest, profile) VALUES (?, ?)', digest, profile)
}
