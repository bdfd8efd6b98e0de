/**
 * `cleanupPeriodDays`: once a day at start, a process of its own erases old content while the session goes on. The session begins
 * the run, and the process finishes it: it takes the number of days from that row, so that nobody can have it erase more.
 */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { counted } from '../../hooks/text/counted.ts'
import { readJson } from '../../hooks/text/json-text.ts'
import { packageRoot } from '../../package-root.ts'
import { beginRetention } from '../../store/archive/retention.ts'
import { inMemory } from '../../store/open.ts'
import type { Session } from './session.ts'

export function startCleanup(session: Session, days: number): void {
  const { db, id, runtime } = session
  const run = db.path === inMemory ? undefined : beginRetention(db, days, new Date())
  if (run === undefined) return
  const words = ['audit', 'retain', '--run', String(run), '--for', id, '--json']
  const child = spawn(process.execPath, [join(packageRoot, 'bin/ona.mjs'), ...words], {
    env: { ...runtime.env, AGENT_SDLC_DB: db.path },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  child.on('error', () => {}) // the next day tries again
  child.unref()
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk
  })
  const stdout = child.stdout as typeof child.stdout & { unref?(): void }
  stdout.unref?.()
  child.on('close', () => {
    const read = readJson(text) // nothing, where it was killed
    if (!read.ok || !db.isOpen) return // or the session is over
    const { sessions = 0, left = 0 } = read.value as { sessions?: number; left?: number }
    if (sessions === 0) return
    const rest = left > 0 ? `; ${left} more tomorrow` : ''
    const notice = `cleanupPeriodDays: erased the content of ${counted(sessions, 'session')} last active over ${counted(days, 'day')} ago${rest}`
    session.emit({ type: 'notice', level: 'info', text: notice })
  })
}
