/** Reads OTLP requests in protobuf, by the field numbers of opentelemetry-proto 1.x. Whatever else is in them is skipped. */
import { Refused } from '../request.ts'

type Kind = 'text' | 'hex' | 'varint' | 'signed' | 'bool' | 'double' | 'fixed64' | Fields
interface Fields {
  readonly [number: number]: readonly [name: string, kind: Kind | (() => Fields), many?: 'many']
}

const anyValue: Fields = {
  1: ['stringValue', 'text'],
  2: ['boolValue', 'bool'],
  3: ['intValue', 'signed'],
  4: ['doubleValue', 'double'],
  5: ['arrayValue', () => ({ 1: ['values', () => anyValue, 'many'] })],
  6: ['kvlistValue', () => ({ 1: ['values', () => keyValue, 'many'] })],
}
const keyValue: Fields = { 1: ['key', 'text'], 2: ['value', () => anyValue] }
const resource: Fields = { 1: ['attributes', () => keyValue, 'many'] }
const logRecord: Fields = {
  1: ['timeUnixNano', 'fixed64'],
  5: ['body', () => anyValue],
  6: ['attributes', () => keyValue, 'many'],
  11: ['observedTimeUnixNano', 'fixed64'],
  12: ['eventName', 'text'],
}
const spanEvent: Fields = {
  1: ['timeUnixNano', 'fixed64'],
  2: ['name', 'text'],
  3: ['attributes', () => keyValue, 'many'],
}
const span: Fields = {
  1: ['traceId', 'hex'],
  5: ['name', 'text'],
  8: ['endTimeUnixNano', 'fixed64'],
  9: ['attributes', () => keyValue, 'many'],
  11: ['events', () => spanEvent, 'many'],
  15: ['status', () => ({ 3: ['code', 'varint'] })],
}
const within = (name: string, record: Fields): Fields => ({
  1: ['resource', () => resource],
  2: [name === 'logRecords' ? 'scopeLogs' : 'scopeSpans', () => ({ 2: [name, () => record, 'many'] }), 'many'],
})

export const logsRequest: Fields = { 1: ['resourceLogs', () => within('logRecords', logRecord), 'many'] }
export const tracesRequest: Fields = { 1: ['resourceSpans', () => within('spans', span), 'many'] }

const deepest = 32

export function readProtobuf(bytes: Buffer, fields: Fields, depth = 0): Record<string, unknown> {
  if (depth > deepest) throw broken()
  const found: Record<string, unknown> = {}
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) throw broken()
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return BigInt.asUintN(64, value)
    }
    throw broken()
  }
  const take = (length: number): Buffer => {
    if (length < 0 || at + length > bytes.length) throw broken()
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const field = fields[tag >>> 3]
    const wire = tag & 7
    const raw =
      wire === 0
        ? varint()
        : wire === 1
          ? take(8)
          : wire === 2
            ? take(Number(varint()))
            : wire === 5
              ? take(4)
              : undefined
    if (raw === undefined) throw broken()
    if (!field) continue
    const [name, kind, many] = field
    const value = decoded(raw, kind, depth)
    if (many) found[name] = [...((found[name] as unknown[]) ?? []), value]
    else found[name] = value
  }
  return found
}

function decoded(raw: bigint | Buffer, kind: Kind | (() => Fields), depth: number): unknown {
  if (typeof raw === 'bigint') {
    if (kind === 'bool') return raw !== 0n
    return kind === 'signed' ? Number(BigInt.asIntN(64, raw)) : Number(raw)
  }
  if (kind === 'text') return raw.toString('utf8')
  if (kind === 'hex') return raw.toString('hex')
  if (kind === 'double' && raw.length === 8) return raw.readDoubleLE()
  if (kind === 'fixed64' && raw.length === 8) return raw.readBigUInt64LE().toString()
  if (typeof kind === 'function') return readProtobuf(raw, kind(), depth + 1)
  throw broken()
}

const broken = () => new Refused(400, 'the body is not an OTLP request in protobuf')
