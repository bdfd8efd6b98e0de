/**
 * state.json is a snapshot of what the log says. Each change to the state is a STATE_PATCH line in events.jsonl, and
 * `core.lastEventOffset` tells how much of the log a snapshot has taken in, so reading is: the snapshot, then
 * the lines after it. A snapshot that is lost, broken or overtaken by another process costs nothing but time.
 */

import type { Json, Phase, State } from '../types.ts'
import { linesWith, readFrom, type readJson } from './files.ts'
import { isObject } from './paths.ts'
import { isPhase, isWorkId, laterPhase, workNumber } from './phase.ts'

export interface Loaded {
  readonly state: State
  /** No snapshot and no log: nobody has written in this session yet. */
  readonly isNew: boolean
  /** How much of the log lies after the snapshot on disk. */
  readonly unseenBytes: number
  readonly problem?: string
}

export const emptyState = (sessionId: string): State => ({
  core: { sessionId, workId: 'w001', lastTurnId: 0, phase: 'UNINITIALIZED' },
})

/** `file`: state.json as it was read. */
export function loadState(file: ReturnType<typeof readJson>, eventsFile: string, sessionId: string): Loaded {
  const { value, problem } = file
  const usable = isState(value, sessionId)
  const snapshot = usable ? (value as State) : emptyState(sessionId)
  const state = catchUp(snapshot, eventsFile)
  const unseenBytes = Math.abs((state.core.lastEventOffset ?? 0) - (snapshot.core.lastEventOffset ?? 0))
  const isNew = value === undefined && problem === undefined && (state.core.lastEventOffset ?? 0) === 0
  if (usable || isNew) return { state, isNew, unseenBytes }
  return { state, isNew, unseenBytes, problem: `${problem ?? 'not a state of this session'}; rebuilt from the log` }
}

const isState = (value: unknown, sessionId: string): boolean =>
  isObject(value) &&
  isObject(value['core']) &&
  value['core']['sessionId'] === sessionId &&
  isWorkId(value['core']['workId']) &&
  isPhase(value['core']['phase']) &&
  isCount(value['core']['lastTurnId'])

/** The state with every whole line of the log that it has not yet seen. */
export function catchUp(state: State, eventsFile: string): State {
  const { bytes, from } = readFrom(eventsFile, state.core.lastEventOffset ?? 0)
  const whole = bytes.lastIndexOf(10) + 1
  if (whole === 0) return state
  let caughtUp = state
  for (const record of linesWith(bytes.subarray(0, whole), '"kind":"STATE_PATCH"')) {
    const data = record['data']
    if (record['kind'] !== 'STATE_PATCH' || !isObject(data) || !isObject(data['patch'])) continue
    caughtUp = applyPatch(caughtUp, data['patch'], isWorkId(record['workId']) ? record['workId'] : undefined)
  }
  return { ...caughtUp, core: { ...caughtUp.core, lastEventOffset: from + whole } }
}

/** Takes a patch in by the rule of each field. `workId`: the work unit its author was in. */
export function applyPatch(state: State, patch: Json, workId = state.core.workId): State {
  const { core, ...rest } = patch
  const patched = mergePatch(state, rest) as unknown as State
  const cap = keepLatest(state.cap?.neo4j?.lastCheckTs, patched)
  return { ...cap, core: isObject(core) ? patchCore(state, core, workId) : state.core }
}

function patchCore(state: State, patch: Json, authorsWork: string): State['core'] {
  const now = state.core
  const { sessionId: _, workId, phase, prevPhase, lastTurnId, lastEventOffset: __, ...others } = patch
  const at = laterPhase(
    now,
    {
      workId: isWorkId(workId) ? workId : authorsWork,
      phase: isPhase(phase)
        ? phase
        : isWorkId(workId) && workNumber(workId) > workNumber(now.workId)
          ? 'PLANNING'
          : now.phase,
      ...(isPhase(prevPhase) && { prevPhase }),
    },
    prevPhase === null,
  )
  const merged = mergePatch(now, others) as unknown as State['core']
  const next = {
    ...merged,
    workId: at.workId,
    phase: at.phase,
    lastTurnId: Math.max(now.lastTurnId, isCount(lastTurnId) ? lastTurnId : 0),
    ...(at.phase === 'BLOCKED' && at.prevPhase && { prevPhase: at.prevPhase }),
    ...(now.hostSessionId !== undefined && { hostSessionId: now.hostSessionId }),
    ...(now.createdTs !== undefined && { createdTs: now.createdTs }),
    ...(now.lastEventOffset !== undefined && { lastEventOffset: now.lastEventOffset }),
  }
  if (at.phase !== 'BLOCKED') delete (next as { prevPhase?: Phase }).prevPhase
  return next
}

/** A capability's time of checking never goes back. */
function keepLatest(before: number | undefined, state: State): State {
  const neo4j = state.cap?.neo4j
  if (before === undefined || !neo4j || neo4j.lastCheckTs! >= before) return state
  return { ...state, cap: { ...state.cap, neo4j: { ...neo4j, lastCheckTs: before } } }
}

/** RFC 7396, except that arrays are left out (no two writers could both add to one). */
function mergePatch(target: unknown, patch: Json): Json {
  const merged: Json = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (key === '__proto__' || key === 'constructor' || key === 'prototype') continue
    if (value === null) delete merged[key]
    else if (isObject(value)) merged[key] = mergePatch(merged[key], value)
    else if (!Array.isArray(value) && value !== undefined) merged[key] = value
  }
  return merged
}

/** Where in a patch arrays stand; they are not taken in. */
export function arraysIn(patch: Json, path = ''): string[] {
  return Object.entries(patch).flatMap(([key, value]) =>
    Array.isArray(value) ? [`${path}${key}`] : isObject(value) ? arraysIn(value, `${path}${key}.`) : [],
  )
}

/** Whether the patch would change anything: a patch that says what is already so is not worth a line. */
export const changes = (state: State, patch: Json): boolean => {
  const next = applyPatch(state, patch)
  return JSON.stringify(next) !== JSON.stringify(state)
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
