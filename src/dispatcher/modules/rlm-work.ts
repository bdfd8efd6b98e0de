/** rlm-work: which work belongs in a subagent (rlm-policy.json), what a subagent is given, and what it left behind. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { namesTool, searchKeys, textAt } from '../host/tools.ts'
import { sha256 } from '../lazy-builtins.ts'
import { isRepoWide, matchesAny } from '../rules/glob.ts'
import { fileNameFrom } from '../rules/plan-file.ts'
import { isObject, isSegment } from '../session/paths.ts'
import { hashOf, readRules } from '../setup/rules-file.ts'
import type {
  ArtifactRecord,
  Context,
  Decision,
  EventName,
  EventRecord,
  HookAction,
  HookModule,
  Json,
} from '../types.ts'

type Mode = 'deny' | 'ask' | 'warn' | 'allow'

export const hook: HookModule = {
  name: 'rlm-work',
  supports: new Set<EventName>(['PreToolUse', 'SubagentStart', 'SubagentStop']),
  priority: 40,
  hotPathSafe: true,
  critical: false,
  handle(eventName, ctx) {
    if (eventName === 'SubagentStart') return packet(ctx)
    return eventName === 'SubagentStop' ? harvest(ctx) : judge(ctx)
  },
}

const modeOf = (value: unknown, fallback: Mode): Mode =>
  value === 'deny' || value === 'ask' || value === 'warn' || value === 'allow' ? value : fallback

const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

function judge(ctx: Context): HookAction {
  const { state, paths } = ctx
  const known = state.rlm ?? {}
  const file = readRules(paths.policyFile, known['policyStamp'], join(paths.schemaDir, 'rlm-policy.schema.json'))
  if (file.kind === 'absent')
    return {
      decision: 'allow',
      ...(known['policyLoaded'] !== false && { statePatch: { rlm: { policyLoaded: false } } }),
    }
  if (file.kind === 'broken') {
    const reason = `rlm-policy.json: ${file.why}; its rules are not applied`
    return {
      decision: 'allow',
      ...(file.isNews && {
        warnings: [reason],
        statePatch: { rlm: { policyLoaded: false, policyStamp: file.stamp } },
        emitEvents: [invalid(reason)],
      }),
    }
  }
  const rlm: Json = file.isNews
    ? { policyLoaded: true, lastPolicyHash: hashOf(file.rules), policyStamp: file.stamp }
    : {}
  const overrides = isObject(file.rules['phaseOverrides']) ? file.rules['phaseOverrides'][state.core.phase] : undefined
  const skips = (section: string) => isObject(overrides) && overrides[section] === 'skip'
  const found = [
    ...(skips('requireSubagent') || hasActiveSubagent(ctx) ? [] : needsSubagent(ctx, file.rules)),
    ...(skips('broadDiscovery') ? [] : broadDiscovery(ctx, file.rules)),
  ]
  const strictest = found.find(({ mode }) => mode === 'deny') ?? found.find(({ mode }) => mode === 'ask')
  const flagged = found.some(({ flag, mode }) => flag && mode !== 'deny')
  if (flagged) rlm['pendingSubagentFlags'] = { [ctx.event.tool!]: true }
  return {
    decision: strictest ? (strictest.mode as Decision) : 'allow',
    ...(strictest && { denyReason: strictest.reason }),
    warnings: [...file.faults, ...found.map(({ reason }) => reason)],
    emitEvents: [...file.faults.map(invalid), ...found.map(({ event }) => event)],
    ...(Object.keys(rlm).length > 0 && { statePatch: { rlm } }),
  }
}

const invalid = (reason: string): EventRecord => ({
  kind: 'POLICY_INVALID',
  reason,
  data: { file: 'rlm-policy.json' },
})

interface Finding {
  readonly mode: Mode
  readonly reason: string
  readonly event: EventRecord
  readonly flag: boolean
}

/** Work inside a subagent is not advised to use one. PreToolUse does not say who calls, so any active one counts. */
const hasActiveSubagent = ({ state }: Context): boolean =>
  Object.values(state.agents ?? {}).some((agent) => agent.startedTs !== undefined && agent.stoppedTs === undefined)

const decisionOf = (mode: Mode): Decision => (mode === 'deny' || mode === 'ask' ? mode : 'allow')

function needsSubagent({ event }: Context, policy: Json): Finding[] {
  const rule = list(policy['requireSubagent']).find((candidate) => {
    if (!namesTool(String(candidate['toolName']), event) || candidate['toolName'] === undefined) return false
    const exempt = texts(candidate['exemptPatterns'])
    return !(event.paths.length > 0 && event.paths.every((path) => matchesAny(exempt, path)))
  })
  const mode = rule ? modeOf(rule['mode'], modeOf(policy['defaultMode'], 'warn')) : 'allow'
  if (!rule || mode === 'allow') return []
  const reason =
    typeof rule['reason'] === 'string' ? rule['reason'] : `${event.toolName} belongs in a subagent (rlm-policy.json)`
  const data = { mode, targetPath: event.paths[0] ?? null }
  const record = { kind: 'RLM_SUBAGENT_REQUIRED', toolName: event.toolName, decision: decisionOf(mode), reason, data }
  return [{ mode, reason, event: record, flag: true }]
}

const checks: Record<string, (ctx: Context, threshold: number) => boolean> = {
  no_include_pattern: ({ event }) => textAt(event.toolInput, searchKeys(event).include) === '',
  wildcard_query: ({ event }) => {
    const query = textAt(event.toolInput, searchKeys(event).query)
    return query !== '' && isRepoWide(query)
  },
  max_results_high: ({ event }, threshold) => Number(event.toolInput?.['maxResults']) > threshold,
  no_scope: ({ event }) =>
    textAt(event.toolInput, searchKeys(event).include) === '' && textAt(event.toolInput, 'path') === '',
}

function broadDiscovery(ctx: Context, policy: Json): Finding[] {
  const section = isObject(policy['broadDiscovery']) ? policy['broadDiscovery'] : {}
  const mode = modeOf(section['mode'], 'warn')
  if (mode === 'allow') return []
  const rule = list(section['rules']).find((candidate) => {
    const check = checks[String(candidate['check'])]
    const threshold = typeof candidate['threshold'] === 'number' ? candidate['threshold'] : 500
    return (
      candidate['toolName'] !== undefined &&
      namesTool(String(candidate['toolName']), ctx.event) &&
      check?.(ctx, threshold)
    )
  })
  if (!rule) return []
  const check = String(rule['check'])
  const reason = typeof rule['reason'] === 'string' ? rule['reason'] : `${ctx.event.toolName} is too broad (${check})`
  const record = {
    kind: 'UNBOUNDED_GREP_WARN',
    toolName: ctx.event.toolName,
    decision: decisionOf(mode),
    reason,
    data: { check, mode },
  }
  return [{ mode, reason, event: record, flag: false }]
}

/** A type that is no plain folder name is replaced by its hash: nothing may leave the session's folder. */
function agentRoot({ feature, config, event, ids }: Context): string {
  const type = event.subagentType ?? 'agent'
  const slug = isSegment(type) && type.length <= 32 ? type : sha256(type, 8)
  return join(feature.output, fileNameFrom(config, 'subagentDir', 'sa'), slug, ids.agentId)
}

function packet(ctx: Context): HookAction {
  const { ids, event, state, paths, cap } = ctx
  const root = agentRoot(ctx)
  ctx.files.folder(root)
  const data = {
    sessionId: ids.sessionId,
    workId: ids.workId,
    agentId: ids.agentId,
    agentType: event.subagentType ?? null,
    artifactRoot: paths.repoRelative(root),
    turnId: ids.turnId,
    phase: state.core.phase,
    neo4jAvailable: cap.neo4j.reachable,
    planGraphPath: state.plan?.currentPath ?? null,
  }
  const flags = isObject(state.rlm?.['pendingSubagentFlags']) ? Object.keys(state.rlm['pendingSubagentFlags']) : []
  const value = `You are agent ${ids.agentId} in session ${ids.sessionId}, work ${ids.workId}. Leave files for the main agent in ${data.artifactRoot}.`
  return {
    additionalContext: [{ key: 'rlm-context-packet', value }],
    emitEvents: [{ kind: 'SUBAGENT_INJECT', data }],
    ...(flags.length > 0 && {
      statePatch: { rlm: { pendingSubagentFlags: Object.fromEntries(flags.map((tool) => [tool, false])) } },
    }),
  }
}

const limits = { depth: 3, files: 100, hashBytes: 1024 * 1024 }

function harvest(ctx: Context): HookAction {
  const { ids, event, paths } = ctx
  const artifacts: ArtifactRecord[] = []
  const visit = (folder: string, depth: number): void => {
    for (const name of names(folder)) {
      if (artifacts.length >= limits.files) return
      const path = join(folder, name)
      const stat = lstatSync(path)
      if (stat.isDirectory() && depth < limits.depth) visit(path, depth + 1)
      if (!stat.isFile()) continue
      const hash = stat.size <= limits.hashBytes ? { hash: sha256(readFileSync(path), 16) } : {}
      artifacts.push({ kind: 'subagent_output', ref: paths.relRef(path), ...hash, agentId: ids.agentId })
    }
  }
  visit(agentRoot(ctx), 1)
  return {
    registerArtifacts: artifacts,
    emitEvents: [
      {
        kind: 'SUBAGENT_HARVEST',
        data: { agentId: ids.agentId, agentType: event.subagentType ?? null, artifactCount: artifacts.length },
      },
    ],
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return [] // the subagent made no folder
  }
}
