/** session on PreToolUse: the stamps a call gets, and what follows from what was decided on it. */

import { mutatingTools, namesTool } from '../host/tools.ts'
import { linesWith, readFrom } from '../session/files.ts'
import type { Context, EventRecord, HookAction, HookModule, Json, Outcome, Phase } from '../types.ts'

/** All of session that a call needs: what the hot path loads. */
export const toolHook: HookModule = {
  name: 'session',
  supports: new Set(['PreToolUse'] as const),
  priority: 0,
  hotPathSafe: true,
  critical: true,
  handle: (_eventName, ctx) => (ctx.isNewSession ? { ...stamps(ctx), emitEvents: [sessionInit(ctx)] } : stamps(ctx)),
  settled,
}

export function stamps(ctx: Context): HookAction {
  const { ids, paths } = ctx
  return {
    decision: 'allow',
    inputMetadata: {
      _hookSessionId: ids.sessionId,
      _hookWorkId: ids.workId,
      _hookTurnId: ids.turnId,
      _hookArtifactRoot: paths.repoRelative(paths.sessionRoot),
    },
  }
}

export const sessionInit = ({ ids }: Context): EventRecord => ({
  kind: 'SESSION_INIT',
  phase: 'UNINITIALIZED',
  data: { sessionId: ids.sessionId, workId: ids.workId },
})

export function phaseStep(ctx: Context, to: Phase, trigger: string, more: Json = {}): HookAction {
  const from = ctx.state.core.phase
  return {
    statePatch: { ...more, core: { phase: to, ...((more['core'] as Json | undefined) ?? {}) } },
    emitEvents: [{ kind: 'PHASE_TRANSITION', phase: to, data: { from, to, trigger } }],
  }
}

export function settled(ctx: Context, { decision, decidedBy }: Outcome): HookAction | undefined {
  const { state, event, config } = ctx
  if (decision === 'allow') {
    const implicit =
      state.core.phase === 'PLANNING' && !ctx.manifest.enforcePhases && config['implicitExecuting'] !== false
    if (!implicit || state.plan?.status === 'accepted' || !isMutating(ctx)) return undefined
    return phaseStep(ctx, 'EXECUTING', `first change: ${event.tool}`)
  }
  const given = config['blockAfterDenies']
  const limit = typeof given === 'number' ? given : 1
  const { phase } = state.core
  // what a phase does not allow is no violation of a policy: the phase has done its work
  if (decision !== 'deny' || decidedBy === 'phase-policy' || limit <= 0) return undefined
  if (phase === 'COMPLETE' || phase === 'BLOCKED') return undefined
  if (limit > 1 && deniesThisTurn(ctx) + 1 < limit) return undefined
  const trigger = limit > 1 ? `${limit} denials in one turn` : 'policy violation'
  return phaseStep(ctx, 'BLOCKED', trigger, { core: { prevPhase: phase } })
}

function isMutating({ config, event }: Context): boolean {
  const given = config['mutatingTools']
  const tools = Array.isArray(given) ? given.filter((tool) => typeof tool === 'string') : mutatingTools
  return tools.some((tool) => namesTool(tool, event))
}

function deniesThisTurn({ paths, ids }: Context): number {
  let denies = 0
  const { bytes } = readFrom(paths.eventsFile, 0, 256 * 1024)
  for (const record of linesWith(bytes, '"kind":"TOOL_DECISION"'))
    if (record['turnId'] === ids.turnId && record['workId'] === ids.workId && record['decision'] === 'deny') denies++
  return denies
}
