/** Opens the session an event belongs to: its folder, its state, and the ids of this run. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { toHostEvent } from '../host/host-input.ts'
import { sha256 } from '../lazy-builtins.ts'
import type { EventName, HostEvent, Ids, Json, LoggedEvent, Paths, State, Subagent } from '../types.ts'
import { appendLines, readJson } from './files.ts'
import { alone } from './lock.ts'
import { buildPaths, type Workspace } from './paths.ts'
import { sessionIdFor } from './session-id.ts'
import { applyPatch, catchUp, loadState } from './state.ts'

export interface Session {
  readonly event: HostEvent
  readonly paths: Paths
  readonly isNew: boolean
  /** As it was read; the snapshot at the end is this plus the log since. */
  readonly snapshot: State
  /** With everything this run's modules have asked for so far. */
  state: State
  ids: Ids
  /** How much of the log lies after the snapshot on disk. */
  readonly unseenBytes: number
  readonly problems: readonly string[]
}

export const lockFileOf = (paths: Paths): string => join(paths.sessionRoot, 'state.lock')

export function openSession(name: EventName, raw: Json, hooksRoot: string, workspace: Workspace, now: number): Session {
  const outside = buildPaths(hooksRoot, workspace, '')
  const event = toHostEvent(name, raw, outside.repoRoot)
  const read: Record<string, ReturnType<typeof readJson>> = {}
  const stateOf = (sid: string) => (read[sid] ??= readJson(join(outside.workRoot, sid, workspace.names.stateFile)))
  const { eventsFile } = workspace.names
  const sessionId = sessionIdFor(event.hostSessionId, outside.workRoot, eventsFile, now, (sid) => stateOf(sid).value)
  const paths = buildPaths(hooksRoot, workspace, sessionId)
  const { state, isNew, unseenBytes, problem } = loadState(stateOf(sessionId), paths.eventsFile, sessionId)
  const problems = problem === undefined ? [] : [`state.json: ${problem}`]
  if (isNew) {
    try {
      mkdirSync(paths.sessionRoot, { recursive: true })
    } catch {} // read-only: the event is decided all the same, and nothing is kept
  }
  const ids = idsOf(name, state, 'u00', now)
  const session: Session = { event, paths, isNew, snapshot: state, state, ids, unseenBytes, problems }
  if (name === 'UserPromptSubmit') reserveTurn(session, now)
  if (name === 'SubagentStart' || name === 'SubagentStop') reserveAgent(session, now)
  return session
}

const idsOf = (name: EventName, { core }: State, agentId: string, now: number): Ids => ({
  sessionId: core.sessionId,
  workId: core.workId,
  agentId,
  turnId: core.lastTurnId,
  hookRunId: `${name}-${core.lastTurnId}-${now}`,
})

/** After a module moved the turn or the work on. */
export function refreshIds(session: Session): void {
  const { core } = session.state
  session.ids = { ...session.ids, workId: core.workId, turnId: core.lastTurnId }
}

/** Numbers are given out under the session's lock and written to the log at once: no two prompts get the same turn. */
function reserveTurn(session: Session, now: number): void {
  reserve(session, now, (state) => ({ core: { lastTurnId: state.core.lastTurnId + 1 } }))
  session.ids = idsOf(session.event.name, session.state, 'u00', now)
}

function reserveAgent(session: Session, now: number): void {
  const { subagentId = '', subagentType, name } = session.event
  const key = sha256(subagentId, 8)
  reserve(session, now, (state) => {
    const agents = state.agents ?? {}
    const known = agents[key]
    const aid = known?.aid ?? freeAgentId(agents)
    const stamp = name === 'SubagentStart' ? { startedTs: now, stoppedTs: null } : { stoppedTs: now }
    const reused = Object.keys(agents).find((other) => other !== key && agents[other]?.aid === aid)
    return {
      agents: {
        ...(reused && { [reused]: null }),
        [key]: { aid, ...(subagentType && { type: subagentType.slice(0, 100) }), ...stamp },
      },
    }
  })
  session.ids = idsOf(name, session.state, session.state.agents?.[key]?.aid ?? 'a01', now)
}

/** The lowest number not given out; after a99, that of the subagent which stopped first. */
function freeAgentId(agents: Readonly<Record<string, Subagent>>): string {
  const used = new Set(Object.values(agents).map((agent) => agent.aid))
  for (let n = 1; n <= 99; n++) {
    const aid = `a${String(n).padStart(2, '0')}`
    if (!used.has(aid)) return aid
  }
  const stopped = Object.values(agents).filter((agent) => agent.stoppedTs !== undefined)
  return stopped.sort((a, b) => a.stoppedTs! - b.stoppedTs!)[0]?.aid ?? 'a99'
}

function reserve(session: Session, now: number, patchFor: (state: State) => Json): void {
  const { paths, event } = session
  const take = () => {
    const state = catchUp(session.state, paths.eventsFile)
    const patch = patchFor(state)
    session.state = applyPatch(state, patch)
    appendLines(paths.eventsFile, [
      patchLine('dispatcher', event.name, patch, idsOf(event.name, state, 'u00', now), now),
    ])
  }
  if (!alone(lockFileOf(paths), 4000, take)) take() // better a number given twice than a prompt without one
}

function patchLine(producer: string, event: EventName, patch: Json, ids: Ids, ts: number): string {
  const { hookRunId, turnId, workId } = ids
  const record: LoggedEvent = { ts, event, producer, kind: 'STATE_PATCH', hookRunId, turnId, workId, data: { patch } }
  return JSON.stringify(record)
}
