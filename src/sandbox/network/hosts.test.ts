import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readHello } from './client-hello.ts'
import { addressesOf, judgeHost } from './hosts.ts'

const lists = {
  allowed: ['example.com', '*.wild.org', 'service.internal', '127.0.0.1', 'localhost'].map((host) => ({
    host,
    why: host,
  })),
  denied: ['bad.wild.org', '*.evil.wild.org'].map((host) => ({ host, why: `denied ${host}` })),
}

const rows: readonly (readonly [string, boolean])[] = [
  ['example.com', true],
  ['EXAMPLE.com.', true],
  ['www.example.com', false],
  ['example.com.evil.test', false],
  ['notexample.com', false],
  ['a.wild.org', true],
  ['a.b.wild.org', true],
  ['wild.org', false],
  ['xwild.org', false],
  ['bad.wild.org', false],
  ['x.evil.wild.org', false],
  ['127.0.0.1', true],
  ['127.0.0.2', false],
  ['::1', false],
  ['', false],
  ['exa mple.com', false],
  ['example.com\0.evil', false],
  ['example.com/x', false],
]

for (const [host, ok] of rows)
  test(`judgeHost: ${JSON.stringify(host)} is ${ok ? 'allowed' : 'not allowed'}`, () =>
    assert.equal(judgeHost(host, lists).ok, ok))

test('`*` allows every name and no address', () => {
  const all = { allowed: [{ host: '*', why: '*' }], denied: [] }
  assert.deepEqual(
    ['a.test', '10.0.0.1', '::1', '2130706433', '0x7f000001'].map((host) => judgeHost(host, all).ok),
    [true, false, false, false, false],
  )
})

test('only a local name that is listed itself may resolve to a private address', async () => {
  const at = (host: string, pattern: string, address: string) =>
    addressesOf(host, { by: { host: pattern, why: '' } }, async () => [address]).then(({ ok }) => ok)
  assert.deepEqual(
    [
      await at('service.internal', 'service.internal', '10.0.0.1'),
      await at('localhost', 'localhost', '127.0.0.1'),
      await at('10.0.0.1', '10.0.0.1', '10.0.0.1'),
      await at('example.com', 'example.com', '127.0.0.1'),
      await at('x.internal', '*.internal', '10.0.0.1'),
      await at('example.com', 'example.com', '::ffff:127.0.0.1'),
      await at('example.com', 'example.com', '169.254.169.254'),
      await at('example.com', 'example.com', '93.184.215.14'),
    ],
    [true, true, true, false, false, false, false, true],
  )
})

test('one private address among public ones is enough to refuse', async () => {
  const found = await addressesOf('a.test', { by: { host: 'a.test', why: '' } }, async () => [
    '93.184.215.14',
    '127.0.0.1',
  ])
  assert.deepEqual(found, {
    ok: false,
    why: 'a.test resolves to 127.0.0.1, which is a private, loopback or special address',
  })
})

/** A ClientHello as a client sends it. */
function hello(name: string | undefined): Buffer {
  const sized = (bytes: number, ...parts: readonly Buffer[]) => {
    const body = Buffer.concat(parts)
    const head = Buffer.alloc(bytes)
    head.writeUIntBE(body.length, 0, bytes)
    return Buffer.concat([head, body])
  }
  const sni =
    name === undefined ? [] : [Buffer.from([0, 0]), sized(2, sized(2, Buffer.from([0]), sized(2, Buffer.from(name))))]
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    sized(1),
    sized(2, Buffer.from([0x13, 1])),
    sized(1, Buffer.from([0])),
    sized(2, ...sni, Buffer.from([0, 16]), sized(2, Buffer.from([0, 1]))),
  ])
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(2, Buffer.from([1]), sized(3, body))])
}

test('the server name is read, whole or in pieces', () => {
  const bytes = hello('example.com')
  assert.deepEqual(readHello(bytes), { kind: 'hello', name: 'example.com' })
  assert.deepEqual(readHello(hello(undefined)), { kind: 'hello', name: undefined })
  for (let length = 0; length < bytes.length; length++)
    assert.deepEqual(readHello(bytes.subarray(0, length)), { kind: 'partial' }, `${length} bytes`)
})

test('a damaged greeting is never a name', () => {
  const bytes = hello('example.com')
  for (let at = 5; at < bytes.length; at++)
    for (const value of [0, 1, 127, 255]) {
      const damaged = Buffer.from(bytes)
      damaged[at] = value
      const read = readHello(damaged) // must not throw
      if (read.kind === 'hello' && read.name !== undefined) assert.equal(read.name.length, 'example.com'.length)
    }
})
