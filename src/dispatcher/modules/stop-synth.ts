/** stop-synth: at Stop, what happened in this session as a page to read, and a draft decision record. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { counted } from '../../hooks/text/counted.ts'
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
    const log = gather([...linesWith(bytes, '"kind":"'), ...(ctx.pendingEvents as unknown as Json[])])
    if (log.total === 0) return { warnings: ['the event log is empty or cannot be read; no summary is written'] }
    const last = ctx.state['synth']
    if (ctx.event.stopHookActive && isObject(last) && last['activity'] === log.activity) return undefined

    const { ids, paths, feature, config } = ctx
    const summaryFile = join(feature.output, fileNameFrom(config, 'summaryFile', 'summary.md'))
    const summaryWritten = ctx.files.replace(summaryFile, summary(ctx, log))
    const artifacts: ArtifactRecord[] = summaryWritten
      ? [{ kind: 'session_summary', ref: paths.relRef(summaryFile) }]
      : []
    const wantsAdr = log.refusals.length > 0 || log.plan.length > 0
    const adr = wantsAdr ? writeAdr(ctx, log, isObject(last) ? last : {}) : undefined
    if (adr?.written) artifacts.push({ kind: 'adr_draft', ref: adr.ref, hash: adr.hash })
    return {
      registerArtifacts: artifacts,
      warnings: [
        ...(summaryWritten ? [] : ['the session summary could not be written']),
        ...(wantsAdr && !adr?.written ? ['the decision record could not be written'] : []),
      ],
      statePatch: {
        synth: {
          activity: log.activity,
          ...(adr?.written && { adrRef: adr.ref, adrHash: adr.hash, adrWork: ids.workId }),
        },
      },
      emitEvents: [
        { kind: 'SESSION_STOP', data: { summaryWritten, adrWritten: adr?.written === true, totalEvents: log.total } },
      ],
    }
  },
}

interface SessionLog {
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

function gather(records: Iterable<Json>): SessionLog {
  const log: SessionLog = {
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
    log.total++
    if (record['event'] !== 'Stop') log.activity++
    if (ts > 0 && (log.firstTs === 0 || ts < log.firstTs)) log.firstTs = ts
    log.lastTs = Math.max(log.lastTs, ts)
    if (kind === 'TOOL_DECISION') {
      log.calls++
      if (typeof record['toolName'] === 'string') log.tools.add(record['toolName'])
      if (record['decision'] !== 'allow') log.refusals.push(record)
    }
    if (kind === 'TOOL_OUTCOME') {
      if (data['success'] === false) log.failures++
      else log.successes++
      for (const path of Array.isArray(data['touchedPaths']) ? data['touchedPaths'] : []) log.files.add(String(path))
    }
    if (kind.startsWith('ERROR_MODULE')) log.errors.push(record)
    if (kind === 'MEMORY_CANDIDATE' && data['type'] === 'friction') log.friction.push(record)
    if (kind === 'BUDGET_EXCEEDED') log.overruns.push(record)
    if (kind === 'PHASE_TRANSITION') log.phases.push(record)
    if (kind.startsWith('PLAN_GRAPH_')) log.plan.push(record)
  }
  return log
}

/** Text from the log cannot break out of its table cell or list item. */
const safe = (value: unknown): string =>
  String(value ?? '')
    .replace(/[\r\n]+/g, ' ')
    .replace(/[\\|`<>]/g, '\\$&')
    .slice(0, 300)

const section = (title: string, lines: string[]): string =>
  lines.length === 0 ? '' : `\n## ${title}\n\n${lines.join('\n')}\n`

const transitions = (log: SessionLog): string[] =>
  log.phases.map(({ phase, data }) => {
    const { from, trigger } = isObject(data) ? data : {}
    return `- ${safe(from)} → ${safe(phase)} (${safe(trigger)})`
  })

const refusalLines = (log: SessionLog): string[] =>
  log.refusals
    .slice(0, 50)
    .map((record) => `- ${safe(record['decision'])} ${safe(record['toolName'])}: ${safe(record['reason'])}`)

function summary({ ids, state }: Context, log: SessionLog): string {
  const minutes = Math.round((log.lastTs - log.firstTs) / 60_000)
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
    `- calls: ${log.calls}`,
    `- succeeded: ${log.successes}, failed: ${log.failures}`,
    `- asked or denied: ${log.refusals.length}`,
    `- tools: ${[...log.tools].map(safe).join(', ') || 'none'}`,
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
    section('Errors', log.errors.slice(0, 50).map(errorLine)) +
    section('Asked or denied', refusalLines(log)) +
    section('Friction', log.friction.slice(0, 50).map(dataLine(['toolName', 'error']))) +
    section('Over budget', log.overruns.slice(0, 50).map(dataLine(['module', 'elapsedMs', 'budgetMs']))) +
    section('Phases', transitions(log)) +
    section(
      'Files',
      [...log.files].slice(0, maxFiles).map((path) => `- ${safe(path)}`),
    )
  )
}

function adrText({ ids, state }: Context, log: SessionLog): string {
  const day = new Date(log.lastTs || Date.now()).toISOString().slice(0, 10)
  const planLines = log.plan
    .slice(-50)
    .map(({ kind, reason, toolName }) => `- ${safe(kind)} ${safe(toolName)} ${safe(reason)}`.trimEnd())
  return (
    `# Decisions of session ${ids.sessionId}, ${ids.workId}\n\n- date: ${day}\n- status: draft\n- session: ${ids.sessionId}\n- work unit: ${ids.workId}\n` +
    section('Context', [
      `${counted(log.calls, 'tool call')} over ${counted(ids.turnId, 'turn')}; the phase is ${state.core.phase}.`,
    ]) +
    section('Decisions', refusalLines(log)) +
    section('Plan', planLines) +
    section('Phases', transitions(log)) +
    '\n## Consequences\n\n## Follow-ups\n'
  )
}

/** A draft that somebody has edited is theirs: ours then goes beside it. */
function writeAdr(ctx: Context, log: SessionLog, last: Json): { written: boolean; ref: string; hash: string } {
  const { ids, paths, feature, config } = ctx
  const folder = join(feature.output, fileNameFrom(config, 'adrDir', 'adr'))
  const text = adrText(ctx, log)
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
