/**
 * Sends the record to an OpenTelemetry collector, after the fact: the cursor moves when the collector has taken a batch, so
 * that a dead collector costs nothing and loses nothing. OpenTelemetry's own packages encode and transport.
 */
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http'
import {
  type IExporterMetricsHelper,
  type ISerializer,
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  LogsExporterMetricsHelper,
  MetricsExporterMetricsHelper,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer'
import type { Db } from '../../store/open.ts'
import { hr, metricsOf } from './histograms.ts'
import {
  type Cursor,
  type LogData,
  type MeasureData,
  readSignals,
  type SignalOptions,
  type SpanData,
} from './signals.ts'
import { TurnEnds } from './turn-ends.ts'

export interface Shipped {
  readonly spans: number
  readonly logs: number
  readonly metrics: number
  /** Why it stopped before the end; the rest is sent the next time. */
  readonly problem?: string
}

/** What is sent besides names and numbers, as the environment says it. */
export const contentChoice = (env: NodeJS.ProcessEnv): Pick<SignalOptions, 'content' | 'claudeNames'> => ({
  content: env['ONA_OTEL_CONTENT'] === '1',
  claudeNames: env['ONA_OTEL_CLAUDE_NAMES'] === '1',
})

/** Stops at the first batch that the collector does not take, or when `signal` says so. */
export async function ship(
  db: Db,
  env: NodeJS.ProcessEnv,
  options: SignalOptions & { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<Shipped> {
  const send = senders(env, options.timeoutMs)
  const sent = { spans: 0, logs: 0, metrics: 0 }
  const ends = new TurnEnds()
  const wants = (signal: string) => env[`OTEL_${signal}_EXPORTER`]?.toLowerCase() !== 'none'
  try {
    for (;;) {
      const cursor = readCursor(db)
      const { spans, logs, measures, cursor: next, more } = readSignals(db, cursor, options, ends)
      const problem =
        (spans.length > 0 && wants('TRACES') ? await send.traces(spans) : undefined) ??
        (logs.length > 0 && wants('LOGS') ? await send.logs(logs) : undefined) ??
        (measures.length > 0 && wants('METRICS') ? await send.metrics(measures) : undefined)
      if (problem !== undefined) return { ...sent, problem }
      saveCursor(db, next)
      sent.spans += spans.length
      sent.logs += logs.length
      sent.metrics += measures.length
      if (!more || options.signal?.aborted) return sent
    }
  } finally {
    await send.close()
  }
}

function senders(env: NodeJS.ProcessEnv, timeoutMillis = 10_000) {
  const isJson = env['OTEL_EXPORTER_OTLP_PROTOCOL'] === 'http/json'
  const type = { 'Content-Type': isJson ? 'application/json' : 'application/x-protobuf' }
  const resource = {
    attributes: resourceAttributes(env),
    getRawAttributes: () => Object.entries(resourceAttributes(env)),
  }
  const open = <T>(
    signal: string,
    path: string,
    serializer: ISerializer<T, unknown>,
    helper: IExporterMetricsHelper<T>,
  ) => {
    const own = (name: string) => env[`OTEL_EXPORTER_OTLP_${signal}_${name}`]
    const url = own('ENDPOINT') || `${env['OTEL_EXPORTER_OTLP_ENDPOINT']?.replace(/\/+$/, '')}/${path}`
    const headers = { ...pairsOf(env['OTEL_EXPORTER_OTLP_HEADERS']), ...pairsOf(own('HEADERS')) }
    const options = convertLegacyHttpOptions({ url, headers, timeoutMillis }, signal, path, type)
    return createOtlpHttpExportDelegate(
      options,
      serializer,
      `otlp_http_${signal.toLowerCase()}_exporter`,
      helper,
      undefined,
    )
  }
  const traces = open(
    'TRACES',
    'v1/traces',
    (isJson ? JsonTraceSerializer : ProtobufTraceSerializer) as ISerializer<never[], unknown>,
    TraceExporterMetricsHelper as never,
  )
  const logs = open(
    'LOGS',
    'v1/logs',
    (isJson ? JsonLogsSerializer : ProtobufLogsSerializer) as ISerializer<never[], unknown>,
    LogsExporterMetricsHelper as never,
  )
  const metrics = open(
    'METRICS',
    'v1/metrics',
    (isJson ? JsonMetricsSerializer : ProtobufMetricsSerializer) as ISerializer<never, unknown>,
    MetricsExporterMetricsHelper as never,
  )
  const result = (run: (done: (result: { code: number; error?: Error }) => void) => void) =>
    new Promise<string | undefined>((resolve) =>
      run(({ code, error }) => resolve(code === 0 ? undefined : (error?.message ?? 'the collector refused a batch'))),
    )
  return {
    traces: (spans: readonly SpanData[]) =>
      result((done) => traces.export(spans.map((span) => readableSpan(span, resource)) as never[], done)),
    logs: (records: readonly LogData[]) =>
      result((done) => logs.export(records.map((record) => readableLog(record, resource)) as never[], done)),
    metrics: (measures: readonly MeasureData[]) =>
      result((done) =>
        metrics.export({ resource, scopeMetrics: [{ scope, metrics: metricsOf(measures) }] } as never, done),
      ),
    async close() {
      await Promise.all([traces.shutdown(), logs.shutdown(), metrics.shutdown()])
    },
  }
}

const scope = { name: 'ona', version: '1' }

const readableSpan = (
  { name, traceId, spanId, parentId, startMs, endMs, isError, isClient, attributes }: SpanData,
  resource: object,
) => ({
  ...{
    name,
    kind: isClient ? 2 : 0,
    attributes,
    resource,
    instrumentationScope: scope,
    links: [],
    events: [],
    ended: true,
  },
  ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
  ...(parentId !== undefined && { parentSpanContext: { traceId, spanId: parentId, traceFlags: 1 } }),
  ...{ startTime: hr(startMs), endTime: hr(endMs), duration: hr(endMs - startMs), status: { code: isError ? 2 : 0 } },
})

const readableLog = ({ name, traceId, spanId, atMs, attributes }: LogData, resource: object) => ({
  ...{
    hrTime: hr(atMs),
    hrTimeObserved: hr(atMs),
    eventName: name,
    body: name,
    severityNumber: 9,
    severityText: 'INFO',
  },
  ...{ spanContext: { traceId, spanId, traceFlags: 1 }, resource, instrumentationScope: scope },
  ...{ attributes: { 'event.name': name, ...attributes }, droppedAttributesCount: 0 },
})

/** `a=b,c=d`, with values as in a URL. */
const pairsOf = (list = ''): Record<string, string> =>
  Object.fromEntries(
    list.split(',').flatMap((pair) => {
      const at = pair.indexOf('=')
      return at > 0 ? [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]] : []
    }),
  )

const resourceAttributes = (env: NodeJS.ProcessEnv): Record<string, string> => ({
  'service.name': 'ona',
  ...pairsOf(env['OTEL_RESOURCE_ATTRIBUTES']),
  ...(env['OTEL_SERVICE_NAME'] && { 'service.name': env['OTEL_SERVICE_NAME'] }),
})

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // not encoded
  }
}

function readCursor(db: Db): Cursor {
  const rows = db.all<{ name: keyof Cursor; last: number }>('SELECT name, last FROM ona_otel_cursor')
  return {
    events: 0,
    results: 0,
    permissions: 0,
    hooks: 0,
    ...Object.fromEntries(rows.map(({ name, last }) => [name, last])),
  }
}

function saveCursor(db: Db, cursor: Cursor): void {
  db.transaction(() => {
    for (const [name, last] of Object.entries(cursor))
      db.run(
        'INSERT INTO ona_otel_cursor(name, last) VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET last = max(last, excluded.last)',
        name,
        last,
      )
  })
}
