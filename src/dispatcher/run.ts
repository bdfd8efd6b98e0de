/** One event as it goes: what has been decided so far, and what is to be written down. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe } from '../hooks/kernel.ts'
import { clock } from './lazy-builtins.ts'
import type { Manifest } from './manifest.ts'
import { isBelow } from './session/paths.ts'
import { refreshIds, type Session } from './session/session.ts'
import { applyPatch, arraysIn, changes } from './session/state.ts'
import type { ContextItem, Decision, EventRecord, Json, LoggedEvent, LogLevel } from './types.ts'

export interface Run {
  readonly session: Session
  readonly manifest: Manifest
  readonly config: Json
  readonly budgetMs: number
  readonly startMs: number
  decision: Decision
  reason: string
  decidedBy: string
  /** Whether a module said "allow" in so many words. */
  approved: boolean
  inputMetadata: Json
  updatedInput: Json | undefined
  block: string | undefined
  stop: string | undefined
  budgetExceeded: boolean
  /** The host said something that could not be read: if it was a call, no guard has seen it. */
  unseen: boolean
  /** Critical modules still to be heard: if the process ends early, that must not pass for their consent. */
  readonly awaited: Set<string>
  /** Makes the module that is being waited for fail; set while one is. */
  crash: ((cause: Error) => void) | undefined
  readonly context: ContextItem[]
  readonly warnings: string[]
  readonly ran: string[]
  readonly events: LoggedEvent[]
  /** Lines for files other than the event log, by path. */
  readonly lines: Map<string, string[]>
}

export function startRun(session: Session, manifest: Manifest, config: Json): Run {
  return {
    session,
    manifest,
    config,
    budgetMs: manifest.budgets[session.event.name],
    startMs: clock(),
    decision: 'allow',
    reason: '',
    decidedBy: 'dispatcher',
    approved: false,
    inputMetadata: {},
    updatedInput: undefined,
    block: undefined,
    stop: undefined,
    budgetExceeded: false,
    unseen: false,
    awaited: new Set(),
    crash: undefined,
    context: [],
    warnings: [],
    ran: [],
    events: [],
    lines: new Map(),
  }
}

/** Kinds that only the dispatcher may write: the state and the decisions are read back from them. */
const ownKinds = new Set(['STATE_PATCH', 'TOOL_DECISION'])

export function emit(run: Run, producer: string, record: EventRecord): void {
  const { ids, event } = run.session
  if (producer !== 'dispatcher' && ownKinds.has(record.kind)) {
    warn(run, producer, `${record.kind} is the dispatcher's own; the event is left out`)
    return
  }
  const { hookRunId, turnId, workId } = ids
  run.events.push({ ...record, ts: Date.now(), event: event.name, producer, hookRunId, turnId, workId })
}

/** A line in the debug log of a feature. */
export function logLine(run: Run, module: string, level: LogLevel, message: string, data?: unknown): void {
  const { paths, ids } = run.session
  const file = join(paths.featureLogs(module), 'debug.log')
  const line = { ts: Date.now(), level, message, hookRunId: ids.hookRunId }
  try {
    addLine(run, file, data === undefined ? line : { ...line, data })
  } catch {
    addLine(run, file, { ...line, data: describe(data) }) // a cycle or a BigInt: logging must not fail a module
  }
}

export function warn(run: Run, producer: string, text: string): void {
  run.warnings.push(text)
  if (producer !== 'dispatcher') logLine(run, producer, 'warn', text.slice(0, 1000))
  emit(run, producer, { kind: 'WARNING', reason: text.slice(0, 1000) })
}

export function patchState(run: Run, producer: string, patch: Json): void {
  for (const path of arraysIn(patch)) warn(run, producer, `state.${path} is an array; state holds none, it is left out`)
  const { session } = run
  if (!changes(session.state, patch)) return
  const { hookRunId, turnId, workId } = session.ids
  const event = session.event.name
  run.events.push({ ts: Date.now(), event, producer, kind: 'STATE_PATCH', hookRunId, turnId, workId, data: { patch } })
  session.state = applyPatch(session.state, patch, workId)
  refreshIds(session)
}

export function register(run: Run, producer: string, artifact: Json): void {
  const { paths, ids } = run.session
  const ref = String(artifact['ref'])
  const file = resolve(paths.sessionRoot, ref)
  if (ref.split(/[\\/]/).includes('..') || !isBelow(paths.sessionRoot, file) || !existsSync(file)) {
    warn(run, producer, `artifact ${ref.slice(0, 200)} is not a file of this session; it is not registered`)
    return
  }
  addLine(run, paths.registryFile, { ...artifact, ts: Date.now(), producer, workId: ids.workId })
}

export function addLine(run: Run, file: string, record: Json): void {
  const line = JSON.stringify(record)
  const lines = run.lines.get(file)
  if (lines) lines.push(line)
  else run.lines.set(file, [line])
}

export const elapsed = (run: Run): number => clock() - run.startMs
