/** Whether the record is sent to a collector, and the trace that a run belongs to. The variables are OpenTelemetry's own. */
type Env = Readonly<Record<string, string | undefined>>

const endpoints = ['', 'TRACES_', 'LOGS_', 'METRICS_'].map((signal) => `OTEL_EXPORTER_OTLP_${signal}ENDPOINT`)

/** A collector is named, and telemetry is not disabled. */
export const sendsTelemetry = (env: Env): boolean =>
  env['OTEL_SDK_DISABLED']?.toLowerCase() !== 'true' && endpoints.some((name) => env[name])

export const isTelemetryVariable = (name: string): boolean => /^(ONA_)?OTEL_/.test(name)

export interface Trace {
  readonly traceId: string
  readonly spanId: string
}

/** A W3C `traceparent`; undefined where it is not a valid one. */
export function readTraceparent(text: unknown): Trace | undefined {
  const match =
    typeof text === 'string' ? /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-/.exec(text) : null
  return match ? { traceId: match[1]!, spanId: match[2]! } : undefined
}

/** The environment with a trace: the one it came with, or a new one where the record is sent. */
export function withTrace<E extends Env>(env: E): E & { readonly TRACEPARENT?: string } {
  if (!sendsTelemetry(env) || readTraceparent(env['TRACEPARENT'])) return env
  const random = process.getBuiltinModule('node:crypto').randomBytes(24).toString('hex')
  return { ...env, TRACEPARENT: `00-${random.slice(0, 32)}-${random.slice(32)}-01` }
}
