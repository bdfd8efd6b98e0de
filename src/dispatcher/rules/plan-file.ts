/** Finds the plan in force: where the state points, else where planGraph-exec keeps it. */
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sha256 } from '../lazy-builtins.ts'
import { readText } from '../session/files.ts'
import { isBelow, isSegment } from '../session/paths.ts'
import type { Context, Json } from '../types.ts'
import { checkPlan, type PlanCheck, planLimitBytes } from './plan-graph.ts'

export interface PlanFile {
  /** From the session's root. */
  readonly ref: string
  readonly check: PlanCheck
  readonly hash: string
  /** The state does not yet know this plan. */
  readonly isNews: boolean
  /** What the state is to say of it. */
  readonly pointer: Json
}

export const fileNameFrom = (config: Json, key: string, fallback: string): string => {
  const given = config[key]
  return isSegment(given) ? given : fallback
}

/** `planFile`: the name under planGraph-exec's output folder. */
export function findPlan(ctx: Context, planFile: string): PlanFile | undefined {
  const { paths, state } = ctx
  const pointed = state.plan?.currentPath
  const candidates = [
    ...(pointed === undefined ? [] : [resolve(paths.sessionRoot, pointed)]),
    join(paths.featureOutput('planGraph-exec'), planFile),
  ]
  for (const file of candidates) {
    if (!isBelow(paths.sessionRoot, file)) continue
    const plan = readPlan(ctx, file)
    if (plan) return plan
  }
  return undefined
}

/** Undefined when there is no such file. */
export function readPlan(ctx: Context, file: string): PlanFile | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (!stat?.isFile()) return undefined
  const mtime = Math.round(stat.mtimeMs)
  const { size } = stat
  const ref = ctx.paths.relRef(file)
  const read = size > planLimitBytes ? undefined : readText(file)
  const text = read?.ok ? read.text : ''
  const check: PlanCheck =
    read && !read.ok
      ? { ok: false, problems: [{ code: 'PG_UNREADABLE', message: read.why }] }
      : read
        ? checkPlan(text, ctx.ids.workId)
        : { ok: false, problems: [{ code: 'PG_TOO_LARGE', message: 'the plan is over 1 MiB' }] }
  const known = ctx.state.plan
  const status = check.ok ? 'accepted' : 'rejected'
  // Hashing loads node:crypto; a file that still looks as it did when it was hashed is not hashed again.
  const same = known?.currentPath === ref && known.mtime === mtime && known.size === size && known.hash !== undefined
  const hash = same ? known.hash! : sha256(text, 16)
  const isNews = known?.hash !== hash || known.status !== status
  return { ref, check, hash, isNews, pointer: { currentPath: ref, mtime, size, hash, status } }
}
