/** Old sessions go: those past the age, and those past the number; never the one in use or one lately active. */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { trace } from '../host/stdio-guard.ts'
import type { Paths } from '../types.ts'
import { isSessionId } from './session-id.ts'

const activeWithinMs = 60 * 60_000
const dayMs = 24 * 60 * 60_000

export function collect(
  paths: Paths,
  names: { stateFile: string; eventsFile: string },
  gc: { maxAgeDays: number; maxSessions: number },
  now: number,
): void {
  const others: { folder: string; at: number }[] = []
  for (const sid of listFolder(paths.workRoot)) {
    const folder = join(paths.workRoot, sid)
    if (!isSessionId(sid) || folder === paths.sessionRoot) continue
    const at = Math.max(changedAt(join(folder, names.stateFile)), changedAt(join(folder, names.eventsFile)))
    if (at > 0) others.push({ folder, at }) // a folder with neither file is not ours to judge
  }
  others.sort((a, b) => b.at - a.at)
  for (const [rank, { folder, at }] of others.entries()) {
    const old = now - at > gc.maxAgeDays * dayMs || rank + 1 >= gc.maxSessions
    if (!old || now - at < activeWithinMs) continue
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch (cause) {
      trace(`session ${folder} could not be collected: ${(cause as Error).message}`)
    }
  }
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // there is none yet
  }
}

function changedAt(file: string): number {
  try {
    return statSync(file).mtimeMs
  } catch {
    return 0 // not there
  }
}
