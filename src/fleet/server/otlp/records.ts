/** What other agents say by OpenTelemetry, as rows: Claude Code, Codex, Gemini CLI and Qwen Code send logs, Copilot spans. */
import { redact } from '../../../hooks/secrets/redact.ts'
import { isObject, type JsonObject } from '../../../hooks/shape.ts'
import { sha256 } from '../../wire.ts'
import { clean, targetOf } from '../row-facts.ts'

export interface TelemetryRow {
  readonly row_id: number
  readonly agent: string
  readonly session: string
  readonly at: string | null
  readonly type: string
  readonly tool: string | null
  readonly toolUseId: string | null
  readonly decision: 'allow' | 'deny' | null
  readonly by: string | null
  readonly isError: boolean | null
  readonly tokens: number | null
  readonly cost: number | null
  readonly target: string | null
  readonly state: 'exact' | 'redacted'
  readonly content: string
}

type Values = Readonly<Record<string, unknown>>

/** Every record of a request of either kind. */
export function telemetryRows(body: JsonObject): TelemetryRow[] {
  const rows: TelemetryRow[] = []
  for (const { resource, scopeLogs } of objects(body['resourceLogs']))
    for (const { logRecords } of objects(scopeLogs))
      for (const record of objects(logRecords)) {
        const values = valuesOf(record['attributes'])
        const name = nameOf([values['event.name'], record['eventName'], plainValue(record['body'])])
        const time =
          record['timeUnixNano'] && record['timeUnixNano'] !== '0'
            ? record['timeUnixNano']
            : record['observedTimeUnixNano']
        rows.push(rowOf(name, time, values, resourceOf(resource), undefined))
      }
  for (const { resource, scopeSpans } of objects(body['resourceSpans']))
    for (const { spans } of objects(scopeSpans))
      for (const span of objects(spans)) {
        const about = { ...resourceOf(resource), 'trace.id': span['traceId'] }
        const isError = isObject(span['status']) && Number(span['status']['code']) === 2
        rows.push(
          rowOf(text(span['name']) ?? 'span', span['endTimeUnixNano'], valuesOf(span['attributes']), about, isError),
        )
        for (const event of objects(span['events']))
          rows.push(
            rowOf(
              text(event['name']) ?? 'event',
              event['timeUnixNano'],
              valuesOf(event['attributes']),
              about,
              undefined,
            ),
          )
      }
  return rows
}

/**
 * Agents put the name of an event into different places: Claude Code the short one into an attribute and the whole one into
 * the body; Codex the place in its source into the record's own field. The one that begins with the agent's name wins.
 */
function nameOf(places: readonly unknown[]): string {
  const names = places.flatMap((place) => text(place) ?? [])
  return names.find((name) => agents.some(([pattern]) => pattern.test(name))) ?? names[0] ?? 'log'
}

function rowOf(
  name: string,
  nanos: unknown,
  values: Values,
  resource: Values,
  failed: boolean | undefined,
): TelemetryRow {
  const one = (...names: string[]) => {
    for (const each of names) {
      const found = values[each] ?? resource[each]
      if (found !== undefined && found !== null && found !== '') return found
    }
    return undefined
  }
  const word = (...names: string[]) => {
    const found = one(...names)
    return found === undefined ? null : clean(String(found)).slice(0, 500)
  }
  const number = (...names: string[]) => {
    const found = Number(one(...names))
    return Number.isFinite(found) && found >= 0 && found < 1e12 ? found : undefined
  }
  const agent = agentOf(name, resource)
  const isCounted = isOnlyReport(agent, name, failed !== undefined)
  const isCall = isCounted && /tool_result$|tool_call$|^execute_tool/.test(name)
  const success = one('success', 'error.type')
  const counts = [
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_creation_tokens',
    'input_token_count',
    'output_token_count',
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.output_tokens',
  ]
    .map((each) => number(each))
    .filter((count) => count !== undefined)
  const raw = JSON.stringify({ name, attributes: values, resource })
  const content = clean(redact(raw)).slice(0, 1_000_000)
  const [, spanTool] = /^execute_tool (.+)$/.exec(name) ?? []
  const at = timeOf(nanos)
  return {
    // the same record again is the same row
    row_id: Number(BigInt(`0x${sha256(`${nanos}\n${raw}`).toString('hex', 0, 7)}`) & 0xf_ffff_ffff_ffffn),
    ...{
      agent,
      at,
      type: clean(name).slice(0, 200),
      content,
      state: content === raw ? 'exact' : 'redacted',
    },
    session: word('session.id', 'conversation.id', 'gen_ai.conversation.id', 'session_id', 'trace.id') ?? 'unknown',
    tool:
      word('tool_name', 'function_name', 'gen_ai.tool.name') ??
      (spanTool === undefined ? null : clean(spanTool).slice(0, 200)),
    toolUseId: word('tool_use_id', 'call_id', 'gen_ai.tool.call.id'),
    decision: decisionOf(one('decision', 'github.copilot.hook.decision', 'hook.decision')),
    by: word('source', 'decision_source', 'hook.name'),
    isError: !isCall ? null : (failed ?? (success === undefined ? null : String(success) !== 'true')),
    tokens:
      isCounted && counts.length > 0 && !/^invoke_agent/.test(name)
        ? Math.round(counts.reduce((sum, count) => sum + count, 0))
        : null,
    cost: isCounted ? (number('cost_usd') ?? null) : null,
    target: isCall
      ? targetIn(one('tool_input', 'arguments', 'function_args', 'gen_ai.tool.call.arguments', 'tool_parameters'))
      : null,
  }
}

/**
 * Gemini CLI reports each call and each reply up to three times: as an event of its own, as an event of the GenAI conventions
 * and as a span. Of agents with events of their own, those alone are counted.
 */
const isOnlyReport = (agent: string, name: string, isSpan: boolean): boolean =>
  agents.every(([pattern, slug]) => slug !== agent || slug === 'copilot' || (pattern.test(name) && !isSpan))

const allows = new Set(['accept', 'accepted', 'approved', 'approved_for_session', 'allow', 'auto_accept', 'pass'])
const denies = new Set(['reject', 'rejected', 'denied', 'deny', 'block', 'abort'])

function decisionOf(value: unknown): 'allow' | 'deny' | null {
  const word = String(value ?? '').toLowerCase()
  return allows.has(word) ? 'allow' : denies.has(word) ? 'deny' : null
}

const agents: readonly [RegExp, string][] = [
  [/^claude_code\./, 'claude'],
  [/^codex\./, 'codex'],
  [/^gemini_cli\./, 'gemini'],
  [/^qwen-code\./, 'qwen'],
  [/copilot/, 'copilot'],
]

function agentOf(name: string, resource: Values): string {
  const service = String(resource['service.name'] ?? '')
  for (const [pattern, agent] of agents)
    if (pattern.test(name) || pattern.test(`${service.replace('-', '_')}.`)) return agent
  return clean(service).slice(0, 100) || 'unknown'
}

function targetIn(value: unknown): string {
  if (typeof value !== 'string') return targetOf(value)
  try {
    return redact(targetOf(JSON.parse(value)))
  } catch {
    return clean(redact(value)).slice(0, 500) // not JSON: the agent's own words for it
  }
}

function timeOf(nanos: unknown): string | null {
  const ms = Number(nanos) / 1e6
  return ms > 0 && ms < 4_102_444_800_000 ? new Date(ms).toISOString() : null
}

const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const resourceOf = (value: unknown): Values => (isObject(value) ? valuesOf(value['attributes']) : {})

/** Attributes as plain values. */
const valuesOf = (list: unknown): Values =>
  Object.fromEntries(
    objects(list).flatMap(({ key, value }) => (typeof key === 'string' ? [[key, plainValue(value)]] : [])),
  )

function plainValue(value: unknown, depth = 0): unknown {
  if (!isObject(value) || depth > 20) return undefined
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue } = value
  if (intValue !== undefined) return Number(intValue)
  if (isObject(arrayValue)) return objects(arrayValue['values']).map((each) => plainValue(each, depth + 1))
  if (isObject(kvlistValue))
    return Object.fromEntries(
      objects(kvlistValue['values']).map(({ key, value: inner }) => [String(key), plainValue(inner, depth + 1)]),
    )
  return stringValue ?? boolValue ?? doubleValue
}
