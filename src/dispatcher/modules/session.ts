/** session: whose session this is, which turn and which phase, and the record of what was asked and done. */

import { sha256 } from '../lazy-builtins.ts'
import { neo4jCapability } from '../neo4j-cap.ts'
import { patternFault, patternMatches } from '../rules/pattern.ts'
import { findPlan } from '../rules/plan-file.ts'
import { isFinished } from '../rules/plan-graph.ts'
import { workNumber } from '../session/phase.ts'
import { type Context, type EventName, eventNames, type HookAction, type HookModule, type Json } from '../types.ts'
import { phaseStep, sessionInit, settled, stamps } from './session-tool.ts'

export const hook: HookModule = {
  name: 'session',
  supports: new Set<EventName>(eventNames),
  priority: 0,
  hotPathSafe: true,
  critical: true,
  handle(eventName, ctx) {
    const began = ctx.isNewSession && eventName !== 'SessionStart' ? [sessionInit(ctx)] : []
    const answer = answers[eventName](ctx)
    if (began.length === 0) return answer
    const add = (action: HookAction): HookAction => ({
      ...action,
      emitEvents: [...began, ...(action.emitEvents ?? [])],
    })
    return answer instanceof Promise ? answer.then(add) : add(answer)
  },
  settled,
}

const answers: Record<EventName, (ctx: Context) => HookAction | Promise<HookAction>> = {
  async SessionStart(ctx) {
    const { ids, state, paths } = ctx
    const neo4j = await neo4jCapability(ctx)
    const value = `session ${ids.sessionId}, work ${ids.workId}; files of this session go to ${paths.repoRelative(paths.sessionRoot)}`
    return {
      additionalContext: [{ key: 'hook-session-info', value }],
      emitEvents: [
        ctx.isNewSession
          ? sessionInit(ctx)
          : { kind: 'SESSION_RESUME', phase: state.core.phase, data: { sessionId: ids.sessionId, workId: ids.workId } },
      ],
      statePatch: { cap: { neo4j } },
    }
  },

  UserPromptSubmit(ctx) {
    const { event, ids } = ctx
    const began = newWork(ctx) ?? phaseOnPrompt(ctx)
    const pattern = ctx.config['newWorkPattern']
    const fault = typeof pattern === 'string' ? patternFault(pattern, 'text') : undefined
    const prompt = event.prompt ?? ''
    const hash = prompt === '' ? '' : sha256(prompt, 16)
    const isHuman = event.transcript_path !== undefined
    const audit = ctx.config['promptAudit']
    if (prompt !== '' && audit !== 'off') {
      const { turnId, workId } = ids
      const line = { ts: Date.now(), turnId, workId, isHuman, hash, charCount: prompt.length }
      ctx.files.append(ctx.paths.promptsFile, audit === 'raw' ? { ...line, text: prompt } : line)
    }
    return {
      ...began,
      ...(fault !== undefined && { warnings: [...(began?.warnings ?? []), `newWorkPattern: ${fault}`] }),
      emitEvents: [
        { kind: 'TURN_INCREMENT', data: { previousTurn: ids.turnId - 1 } },
        ...(prompt === ''
          ? []
          : [{ kind: 'PROMPT_AUDIT', data: { promptHash: hash, isHuman, charCount: prompt.length } }]),
        ...(began?.emitEvents ?? []),
      ],
    }
  },

  PreToolUse: stamps,

  async PostToolUse(ctx) {
    const { event } = ctx
    const capability = await capabilityPatch(ctx)
    const errorSummary = toolFailure(ctx)
    const data: Json = { success: errorSummary === undefined, touchedPaths: event.paths.slice(0, 50) }
    if (errorSummary !== undefined) data['errorSummary'] = errorSummary.slice(0, 200)
    if (event.toolUseId !== undefined) data['toolUseId'] = event.toolUseId.slice(0, 200)
    return {
      ...capability,
      emitEvents: [{ kind: 'TOOL_OUTCOME', ...(event.toolName && { toolName: event.toolName }), data }],
    }
  },

  PreCompact({ ids, state }) {
    const { sessionId, workId, turnId } = ids
    const value = `session ${sessionId}, work ${workId}, turn ${turnId}, phase ${state.core.phase}`
    return {
      additionalContext: [{ key: 'hook-session-compact', value }],
      emitEvents: [
        {
          kind: 'COMPACT_SNAPSHOT',
          phase: state.core.phase,
          data: { sessionId, workId, turnId, phase: state.core.phase, ts: Date.now() },
        },
      ],
    }
  },

  async Stop(ctx) {
    const { ids, state } = ctx
    const capability = await capabilityPatch(ctx)
    const plan = findPlan(ctx, 'planGraph.json')
    const accepted = plan?.check.ok && state.plan?.status === 'accepted' ? plan.check.plan : undefined
    const complete = accepted ? isFinished(accepted) : ctx.config['completeOnStop'] === true
    const open = state.core.phase === 'PLANNING' || state.core.phase === 'EXECUTING'
    const step =
      complete && open ? phaseStep(ctx, 'COMPLETE', accepted ? 'plan finished' : 'stop without a plan') : undefined
    const finalPhase = step ? 'COMPLETE' : state.core.phase
    return {
      ...step,
      ...(capability && { statePatch: { ...step?.statePatch, ...capability.statePatch } }),
      emitEvents: [
        ...(step?.emitEvents ?? []),
        {
          kind: 'SESSION_STOP',
          phase: finalPhase,
          data: { sessionId: ids.sessionId, finalPhase, finalTurn: ids.turnId },
        },
      ],
    }
  },

  SubagentStart: () => ({}), // the dispatcher has given the subagent its number before any module is asked
  SubagentStop: () => ({}),
}

/** The capability, where it was asked for again; an answer of the last five minutes stands. */
async function capabilityPatch(ctx: Context): Promise<{ statePatch: Json } | undefined> {
  const neo4j = await neo4jCapability(ctx)
  return neo4j.lastCheckTs === ctx.state.cap?.neo4j?.lastCheckTs ? undefined : { statePatch: { cap: { neo4j } } }
}

/** Why a tool failed, if it did. VS Code tells only of successes, but a tool may say "Error: …" in its result. */
export function toolFailure({ event }: Context): string | undefined {
  if (event.toolError !== undefined) return event.toolError
  const output = event.toolOutput
  const text = typeof output === 'string' ? output : undefined
  return text !== undefined && /^(?:ERROR|Error:)/.test(text) ? text : undefined
}

function phaseOnPrompt(ctx: Context): HookAction | undefined {
  const { phase, prevPhase } = ctx.state.core
  if (phase === 'UNINITIALIZED') return phaseStep(ctx, 'PLANNING', 'first prompt')
  if (phase === 'BLOCKED' && ctx.config['promptUnblocks'] !== false)
    return phaseStep(ctx, prevPhase === 'UNINITIALIZED' ? 'PLANNING' : (prevPhase ?? 'PLANNING'), 'prompt', {
      core: { prevPhase: null },
    })
  return undefined
}

/** The next work unit begins after a finished one, or when the prompt says so. */
function newWork(ctx: Context): HookAction | undefined {
  const { ids, state, config, event } = ctx
  const pattern = config['newWorkPattern']
  const asked = typeof pattern === 'string' && pattern !== '' && patternMatches(pattern, event.prompt ?? '', 'text')
  const finished = state.core.phase === 'COMPLETE'
  if (!finished && !asked) return undefined
  if (workNumber(ids.workId) >= 999) return { warnings: ['work unit w999 is the last one; start a new session'] }
  const to = `w${String(workNumber(ids.workId) + 1).padStart(3, '0')}`
  const step = phaseStep(ctx, 'PLANNING', 'new work', {
    core: { workId: to },
    plan: { currentPath: null, mtime: null, size: null, hash: null, status: 'none' },
  })
  const reason = finished ? 'the last work unit is complete' : 'the prompt asks for it'
  return {
    ...step,
    emitEvents: [{ kind: 'WORK_ROTATED', data: { from: ids.workId, to, reason } }, ...step.emitEvents!],
  }
}
