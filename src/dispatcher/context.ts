/** What a module is given: one context, made for it, in which nothing but `files` and `log` can change anything. */
import { join, resolve } from 'node:path'
import { neo4jFromState } from './capability.ts'
import { addLine, elapsed, logLine, type Run, warn } from './run.ts'
import { makeFolder, replaceFile } from './session/files.ts'
import { isBelow } from './session/paths.ts'
import type { Context, Json, SessionFiles } from './types.ts'

export function contextFor(run: Run, module: string): Context {
  const { session, manifest } = run
  const { paths, state } = session
  const own = run.config[module]
  deepFreeze(session.event.toolInput)
  return {
    ids: session.ids,
    event: Object.freeze(session.event),
    paths,
    state: deepFreeze(state),
    isNewSession: session.isNew,
    config: deepFreeze((own ?? {}) as Json),
    feature: { root: paths.featureRoot(module), logs: paths.featureLogs(module), output: paths.featureOutput(module) },
    cap: { neo4j: neo4jFromState(state) },
    timers: { startMs: run.startMs, budgetMs: run.budgetMs, elapsed: () => elapsed(run) },
    manifest: { enforcePhases: manifest.enforcePhases },
    pendingEvents: run.events,
    files: filesFor(run),
    log: (level, message, data) => logLine(run, module, level, message, data),
  }
}

function filesFor(run: Run): SessionFiles {
  const { sessionRoot } = run.session.paths
  const inside = (path: string) => {
    const file = resolve(sessionRoot, path)
    return file !== sessionRoot && isBelow(sessionRoot, file) ? file : undefined
  }
  return {
    append(path, record) {
      const file = inside(path)
      if (file) addLine(run, file, record)
      else warn(run, 'dispatcher', `${path} lies outside the session; nothing is written there`)
    },
    replace(path, text) {
      const file = inside(path)
      return file !== undefined && makeFolder(join(file, '..')) && replaceFile(file, text)
    },
    folder(path) {
      const file = inside(path)
      return file !== undefined && makeFolder(file)
    },
  }
}

/** Modules see these, they do not hold them. Past `left` objects the rest of a giant stays open. */
function deepFreeze<T>(value: T, left = { objects: 20_000 }): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || left.objects-- <= 0) return value
  Object.freeze(value)
  for (const item of Object.values(value)) deepFreeze(item, left)
  return value
}
