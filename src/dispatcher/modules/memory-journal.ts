/** memory-journal: writes down what was asked and how it went, and at Stop what keeps coming back. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../lazy-builtins.ts'
import { patternFault, patternFinds } from '../rules/pattern.ts'
import { fileNameFrom } from '../rules/plan-file.ts'
import { linesWith, readFrom } from '../session/files.ts'
import { isObject } from '../session/paths.ts'
import type { Context, EventName, HookAction, HookModule, Json } from '../types.ts'
import { toolFailure } from './session.ts'

const promptLimit = 64 * 1024
const logLimit = 8 * 1024 * 1024
const maxAnchors = 20
const maxCandidates = 50

/** Every repetition is bounded, so that a long prompt takes time in proportion to its length. */
const defaultAnchors = [
  '\\b(?:src|app|lib|shared|core)/[\\w./-]{1,200}\\.(?:ts|html|css|scss|json)\\b',
  '\\b[A-Z]\\w{0,100}(?:Component|Service|Module|Directive|Pipe|Guard|Interceptor|Store)\\b',
  '\\b(?:adp|sdf)-[a-z][\\w-]{0,100}',
]

export const hook: HookModule = {
  name: 'memory-journal',
  supports: new Set<EventName>(['UserPromptSubmit', 'PostToolUse', 'Stop']),
  priority: 50,
  hotPathSafe: false,
  critical: false,
  handle(eventName, ctx) {
    if (eventName === 'UserPromptSubmit') return onPrompt(ctx)
    return eventName === 'PostToolUse' ? onOutcome(ctx) : onStop(ctx)
  },
}

const experienceFile = (ctx: Context): string =>
  join(ctx.feature.output, fileNameFrom(ctx.config, 'experienceFile', 'experience.jsonl'))

/** One line of experience, and its file in the registry the first time this work unit writes to it. */
function note(ctx: Context, type: string, fields: Json): HookAction {
  const file = experienceFile(ctx)
  const { turnId, workId } = ctx.ids
  ctx.files.append(file, { v: 1, ts: Date.now(), type, turnId, workId, ...fields })
  const registered = ctx.state.memory?.['registeredFor'] === workId
  const ref = ctx.paths.relRef(file)
  return {
    // The registry takes only what is there; the first line of a session is on disk one event later.
    ...(!registered && existsSync(file) && { registerArtifacts: [{ kind: 'memory_experience', ref }] }),
    statePatch: {
      memory: {
        journalPath: ref,
        lastMatchTs: Date.now(),
        ...(!registered && existsSync(file) && { registeredFor: workId }),
      },
    },
  }
}

function onPrompt(ctx: Context): HookAction | undefined {
  const { event } = ctx
  const prompt = (event.prompt ?? '').slice(0, promptLimit)
  if (prompt === '') return undefined
  const given = ctx.config['anchorPatterns']
  const anchors = findAnchors(prompt, given)
  const faults = faultsOf(given)
  const isHuman = event.transcript_path !== undefined
  return {
    ...note(ctx, 'prompt', { anchors, isHuman }),
    ...(faults.length > 0 && { warnings: faults.map((why) => `anchorPatterns: ${why}`) }),
    emitEvents: [{ kind: 'MEMORY_MATCH', data: { anchors, isHuman } }],
  }
}

const faultsOf = (given: unknown): string[] =>
  Array.isArray(given) ? given.flatMap((one) => (typeof one === 'string' ? (patternFault(one, 'text') ?? []) : [])) : []

/** Configured patterns see the beginning of a prompt only; ours, whose repeats are bounded, all of it. */
function findAnchors(prompt: string, given: unknown): string[] {
  const found = new Set<string>()
  const isConfigured = Array.isArray(given)
  for (const pattern of isConfigured ? given.filter((one) => typeof one === 'string') : defaultAnchors) {
    const anchors = isConfigured ? patternFinds(pattern, prompt) : prompt.match(new RegExp(pattern, 'g'))
    for (const anchor of anchors ?? []) {
      if (anchor !== '') found.add(anchor.slice(0, 200))
      if (found.size >= maxAnchors) return [...found]
    }
  }
  return [...found]
}

function onOutcome(ctx: Context): HookAction {
  const { event, ids } = ctx
  const failure = toolFailure(ctx)
  const outcome = { toolName: event.toolName ?? null, success: failure === undefined, paths: event.paths.slice(0, 20) }
  const noted = note(ctx, 'tool_outcome', outcome)
  const events = [
    { kind: 'MEMORY_MATCH', toolName: event.toolName, data: { type: 'tool_outcome', turnId: ids.turnId, ...outcome } },
  ]
  if (failure === undefined) return { ...noted, emitEvents: events }
  const friction = { toolName: event.toolName ?? null, error: failure.slice(0, 300), paths: outcome.paths }
  note(ctx, 'friction', friction)
  return {
    ...noted,
    emitEvents: [
      ...events,
      { kind: 'MEMORY_CANDIDATE', toolName: event.toolName, data: { type: 'friction', ...friction } },
    ],
  }
}

function onStop(ctx: Context): HookAction {
  const { ids, state, paths } = ctx
  const found = candidates(ctx)
  const file = join(ctx.feature.output, fileNameFrom(ctx.config, 'candidatesFile', 'candidates.json'))
  const body = { version: 1, sessionId: ids.sessionId, generatedTs: Date.now(), candidates: found }
  const written = ctx.files.replace(file, `${JSON.stringify(body, null, 2)}\n`)
  const summary = { sessionId: ids.sessionId, workId: ids.workId, finalTurn: ids.turnId, phase: state.core.phase }
  const noted = note(ctx, 'session_summary', summary)
  return {
    ...noted,
    statePatch: { memory: { ...((noted.statePatch?.['memory'] as Json) ?? {}), activeCandidateCount: found.length } },
    emitEvents: [{ kind: 'MEMORY_CANDIDATE', data: { type: 'session_summary', ...summary, candidates: found.length } }],
    registerArtifacts: [
      ...(noted.registerArtifacts ?? []),
      ...(written ? [{ kind: 'memory_candidates', ref: paths.relRef(file) }] : []),
    ],
    warnings: written ? [] : ['memory candidates could not be written'],
  }
}

interface Candidate {
  readonly id: string
  readonly kind: 'friction' | 'anchor'
  readonly key: string
  count: number
  readonly tools: string[]
  readonly paths: string[]
  readonly firstTs: number
  lastTs: number
  readonly sample: string
}

/** What happened at least `minCount` times: the same trouble, the same thing named, the same file gone over again. */
function candidates(ctx: Context): Candidate[] {
  const minCount = typeof ctx.config['minCount'] === 'number' ? ctx.config['minCount'] : 3
  const found = new Map<string, Candidate>()
  const count = (
    kind: Candidate['kind'],
    key: string,
    ts: number,
    sample: string,
    tool?: unknown,
    paths: unknown = [],
  ) => {
    const known = found.get(`${kind} ${key}`)
    const candidate = known ?? {
      id: '',
      kind,
      key,
      count: 0,
      tools: [],
      paths: [],
      firstTs: ts,
      lastTs: ts,
      sample: sample.slice(0, 300),
    }
    candidate.count++
    candidate.lastTs = Math.max(candidate.lastTs, ts)
    if (typeof tool === 'string' && !candidate.tools.includes(tool)) candidate.tools.push(tool)
    for (const path of Array.isArray(paths) ? paths : [])
      if (typeof path === 'string' && candidate.paths.length < 20 && !candidate.paths.includes(path))
        candidate.paths.push(path)
    if (!known) found.set(`${kind} ${key}`, candidate)
  }
  const repeats = new Map<string, number>()
  const { bytes } = readFrom(ctx.paths.eventsFile, 0, logLimit)
  for (const record of linesWith(bytes, '"kind":"')) {
    const { kind, toolName, decision, reason, turnId } = record
    const ts = typeof record['ts'] === 'number' ? record['ts'] : 0
    const data = isObject(record['data']) ? record['data'] : {}
    if (kind === 'TOOL_DECISION' && decision !== 'allow')
      count('friction', `${decision}:${toolName}:${reason}`, ts, String(reason), toolName)
    if (kind === 'ERROR_MODULE' || kind === 'ERROR_MODULE_CRITICAL') {
      const error = isObject(record['error']) ? record['error'] : {}
      count('friction', `error:${error['module']}:${error['message']}`, ts, String(error['message']))
    }
    if (kind === 'TOOL_OUTCOME' && data['success'] === false)
      count(
        'friction',
        `failure:${toolName}:${data['errorSummary']}`,
        ts,
        String(data['errorSummary']),
        toolName,
        data['touchedPaths'],
      )
    if (kind === 'TOOL_OUTCOME')
      for (const path of Array.isArray(data['touchedPaths']) ? data['touchedPaths'] : []) {
        const seen = (repeats.get(`${turnId} ${toolName} ${path}`) ?? 0) + 1
        repeats.set(`${turnId} ${toolName} ${path}`, seen)
        if (seen >= 3)
          count('friction', `repeat:${toolName}:${path}`, ts, `${toolName} on ${path} again and again`, toolName, [
            path,
          ])
      }
    if (kind === 'MEMORY_MATCH' && Array.isArray(data['anchors']))
      for (const anchor of data['anchors']) count('anchor', String(anchor), ts, String(anchor))
  }
  return [...found.values()]
    .filter((candidate) => candidate.count >= (candidate.key.startsWith('repeat:') ? 1 : minCount))
    .sort((a, b) => b.lastTs - a.lastTs)
    .slice(0, maxCandidates)
    .map((candidate) => ({ ...candidate, id: sha256(`${candidate.kind} ${candidate.key}`, 8) }))
}
