/** Going back to an earlier prompt: the conversation, the files, or both. */

import { textOf } from '../../hooks/step/blocks.ts'
import type { Row, UserEntry } from '../../store/session/transcript.ts'
import { restore, type Snapshot } from './checkpoint.ts'
import { liveEntries, loadMessages } from './history.ts'
import type { Session } from './session.ts'

export interface RewindPoint {
  readonly sequence: number
  readonly prompt: string
  readonly at: string
  /** Files changed since, by the tools that change files. */
  readonly files: readonly string[]
}

/** The prompts of the session that can be gone back to, newest first. */
export function rewindPoints(session: Session): RewindPoint[] {
  const points: { sequence: number; prompt: string; at: string; files: Set<string> }[] = []
  for (const row of liveEntries(session.db, session.id)) {
    if (isPrompt(row))
      points.push({ sequence: row.sequence, prompt: promptOf(row), at: row.createdAt, files: new Set() })
    const snapshot = snapshotOf(row)
    if (snapshot) for (const point of points) point.files.add(snapshot.path)
  }
  return points.reverse().map((point) => ({ ...point, files: [...point.files] }))
}

export interface Rewound {
  readonly prompt: string
  readonly problems: readonly string[]
}

export function rewind(session: Session, to: RewindPoint, what: 'conversation' | 'files' | 'both'): Rewound {
  const snapshots = [...liveEntries(session.db, session.id)].flatMap((row) => {
    const snapshot = row.sequence >= to.sequence ? snapshotOf(row) : undefined
    return snapshot ? [snapshot] : []
  })
  const problems = what === 'conversation' ? [] : restore(session, snapshots)
  if (what !== 'files') {
    session.commit(() => session.append({ _t: 'system', subtype: 'rewind', to: to.sequence }))
    session.messages.splice(0, Infinity, ...loadMessages(session.db, session.id, session.model.window))
    session.seenFiles.clear()
  }
  return { prompt: to.prompt, problems }
}

const snapshotOf = ({ entry }: Row): Snapshot | undefined =>
  entry._t === 'file_history_snapshot' ? (entry['snapshot'] as Snapshot) : undefined

const isPrompt = ({ entry }: Row): boolean => entry._t === 'user' && entry['source'] === 'prompt'
const promptOf = ({ entry }: Row): string => textOf((entry as UserEntry).content)
