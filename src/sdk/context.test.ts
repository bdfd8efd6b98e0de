import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Context } from './context.ts'
import { bothSpellings, otherSpelling, readPath } from './output/key-spelling.ts'

test('a change gives a new context, and the old one stays as it was', () => {
  const region = { name: 'EU', towns: ['Bonn'] }
  const first = new Context({ region, user_name: 'Ada' })
  const second = first.set('region.name', 'US').set('userName', 'Bob').set('region.towns[0]', 'Reno').merge({ more: 1 })
  region.name = 'changed outside'
  assert.deepEqual(first.data, { region: { name: 'EU', towns: ['Bonn'] }, user_name: 'Ada' })
  assert.deepEqual(second.data, { region: { name: 'US', towns: ['Reno'] }, user_name: 'Bob', more: 1 })
  assert.deepEqual(second.keys(), ['region', 'user_name', 'more'])
  assert.throws(() => {
    ;(first.data.region as { name: string }).name = 'x'
  }, TypeError)
  assert.throws(() => Object.assign(first, { data: {} }), TypeError)
})

test('reads go deep, in either spelling, and find only what the data holds', () => {
  const context = new Context({ api_result: { dueDate: null as null | string, items: [{ unit_price: 3 }] } })
  assert.equal(context.get('apiResult.items.0.unitPrice'), 3)
  assert.equal(context.data.api_result.items[0]!.unit_price, 3)
  assert.deepEqual(
    ['api_result.due_date', 'apiResult.gone', 'gone.deeper', 'constructor'].map((path) => context.has(path)),
    [true, false, false, false],
  )
  assert.equal(new Context<Record<string, unknown>>({}).get('toString'), undefined)
})

test('what is not plain is shared as it is', () => {
  const connection = new (class Connection {
    open = true
  })()
  const at = new Date(0)
  const context = new Context({ connection, at })
  assert.equal(context.get('connection'), connection)
  assert.equal(context.get('at'), at)
})

test('other spellings are there to be read, and nowhere else', () => {
  const given = { raw_result: { 'content-type': 'x', tokensUsed: 1 }, list: [{ a_b: 1 }] }
  const both = bothSpellings(given, { freeze: true }) as never as Record<string, Record<string, unknown>>
  assert.deepEqual(
    [both['rawResult']!['contentType'], both['raw_result']!['tokens_used'], readPath(both, 'list[0].aB')],
    ['x', 1, 1],
  )
  assert.deepEqual(both, given)
  assert.equal(JSON.stringify(both), JSON.stringify(given))
  assert.deepEqual({ ...both }, given)
  assert.deepEqual(['raw_result', 'rawResult', 'x', '_t', 'to_string', 'a1B'].map(otherSpelling), [
    ...['rawResult', 'raw_result', 'x', '_t', 'toString', 'a1_b'],
  ])
})

test('no key from outside reaches what every object has', () => {
  const nasty = JSON.parse('{"__proto__":{"polluted":true},"to_string":"x","constructor":1,"value_of":2}')
  const both = bothSpellings(nasty, { freeze: false })
  assert.equal(`${both}`, '[object Object]')
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  assert.equal(Object.getPrototypeOf(both), Object.prototype)
  assert.equal(JSON.stringify(both), JSON.stringify(nasty))
})

test('any JSON keeps its content, and data that holds itself is no trap', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(JSON.stringify(bothSpellings(value, { freeze: true })), JSON.stringify(value))
      readPath(value, 'a.b[0].c')
    }),
  )
  const loop: Record<string, unknown> = { a_b: 1 }
  loop['self_ref'] = loop
  const both = bothSpellings(loop, { freeze: true }) as { selfRef: { selfRef: unknown; aB: number } }
  assert.equal(both.selfRef, both.selfRef.selfRef)
  assert.equal(both.selfRef.aB, 1)
})
