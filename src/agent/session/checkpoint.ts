/** What files were like before the agent changed them, so that a session can be rewound. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeAtomic } from '../../files/atomic-write.ts'
import type { Session } from './session.ts'

/**
 * Contents lie outside the database, readable by their owner alone: they may hold the user's secrets. They are named by
 * what they hold, so that the copies of a session find them too.
 */
const blobs = ({ runtime, conversationId }: Session) => join(runtime.home, '.ona', 'file-history', conversationId)

export interface Snapshot {
  readonly path: string
  /** The name of the kept content; null when there was no such file. */
  readonly blob: string | null
  readonly mode: number | null
}

/** Keeps a file as it is now, once for each prompt. */
export function checkpoint(session: Session, path: string): void {
  if (session.checkpointed.has(path) || session.runtime.env.CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING) return
  session.checkpointed.add(path)
  session.append({ _t: 'file_history_snapshot', snapshot: existsSync(path) ? keep(session, path) : gone(path) })
}

const gone = (path: string): Snapshot => ({ path, blob: null, mode: null })

function keep(session: Session, path: string): Snapshot {
  const content = readFileSync(path)
  const { createHash } = process.getBuiltinModule('node:crypto')
  const blob = createHash('sha256').update(content).digest('hex')
  const folder = blobs(session)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!existsSync(join(folder, blob))) writeFileSync(join(folder, blob), content, { mode: 0o600 })
  return { path, blob, mode: statSync(path).mode & 0o777 }
}

/** Puts back the oldest of the snapshots given for each path; says what it could not put back. */
export function restore(session: Session, snapshots: readonly Snapshot[]): string[] {
  const problems: string[] = []
  const oldest = new Map<string, Snapshot>()
  for (const snapshot of snapshots) if (!oldest.has(snapshot.path)) oldest.set(snapshot.path, snapshot)
  for (const { path, blob, mode } of oldest.values()) {
    try {
      if (blob === null) rmSync(path, { force: true })
      else {
        mkdirSync(dirname(path), { recursive: true })
        writeAtomic(path, readFileSync(join(blobs(session), blob)))
        if (mode !== null) chmodSync(path, mode)
      }
    } catch (cause) {
      problems.push(`${path}: ${(cause as Error).message}`)
    }
  }
  return problems
}
