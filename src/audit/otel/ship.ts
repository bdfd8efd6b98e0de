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
import { type Cursor, type LogData, readSignals, type SignalOptions, type SpanData, type TokenData } from './signals.ts'

export interface Shipped {
  readonly spans: number
  readonly logs: number
  readonly metrics: number
  /** Why it stopped before the end; the rest is sent the next time. */
  readonly problem?: string
}

/** Stops at the first batch that the collector does not take, or when `signal` says so. */
export async function ship(
  db: Db,
  env: NodeJS.ProcessEnv,
  options: SignalOptions & { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<Shipped> {
  const send = senders(env, options.timeoutMs)
  const sent = { spans: 0, logs: 0, metrics: 0 }
  try {
    for (;;) {
      const cursor = readCursor(db)
      const { spans, logs, tokens, cursor: next, more } = readSignals(db, cursor, options)
      const problem =
        (spans.length > 0 ? await send.traces(spans) : undefined) ??
        (logs.length > 0 ? await send.logs(logs) : undefined) ??
        (tokens.length > 0 ? await send.metrics(tokens) : undefined)
      if (problem !== undefined) return { ...sent, problem }
      saveCursor(db, next)
      sent.spans += spans.length
      sent.logs += logs.length
      sent.metrics += tokens.length
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
    const options = convertLegacyHttpOptions({ timeoutMillis }, signal, path, type)
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
    metrics: (tokens: readonly TokenData[]) =>
      result((done) => metrics.export(tokenMetrics(tokens, resource) as never, done)),
    async close() {
      await Promise.all([traces.shutdown(), logs.shutdown(), metrics.shutdown()])
    },
  }
}

const scope = { name: 'ona', version: '1' }
const hr = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]

const readableSpan = (
  { name, traceId, spanId, parentId, startMs, endMs, isError, attributes }: SpanData,
  resource: object,
) => ({
  ...{ name, kind: 0, attributes, resource, instrumentationScope: scope, links: [], events: [], ended: true },
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

/** A histogram of one bucket per row, as a delta: counts and sums add up at the collector. */
const tokenMetrics = (tokens: readonly TokenData[], resource: object) => ({
  resource,
  scopeMetrics: [
    {
      scope,
      metrics: [
        {
          descriptor: {
            name: 'gen_ai.client.token.usage',
            unit: '{token}',
            description: 'tokens per reply',
            valueType: 1,
          },
          ...{ aggregationTemporality: 0, dataPointType: 0 },
          dataPoints: tokens.map(({ atMs, tokens: count, attributes }) => ({
            ...{ startTime: hr(atMs), endTime: hr(atMs), attributes },
            value: { buckets: { boundaries: [], counts: [1] }, sum: count, count: 1, min: count, max: count },
          })),
        },
      ],
    },
  ],
})

/** `OTEL_RESOURCE_ATTRIBUTES=a=b,c=d` and `OTEL_SERVICE_NAME`. */
function resourceAttributes(env: NodeJS.ProcessEnv): Record<string, string> {
  const pairs = (env['OTEL_RESOURCE_ATTRIBUTES'] ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at > 0 ? [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const] : []
  })
  return { ...Object.fromEntries(pairs), 'service.name': env['OTEL_SERVICE_NAME'] || 'ona' }
}

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
