/** plan-subagent-contract: tells a planning subagent what to hand in, and takes it in or sends it back. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sha256 } from '../lazy-builtins.ts'
import { fileNameFrom, readPlan } from '../rules/plan-file.ts'
import { problemText } from '../rules/plan-graph.ts'
import { readText } from '../session/files.ts'
import { isBelow, isObject } from '../session/paths.ts'
import type { ArtifactRecord, Context, EventName, EventRecord, HookAction, HookModule, Json } from '../types.ts'

export const hook: HookModule = {
  name: 'plan-subagent-contract',
  supports: new Set<EventName>(['SubagentStart', 'SubagentStop']),
  priority: 30,
  hotPathSafe: false,
  critical: false,
  handle(eventName, ctx): HookAction | undefined {
    if (!isPlanner(ctx)) return undefined
    return eventName === 'SubagentStart' ? tell(ctx) : harvest(ctx)
  },
}

function isPlanner({ config, event }: Context): boolean {
  const given = config['planAgentTypes']
  const types = Array.isArray(given) ? given.filter((type) => typeof type === 'string') : ['Plan', 'Planner']
  return types.some((type) => type.toLowerCase() === (event.subagentType ?? '').toLowerCase())
}

const outputRoot = ({ feature, config, ids }: Context): string =>
  join(
    feature.output,
    fileNameFrom(config, 'subagentDir', 'sa'),
    fileNameFrom(config, 'agentTypeDir', 'Plan'),
    ids.agentId,
  )

function tell(ctx: Context): HookAction {
  const { paths, ids, event, cap } = ctx
  const root = outputRoot(ctx)
  const made = ctx.files.folder(root)
  const at = paths.repoRelative(root)
  const required = requiredOutputs(ctx)
  const value = [
    `Session ${ids.sessionId}, work ${ids.workId}, agent ${ids.agentId}.`,
    `Write your plan to ${at}/planGraph.json: {"version":1,"workId":"${ids.workId}","goal":"…","nodes":[…]}.`,
    'Every node: id, description, and tool or tools ("*" for any). Optional: scope (globs from the repository root), ' +
      'dependencies, kind (change, validate, explore, side_effect, escalate), validates, status, reason, acceptance.',
    'A validate node lists what it validates; a forbidden node gives its reason; dependencies must not go round.',
    `You may add ${at}/manifest.json: {"version":1,"agentId":"${ids.agentId}","summary":"…","outputs":[{"path":"…","kind":"…"}]}.`,
    `The graph database is ${cap.neo4j.reachable ? 'reachable' : 'not available'}.`,
  ].join(' ')
  return {
    additionalContext: [{ key: 'plan-subagent-contract', value }],
    warnings: made ? [] : [`${at} could not be made; the plan has nowhere to go`],
    emitEvents: [
      {
        kind: 'SUBAGENT_INJECT',
        data: {
          agentType: event.subagentType,
          agentId: ids.agentId,
          outputRoot: at,
          _hookSessionId: ids.sessionId,
          _hookWorkId: ids.workId,
          _hookAgentId: ids.agentId,
          _hookOutputRoot: at,
          _hookRequiredOutputs: required,
          _hookSchemaDir: paths.repoRelative(paths.schemaDir),
          _hookNeo4jCapability: cap.neo4j,
        },
      },
    ],
  }
}

const requiredOutputs = ({ config }: Context): string[] => {
  const given = config['requiredOutputs']
  return Array.isArray(given) ? given.filter((name) => typeof name === 'string') : ['planGraph.json']
}

function harvest(ctx: Context): HookAction {
  const root = outputRoot(ctx)
  const file = join(root, 'planGraph.json')
  const plan = readPlan(ctx, file)
  const { agentId } = ctx.ids
  if (!plan) {
    const reason = `the planning subagent left no ${ctx.paths.repoRelative(file)}`
    return refuse(ctx, reason, {
      kind: 'PLAN_GRAPH_MISSING',
      reason,
      data: { agentId, expectedPath: ctx.paths.repoRelative(file) },
    })
  }
  if (!plan.check.ok) {
    const { problems } = plan.check
    const reason = `the plan is rejected: ${problemText(problems)}`
    const event = { kind: 'PLAN_GRAPH_DENY', reason, data: { agentId, path: plan.ref, hash: plan.hash, problems } }
    return refuse(ctx, reason, event, plan.pointer)
  }
  const { nodes } = plan.check.plan
  const notes = manifest(ctx, root)
  const lacking = requiredOutputs(ctx).filter((name) => !existsSync(resolve(root, name)))
  const phase = step(ctx, 'EXECUTING')
  return {
    warnings: [...notes.warnings, ...lacking.map((name) => `the planning subagent left no ${name}`)],
    statePatch: { plan: plan.pointer, ...(phase.length > 0 && { core: { phase: 'EXECUTING', prevPhase: null } }) },
    registerArtifacts: [
      { kind: 'plan_graph', ref: plan.ref, hash: plan.hash, tags: nodes.slice(0, 20).map((node) => node.id), agentId },
      ...notes.artifacts,
    ],
    emitEvents: [
      { kind: 'SUBAGENT_HARVEST', data: { agentId, artifact: plan.ref, nodeCount: nodes.length, hash: plan.hash } },
      ...notes.events,
      ...phase,
    ],
  }
}

function refuse(ctx: Context, reason: string, event: EventRecord, pointer: Json = { status: 'rejected' }): HookAction {
  const phase = step(ctx, 'BLOCKED')
  const retry = ctx.config['retryInvalidPlan'] !== false && ctx.event.stopHookActive !== true
  return {
    warnings: [reason],
    ...(retry && { block: { reason } }),
    statePatch: {
      plan: pointer,
      ...(phase.length > 0 && { core: { phase: 'BLOCKED', prevPhase: ctx.state.core.phase } }),
    },
    emitEvents: [event, ...phase],
  }
}

/** The change of phase a plan brings, if it brings one. */
function step({ state }: Context, to: 'EXECUTING' | 'BLOCKED'): EventRecord[] {
  const { phase } = state.core
  const moves =
    to === 'BLOCKED'
      ? phase !== 'BLOCKED' && phase !== 'COMPLETE'
      : phase === 'PLANNING' || phase === 'UNINITIALIZED' || (phase === 'BLOCKED' && state.plan?.status === 'rejected')
  const trigger = to === 'BLOCKED' ? 'plan rejected' : 'plan accepted'
  return moves ? [{ kind: 'PHASE_TRANSITION', phase: to, data: { from: phase, to, trigger } }] : []
}

interface Notes {
  readonly warnings: string[]
  readonly artifacts: ArtifactRecord[]
  readonly events: EventRecord[]
}

/** manifest.json lists what else the subagent made; each file must be there, below its own folder. */
function manifest(ctx: Context, root: string): Notes {
  const nothing: Notes = { warnings: [], artifacts: [], events: [] }
  const file = join(root, 'manifest.json')
  const read = readText(file)
  if (!read.ok) return read.missing ? nothing : { ...nothing, warnings: [`manifest.json: ${read.why}`] }
  let value: unknown
  try {
    value = JSON.parse(read.text)
  } catch (cause) {
    return { ...nothing, warnings: [`manifest.json is not JSON: ${(cause as Error).message}`] }
  }
  const outputs = isObject(value) && Array.isArray(value['outputs']) ? value['outputs'] : undefined
  if (!isObject(value) || (value['version'] !== undefined && value['version'] !== 1) || !outputs)
    return { ...nothing, warnings: ['manifest.json must be {"version":1,"outputs":[{"path","kind"}]}'] }
  const warnings = outputs.flatMap((output, index) => {
    const path = isObject(output) ? output['path'] : undefined
    const there = typeof path === 'string' && isBelow(root, resolve(root, path)) && existsSync(resolve(root, path))
    return there ? [] : [`manifest.json: outputs[${index}].path is not a file of this subagent`]
  })
  const { agentId } = ctx.ids
  const ref = ctx.paths.relRef(file)
  return {
    warnings,
    artifacts: [{ kind: 'plan_manifest', ref, hash: sha256(read.text, 16), agentId }],
    events: [{ kind: 'SUBAGENT_HARVEST', data: { agentId, artifact: ref, outputCount: outputs.length } }],
  }
}
