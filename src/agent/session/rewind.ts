/** Going back to an earlier prompt: the conversation, the files, or both. */

import { textOf } from '../../hooks/step/blocks.ts'
import type { Row, UserEntry } from '../../store/session/transcript.ts'
import { restore, type Snapshot } from './checkpoint.ts'
import { firstOfPrompts, liveEntriesFrom, loadMessages } from './history.ts'
import type { Session } from './session.ts'

export interface RewindPoint {
  readonly sequence: number
  readonly prompt: string
  readonly at: string
  /** Files changed since, by the tools that change files. */
  readonly files: readonly string[]
}

/** A longer list would take long to make, and nobody would read it. */
export const mostPoints = 1_000

/** The newest prompts of the session, newest first: those that can be gone back to. */
export function rewindPoints({ db, id }: Session): RewindPoint[] {
  const from = firstOfPrompts(db, id, mostPoints)
  const rows = Array.from(liveEntriesFrom(db, id, from, ['user', 'file_history_snapshot']))
  const points: RewindPoint[] = []
  const changed = new Set<string>()
  for (const row of rows.reverse()) {
    const snapshot = snapshotOf(row)
    if (snapshot) changed.add(snapshot.path)
    if (!isPrompt(row)) continue
    const { sequence, createdAt: at } = row
    points.push({ sequence, prompt: promptOf(row), at, files: [...changed].reverse() })
  }
  return points
}

export interface Rewound {
  readonly prompt: string
  readonly problems: readonly string[]
}

export function rewind(session: Session, to: RewindPoint, what: 'conversation' | 'files' | 'both'): Rewound {
  const since = liveEntriesFrom(session.db, session.id, to.sequence, ['file_history_snapshot'])
  const snapshots = Array.from(since, (row) => snapshotOf(row)!)
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
