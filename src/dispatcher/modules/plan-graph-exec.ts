/** planGraph-exec: holds a call to the accepted plan, and narrows searches to the plan's scope. */

import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { mutatingTools, searchKeys, textAt } from '../host/tools.ts'
import { isRepoWide } from '../rules/glob.ts'
import { fileNameFrom, findPlan } from '../rules/plan-file.ts'
import {
  inScope,
  isRefused,
  namesToolOf,
  nodeMatches,
  type PlanGraph,
  type PlanNode,
  patternInScope,
  problemText,
  scopeGlob,
  unmet,
} from '../rules/plan-graph.ts'
import { wordsIn } from '../rules/terminal.ts'
import { normalisePath } from '../session/paths.ts'
import type { Context, EventRecord, HookAction, HookModule, Json } from '../types.ts'

export const hook: HookModule = {
  name: 'planGraph-exec',
  supports: new Set(['PreToolUse'] as const),
  priority: 20,
  hotPathSafe: true,
  critical: false,
  handle(_eventName, ctx): HookAction | undefined {
    const { event, ids, state } = ctx
    if (event.tool === undefined) return undefined
    const found = findPlan(ctx, fileNameFrom(ctx.config, 'planGraphFile', 'planGraph.json'))
    if (!found) return state.plan?.warnedMissing === ids.workId ? { decision: 'allow' } : missing(ctx)
    const news = found.isNews ? { plan: found.pointer } : undefined
    if (!found.check.ok) {
      if (!news) return { decision: 'allow' }
      const reason = `the plan is rejected: ${problemText(found.check.problems)}`
      return {
        decision: 'allow',
        warnings: [reason],
        statePatch: { ...news, ...blocked(ctx) },
        emitEvents: [
          {
            kind: 'PLAN_GRAPH_DENY',
            reason,
            data: { path: found.ref, hash: found.hash, problems: found.check.problems },
          },
          ...transition(ctx, 'BLOCKED', blocked(ctx)),
        ],
      }
    }
    const accepted = news && acceptance(ctx)
    const action = judge(ctx, found.check.plan)
    return {
      ...action,
      ...(news && { statePatch: { ...news, ...accepted } }),
      emitEvents: [...(action.emitEvents ?? []), ...(accepted ? transition(ctx, 'EXECUTING', accepted) : [])],
    }
  },
}

function missing(ctx: Context): HookAction {
  const { workId } = ctx.ids
  return {
    decision: 'allow',
    warnings: [`no plan for work ${workId}; calls are not held to one`],
    statePatch: { plan: { warnedMissing: workId } },
    emitEvents: [{ kind: 'PLAN_GRAPH_MISSING', data: { workId } }],
  }
}

/** A new plan that is right starts the work, and mends a work that a bad plan had blocked. */
function acceptance({ state }: Context): Json {
  const { phase } = state.core
  if (phase === 'PLANNING' || phase === 'UNINITIALIZED') return { core: { phase: 'EXECUTING' } }
  if (phase === 'BLOCKED' && state.plan?.status === 'rejected') return { core: { phase: 'EXECUTING', prevPhase: null } }
  return {}
}

const blocked = ({ state }: Context): Json =>
  state.core.phase === 'COMPLETE' || state.core.phase === 'BLOCKED'
    ? {}
    : { core: { phase: 'BLOCKED', prevPhase: state.core.phase } }

const transition = (ctx: Context, to: 'EXECUTING' | 'BLOCKED', patch: Json): EventRecord[] =>
  patch['core'] === undefined
    ? []
    : [
        {
          kind: 'PHASE_TRANSITION',
          phase: to,
          data: { from: ctx.state.core.phase, to, trigger: to === 'BLOCKED' ? 'plan rejected' : 'plan accepted' },
        },
      ]

function judge(ctx: Context, plan: PlanGraph): HookAction {
  const { event, config } = ctx
  const paths = [...event.paths, ...searchedPaths(ctx)]
  const matching = plan.nodes.filter((node) => nodeMatches(node, event, paths))
  const refused = matching.find(isRefused)
  if (refused) {
    const reason = `the plan forbids this (${refused.id}): ${refused.reason ?? refused.description}`
    return {
      decision: 'deny',
      denyReason: reason,
      emitEvents: [
        { kind: 'PLAN_GRAPH_DENY', toolName: event.toolName, decision: 'deny', reason, data: { nodeId: refused.id } },
      ],
    }
  }
  const around = reachedAround(ctx, plan)
  if (around) {
    const reason = `this reaches ${around.path}, which the plan forbids (${around.node.id}): ${around.node.reason ?? around.node.description}`
    const data = { nodeId: around.node.id, path: around.path }
    return {
      decision: 'ask',
      denyReason: reason,
      emitEvents: [{ kind: 'PLAN_GRAPH_WARN', toolName: event.toolName, decision: 'ask', reason, data }],
    }
  }
  const mode = config['unmetDependencies']
  for (const node of mode === 'allow' ? [] : matching) {
    const waiting = unmet(node, plan)
    if (waiting.length === 0) continue
    const reason = `${node.id} comes after ${waiting.join(', ')}, not yet complete in the plan`
    const decision = mode === 'deny' ? 'deny' : 'ask'
    return {
      decision,
      denyReason: reason,
      emitEvents: [
        { kind: 'PLAN_GRAPH_WARN', toolName: event.toolName, decision, reason, data: { nodeId: node.id, waiting } },
      ],
    }
  }
  if (matching.length > 0) return clamp(ctx, matching) ?? used(ctx, matching)
  // a search that looks elsewhere is still the search that a node holds to its scope
  const scoping = plan.nodes.filter((node) => !isRefused(node) && namesToolOf(node, event))
  return (scoping.length > 0 && clamp(ctx, scoping)) || unplanned(ctx, plan)
}

/** A forbidden scope reached by a link, or by words of a command line. */
function reachedAround({ event, paths }: Context, plan: PlanGraph): { node: PlanNode; path: string } | undefined {
  const forbidden = plan.nodes.filter((node) => isRefused(node) && node.scope.length > 0)
  if (forbidden.length === 0) return undefined
  const named = event.tool === 'run_in_terminal' ? commandPaths(event, paths.repoRoot) : event.paths
  for (const path of new Set([
    ...(event.tool === 'run_in_terminal' ? named : []),
    ...named.map(realIn(paths.repoRoot)),
  ])) {
    const node = forbidden.find(({ scope }) => scope.some((each) => inFolderScope(each, path)))
    if (node) return { node, path }
  }
  return undefined
}

function commandPaths(event: Context['event'], repoRoot: string): string[] {
  const words = wordsIn(textAt(event.toolInput, 'command')) ?? []
  const start = textAt(event.toolInput, 'cwd') || event.cwd || repoRoot
  const parts = words.flatMap((word) => [word, ...word.split(/[=<>&]/)])
  return [...new Set(parts)]
    .filter((part) => part !== '')
    .map((part) => normalisePath(resolve(start, part), repoRoot).path)
}

const realIn =
  (repoRoot: string) =>
  (path: string): string => {
    try {
      return normalisePath(realpathSync(resolve(repoRoot, path)), realpathSync(repoRoot)).path
    } catch {
      return path // there is no such file
    }
  }

/** `defaultPolicy` speaks of changes; looking around is never outside the plan. */
function unplanned({ event }: Context, plan: PlanGraph): HookAction {
  const data = { matched: 0, nodeIds: [] }
  if (plan.defaultPolicy === 'allow' || !mutatingTools.includes(event.tool!))
    return { decision: 'allow', emitEvents: [{ kind: 'PLAN_GRAPH_USED', toolName: event.toolName, data }] }
  const reason = `no node of the plan covers ${event.toolName} here (defaultPolicy ${plan.defaultPolicy})`
  return {
    decision: plan.defaultPolicy,
    denyReason: reason,
    emitEvents: [{ kind: 'PLAN_GRAPH_DENY', toolName: event.toolName, decision: plan.defaultPolicy, reason, data }],
  }
}

const used = ({ event }: Context, nodes: readonly PlanNode[]): HookAction => ({
  decision: 'allow',
  emitEvents: [
    {
      kind: 'PLAN_GRAPH_USED',
      toolName: event.toolName,
      data: { matched: nodes.length, nodeIds: nodes.slice(0, 20).map((node) => node.id) },
    },
  ],
})

/** A search's pattern counts as the place it looks in, as far as it names one. */
function searchedPaths({ event }: Context): string[] {
  const keys = searchKeys(event)
  const key = event.tool === 'grep_search' ? keys.include : event.tool === 'file_search' ? keys.query : undefined
  const pattern = key === undefined ? '' : textAt(event.toolInput, key)
  return pattern.includes('/') && !isRepoWide(pattern)
    ? [pattern.replace(/\/?[*?[{].*/, '')].filter((path) => path !== '')
    : []
}

/** Keeps a search inside the scopes of the nodes it serves; undefined when there is nothing to narrow. */
function clamp(ctx: Context, matching: readonly PlanNode[]): HookAction | undefined {
  const { event } = ctx
  const scoped = matching.filter((node) => node.scope.length > 0)
  const scopes = [...new Set(scoped.flatMap((node) => node.scope))]
  if (scopes.length === 0 || scoped.length < matching.length) return undefined
  const keys = searchKeys(event)
  const nodeId = scoped[0]!.id
  if (event.tool === 'list_dir') {
    const outside = event.paths.find(
      (path) => !scopes.some((scope) => inScope(scope, path) || scopeGlob(scope).startsWith(`${path}/`)),
    )
    if (outside === undefined) return undefined
    const reason = `${outside} is outside the plan's scope (${scopes.join(', ')})`
    return {
      decision: 'ask',
      denyReason: reason,
      emitEvents: [{ kind: 'PLAN_GRAPH_WARN', toolName: event.toolName, decision: 'ask', reason, data: { nodeId } }],
    }
  }
  if (event.tool === 'semantic_search') {
    const reason = `${event.toolName} cannot be held to the plan's scope (${scopes.join(', ')})`
    return {
      decision: 'ask',
      denyReason: reason,
      emitEvents: [{ kind: 'PLAN_GRAPH_WARN', toolName: event.toolName, decision: 'ask', reason, data: { nodeId } }],
    }
  }
  const key = event.tool === 'grep_search' ? keys.include : event.tool === 'file_search' ? keys.query : undefined
  if (key === undefined) return undefined
  const pattern = textAt(event.toolInput, key)
  const folder = textAt(event.toolInput, 'path')
  const isOutside = folder !== '' && !event.paths.every((path) => scopes.some((scope) => inFolderScope(scope, path)))
  const inside = pattern !== '' && scopes.some((scope) => patternInScope(pattern, scope))
  if (!isOutside && (inside || (folder !== '' && event.paths.length > 0))) return undefined
  const globs = scopes.map(scopeGlob)
  const scopeText = globs.length === 1 ? globs[0]! : `{${globs.join(',')}}`
  const clamped = event.tool === 'grep_search' ? scopeText : underScopes(globs, pattern)
  return {
    decision: 'allow',
    updatedInput: { [key]: clamped, ...(isOutside && { path: '.' }) },
    emitEvents: [{ kind: 'PLAN_GRAPH_USED', toolName: event.toolName, data: { nodeId, clampedScope: clamped } }],
  }
}

/** Whether a folder lies in a scope, or is its folder. */
const inFolderScope = (scope: string, path: string): boolean =>
  inScope(scope, path) || scopeGlob(scope) === `${path}/**`

/** The file pattern, sought below each scope's folder. */
function underScopes(globs: readonly string[], pattern: string): string {
  const whole = pattern.replace(/^\.?\/+/, '') || '**'
  const below = globs.map((glob) => {
    const base = glob.replace(/\/?[*?[{].*/, '')
    const above = whole.replace(/\/?[*?[{].*/, '')
    const tail = above !== '' && `${base}/`.startsWith(`${above}/`) ? whole.slice(above.length + 1) || '**' : whole
    return base === '' ? tail : `${base}/${tail.startsWith('**') ? tail : `**/${tail}`}`
  })
  return below.length === 1 ? below[0]! : `{${below.join(',')}}`
}
