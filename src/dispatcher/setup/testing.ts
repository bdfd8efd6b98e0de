/** A context to try a module with, without a host: everything a module may ask of it works, in a folder you choose. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { contextFor } from '../context.ts'
import { toHostEvent } from '../host/host-input.ts'
import { readManifest } from '../manifest.ts'
import { type Run, startRun } from '../run.ts'
import { buildPaths, readWorkspace } from '../session/paths.ts'
import { emptyState } from '../session/state.ts'
import type { Context, EventName, Json } from '../types.ts'

export interface TestInput {
  /** The module's name. */
  readonly module: string
  readonly event: EventName
  /** What the host would send, in its own spelling: `{ tool_name: 'read_file', tool_input: {…} }`. */
  readonly input?: Json
  /** The module's part of config.json. */
  readonly config?: Json
  /** On top of the state of a session that has just begun. */
  readonly state?: Json
}

export function testContext(repoRoot: string, input: TestInput): Context {
  return contextFor(testRun(repoRoot, input), input.module)
}

/** A run that has begun, with nothing asked yet. */
export function testRun(repoRoot: string, { module, event, input = {}, config = {}, state = {} }: TestInput): Run {
  const { workspace } = readWorkspace({})
  const paths = buildPaths(join(repoRoot, '.ai', 'hooks'), workspace, 'a3f0c812')
  mkdirSync(paths.sessionRoot, { recursive: true })
  const start = { ...emptyState('a3f0c812'), ...state }
  const ids = {
    sessionId: 'a3f0c812',
    workId: start.core.workId,
    agentId: 'u00',
    turnId: start.core.lastTurnId,
    hookRunId: `${event}-0-0`,
  }
  const session = {
    event: toHostEvent(event, input, repoRoot),
    paths,
    isNew: false,
    snapshot: start,
    state: start,
    ids,
    unseenBytes: 0,
    problems: [],
  }
  const { manifest } = readManifest({})
  return startRun(session, manifest, { [module]: config })
}
