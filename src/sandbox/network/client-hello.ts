/** The server name in a TLS ClientHello: whether a tunnel goes to the host that it was opened for. */

export type Hello =
  /** More bytes are needed. */
  | { readonly kind: 'partial' }
  | { readonly kind: 'hello'; readonly name: string | undefined }
  | { readonly kind: 'broken' }

/** No client sends more before it has an answer. */
export const largestHello = 16_384 + 5

export function readHello(bytes: Buffer): Hello {
  const handshake = joined(bytes)
  if (handshake === 'partial' || handshake === 'broken') return { kind: handshake }
  const body = handshake
  try {
    let at = 2 + 32 // version, random
    at += 1 + body.readUInt8(at) // session id
    at += 2 + body.readUInt16BE(at) // cipher suites
    at += 1 + body.readUInt8(at) // compression methods
    if (at >= body.length) return { kind: 'hello', name: undefined }
    const end = at + 2 + body.readUInt16BE(at)
    if (end !== body.length) return { kind: 'broken' }
    const names: string[] = []
    for (at += 2; at < end; ) {
      const type = body.readUInt16BE(at)
      const length = body.readUInt16BE(at + 2)
      if (type === 0) names.push(...serverNames(body.subarray(at + 4, at + 4 + length)))
      at += 4 + length
    }
    return names.length > 1 ? { kind: 'broken' } : { kind: 'hello', name: names[0] }
  } catch {
    return { kind: 'broken' } // a length leads out of the message
  }
}

/** The handshake message, which may come in several records. */
function joined(bytes: Buffer): Buffer | 'partial' | 'broken' {
  const parts: Buffer[] = []
  let length: number | undefined
  for (let at = 0; ; ) {
    if (bytes.length < at + 5) return 'partial'
    if (bytes[at] !== 22) return 'broken'
    const size = bytes.readUInt16BE(at + 3)
    if (size === 0) return 'broken'
    if (bytes.length < at + 5 + size) return 'partial'
    parts.push(bytes.subarray(at + 5, at + 5 + size))
    at += 5 + size
    const whole = Buffer.concat(parts)
    if (whole.length >= 4) {
      if (whole[0] !== 1) return 'broken'
      length ??= 4 + whole.readUIntBE(1, 3)
      if (whole.length >= length) return whole.subarray(4, length)
    }
  }
}

function serverNames(list: Buffer): string[] {
  const names: string[] = []
  const end = 2 + list.readUInt16BE(0)
  if (end !== list.length) throw new RangeError('length')
  for (let at = 2; at < end; ) {
    const length = list.readUInt16BE(at + 1)
    if (at + 3 + length > end) throw new RangeError('length')
    names.push(list.subarray(at + 3, at + 3 + length).toString('latin1'))
    at += 3 + length
  }
  return names
}
