/** stop-synth: at Stop, what happened in this session as a page to read, and a draft decision record. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../lazy-builtins.ts'
import { fileNameFrom } from '../rules/plan-file.ts'
import { linesWith, readFrom, readText } from '../session/files.ts'
import { isObject } from '../session/paths.ts'
import type { ArtifactRecord, Context, HookAction, HookModule, Json } from '../types.ts'

const logLimit = 32 * 1024 * 1024
const maxFiles = 30

export const hook: HookModule = {
  name: 'stop-synth',
  supports: new Set(['Stop'] as const),
  priority: 100,
  hotPathSafe: false,
  critical: false,
  handle(_eventName, ctx): HookAction | undefined {
    const { bytes } = readFrom(ctx.paths.eventsFile, 0, logLimit)
    const told = gather([...linesWith(bytes, '"kind":"'), ...(ctx.pendingEvents as unknown as Json[])])
    if (told.total === 0) return { warnings: ['the event log is empty or cannot be read; no summary is written'] }
    const last = ctx.state['synth']
    if (ctx.event.stopHookActive && isObject(last) && last['activity'] === told.activity) return undefined

    const { ids, paths, feature, config } = ctx
    const summaryFile = join(feature.output, fileNameFrom(config, 'summaryFile', 'summary.md'))
    const summaryWritten = ctx.files.replace(summaryFile, summary(ctx, told))
    const artifacts: ArtifactRecord[] = summaryWritten
      ? [{ kind: 'session_summary', ref: paths.relRef(summaryFile) }]
      : []
    const wantsAdr = told.refusals.length > 0 || told.plan.length > 0
    const adr = wantsAdr ? writeAdr(ctx, told, isObject(last) ? last : {}) : undefined
    if (adr?.written) artifacts.push({ kind: 'adr_draft', ref: adr.ref, hash: adr.hash })
    return {
      registerArtifacts: artifacts,
      warnings: [
        ...(summaryWritten ? [] : ['the session summary could not be written']),
        ...(wantsAdr && !adr?.written ? ['the decision record could not be written'] : []),
      ],
      statePatch: {
        synth: {
          activity: told.activity,
          ...(adr?.written && { adrRef: adr.ref, adrHash: adr.hash, adrWork: ids.workId }),
        },
      },
      emitEvents: [
        { kind: 'SESSION_STOP', data: { summaryWritten, adrWritten: adr?.written === true, totalEvents: told.total } },
      ],
    }
  },
}

interface Told {
  total: number
  /** Events that are more than a stop looking at itself. */
  activity: number
  firstTs: number
  lastTs: number
  calls: number
  successes: number
  failures: number
  readonly tools: Set<string>
  readonly refusals: Json[]
  readonly errors: Json[]
  readonly friction: Json[]
  readonly overruns: Json[]
  readonly phases: Json[]
  readonly plan: Json[]
  readonly files: Set<string>
}

function gather(records: Iterable<Json>): Told {
  const told: Told = {
    total: 0,
    activity: 0,
    firstTs: 0,
    lastTs: 0,
    calls: 0,
    successes: 0,
    failures: 0,
    tools: new Set(),
    refusals: [],
    errors: [],
    friction: [],
    overruns: [],
    phases: [],
    plan: [],
    files: new Set(),
  }
  for (const record of records) {
    const kind = String(record['kind'])
    const data = isObject(record['data']) ? record['data'] : {}
    const ts = typeof record['ts'] === 'number' ? record['ts'] : 0
    told.total++
    if (record['event'] !== 'Stop') told.activity++
    if (ts > 0 && (told.firstTs === 0 || ts < told.firstTs)) told.firstTs = ts
    told.lastTs = Math.max(told.lastTs, ts)
    if (kind === 'TOOL_DECISION') {
      told.calls++
      if (typeof record['toolName'] === 'string') told.tools.add(record['toolName'])
      if (record['decision'] !== 'allow') told.refusals.push(record)
    }
    if (kind === 'TOOL_OUTCOME') {
      if (data['success'] === false) told.failures++
      else told.successes++
      for (const path of Array.isArray(data['touchedPaths']) ? data['touchedPaths'] : []) told.files.add(String(path))
    }
    if (kind.startsWith('ERROR_MODULE')) told.errors.push(record)
    if (kind === 'MEMORY_CANDIDATE' && data['type'] === 'friction') told.friction.push(record)
    if (kind === 'BUDGET_EXCEEDED') told.overruns.push(record)
    if (kind === 'PHASE_TRANSITION') told.phases.push(record)
    if (kind.startsWith('PLAN_GRAPH_')) told.plan.push(record)
  }
  return told
}

/** Text from the log cannot break out of its table cell or list item. */
const safe = (value: unknown): string =>
  String(value ?? '')
    .replace(/[\r\n]+/g, ' ')
    .replace(/[\\|`<>]/g, '\\$&')
    .slice(0, 300)

const section = (title: string, lines: string[]): string =>
  lines.length === 0 ? '' : `\n## ${title}\n\n${lines.join('\n')}\n`

const transitions = (told: Told): string[] =>
  told.phases.map(({ phase, data }) => {
    const { from, trigger } = isObject(data) ? data : {}
    return `- ${safe(from)} → ${safe(phase)} (${safe(trigger)})`
  })

const refusalLines = (told: Told): string[] =>
  told.refusals
    .slice(0, 50)
    .map((record) => `- ${safe(record['decision'])} ${safe(record['toolName'])}: ${safe(record['reason'])}`)

function summary({ ids, state }: Context, told: Told): string {
  const minutes = Math.round((told.lastTs - told.firstTs) / 60_000)
  const table = [
    '| | |',
    '| --- | --- |',
    `| session | ${ids.sessionId} |`,
    `| work unit | ${ids.workId} |`,
    `| turns | ${ids.turnId} |`,
    `| minutes | ${minutes} |`,
    `| phase | ${state.core.phase} |`,
  ].join('\n')
  const usage = [
    `- calls: ${told.calls}`,
    `- succeeded: ${told.successes}, failed: ${told.failures}`,
    `- asked or denied: ${told.refusals.length}`,
    `- tools: ${[...told.tools].map(safe).join(', ') || 'none'}`,
  ]
  const errorLine = ({ error }: Json) =>
    isObject(error) ? `- ${safe(error['module'])}: ${safe(error['message'])}` : ''
  const dataLine =
    (keys: string[]) =>
    ({ data }: Json) =>
      `- ${keys
        .map((key) => (isObject(data) ? safe(data[key]) : ''))
        .filter(Boolean)
        .join(': ')}`
  return (
    `# Session ${ids.sessionId}\n\n${table}\n` +
    section('Tools', usage) +
    section('Errors', told.errors.slice(0, 50).map(errorLine)) +
    section('Asked or denied', refusalLines(told)) +
    section('Friction', told.friction.slice(0, 50).map(dataLine(['toolName', 'error']))) +
    section('Over budget', told.overruns.slice(0, 50).map(dataLine(['module', 'elapsedMs', 'budgetMs']))) +
    section('Phases', transitions(told)) +
    section(
      'Files',
      [...told.files].slice(0, maxFiles).map((path) => `- ${safe(path)}`),
    )
  )
}

function adrText({ ids, state }: Context, told: Told): string {
  const day = new Date(told.lastTs || Date.now()).toISOString().slice(0, 10)
  const planLines = told.plan
    .slice(-50)
    .map(({ kind, reason, toolName }) => `- ${safe(kind)} ${safe(toolName)} ${safe(reason)}`.trimEnd())
  return (
    `# Decisions of session ${ids.sessionId}, ${ids.workId}\n\n- date: ${day}\n- status: draft\n- session: ${ids.sessionId}\n- work unit: ${ids.workId}\n` +
    section('Context', [`${told.calls} tool calls over ${ids.turnId} turns; the phase is ${state.core.phase}.`]) +
    section('Decisions', refusalLines(told)) +
    section('Plan', planLines) +
    section('Phases', transitions(told)) +
    '\n## Consequences\n\n## Follow-ups\n'
  )
}

/** A draft that somebody has edited is theirs: ours then goes beside it. */
function writeAdr(ctx: Context, told: Told, last: Json): { written: boolean; ref: string; hash: string } {
  const { ids, paths, feature, config } = ctx
  const folder = join(feature.output, fileNameFrom(config, 'adrDir', 'adr'))
  const text = adrText(ctx, told)
  const hash = sha256(text, 16)
  const ours = (file: string): boolean => {
    if (!existsSync(file)) return true
    const read = readText(file)
    return read.ok && last['adrRef'] === paths.relRef(file) && last['adrHash'] === sha256(read.text, 16)
  }
  for (let n = 1; n <= 100; n++) {
    const file = join(folder, `adr-${ids.sessionId}-${ids.workId}${n === 1 ? '' : `-${n}`}.md`)
    if (ours(file)) return { written: ctx.files.replace(file, text), ref: paths.relRef(file), hash }
  }
  return { written: false, ref: '', hash }
}
