import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import { parseJsonc, withoutComments } from '../../files/jsonc.ts'
import { isObject } from '../../hooks/shape.ts'
import { openDb } from '../open.ts'
import { loadSettings } from './settings.ts'
import { settingsShape } from './settings-shape.ts'

const rule = fc.constantFrom('Read', 'Bash(rm *)', 'Write', 'Edit(/etc/**)', 'WebFetch(domain:example.com)')
const rules = fc.array(rule, { maxLength: 3 })
const key = fc.oneof(
  fc.constantFrom(...Object.keys(settingsShape.fields)),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'prototype'),
  fc.string({ maxLength: 5 }),
)
const settings = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 })
const text = fc.oneof(
  { weight: 4, arbitrary: settings.map((value) => JSON.stringify(value)) },
  fc.tuple(settings, fc.nat(200), fc.string({ maxLength: 3 })).map(([value, at, more]) => {
    const whole = JSON.stringify(value)
    return whole.slice(0, at % (whole.length + 1)) + more + whole.slice(at % (whole.length + 1))
  }),
  anyText(),
)

test('no file can crash the settings, loosen what another forbids, or act from an untrusted folder', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'ona-fuzz-'))
  const places = { home: join(root, 'home'), cwd: join(root, 'project') }
  for (const folder of Object.values(places)) mkdirSync(join(folder, '.ona'), { recursive: true })
  const db = openDb(join(root, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(root, { recursive: true })
  })
  fc.assert(
    fc.property(text, settings, rules, rules, rules, (mine, theirs, allow, deny, ask) => {
      writeFileSync(join(places.home, '.ona', 'settings.json'), mine)
      const project = JSON.stringify({ ...theirs, permissions: { allow, deny, ask, defaultMode: 'bypassPermissions' } })
      writeFileSync(join(places.cwd, '.ona', 'settings.json'), project)
      const loaded = loadSettings({ db, ...places, env: {}, managedDirs: [] })
      const permissions = loaded.settings.permissions ?? {}
      for (const each of deny) assert.ok(permissions.deny?.includes(each), 'a deny rule was lost')
      for (const each of ask) assert.ok(permissions.ask?.includes(each), 'an ask rule was lost')
      assert.ok(loaded.settings.hooks.every(({ source }) => source !== 'project'))
      const own = parseJsonc(mine)
      const said = own.ok && isObject(own.value) && isObject(own.value['permissions']) ? own.value['permissions'] : {}
      if (said['defaultMode'] === undefined) assert.equal(permissions.defaultMode, undefined)
      for (const name of ['env', 'apiKeyHelper', 'statusLine', 'mcpServers', 'model'])
        if (!(own.ok && isObject(own.value) && Object.hasOwn(own.value, name)))
          assert.equal(loaded.settings[name], undefined, `${name} of the project counts`)
    }),
    { numRuns: 300 },
  )
  assert.deepEqual(Object.keys(Object.prototype), [])
})

test('JSON is read as JSON.parse reads it, with comments and without', () => {
  const value = fc.jsonValue({ maxDepth: 4 })
  const comment = fc.constantFrom('', ' // x "y" ,]\n', '/* a\n "b" // */', '\t/**/', '\n')
  fc.assert(
    fc.property(value, fc.array(comment, { minLength: 4, maxLength: 4 }), (expected, comments) => {
      const written = JSON.stringify(expected, null, 1)
      assert.deepEqual(parseJsonc(written), { ok: true, value: JSON.parse(written) })
      // a comment after every line that ends outside of a string
      const commented = written
        .split('\n')
        .map((line, index) => line + comments[index % 4])
        .join('\n')
      assert.deepEqual(parseJsonc(commented), { ok: true, value: JSON.parse(written) })
      const trailing = written.replaceAll(/(?<=[\]}"\dle])\n(?= *[\]}])/g, ',\n')
      assert.deepEqual(parseJsonc(trailing), { ok: true, value: JSON.parse(written) })
    }),
    { numRuns: 300 },
  )
})

test('text that is not JSON is reported with its place, never with its words', () => {
  fc.assert(
    fc.property(anyText(), (written) => {
      const parsed = parseJsonc(written)
      assert.equal(withoutComments(written).length, written.length)
      if (!parsed.ok) assert.match(parsed.why, / at line \d+, column \d+$/)
    }),
  )
  const secret = 'hunter2hunter2'
  for (const bad of [
    `{"key": ${secret}}`,
    `{"key": "${secret}" x}`,
    `{"key": "${secret}`,
    `{${secret}: 1}`,
    `"${secret}"x`,
    `{"a": '${secret}'}`,
  ]) {
    const parsed = parseJsonc(bad)
    assert.ok(!parsed.ok && !parsed.why.includes(secret), JSON.stringify(parsed))
  }
})

test('a hostile file is read in time that grows with its length', () => {
  const nasty = [
    '/*'.repeat(50_000),
    '"'.repeat(50_001),
    '{"a":'.repeat(5_000),
    `[1${' ,'.repeat(50_000)}`,
    '//'.repeat(50_000),
    ',\n'.repeat(50_000),
    `"${'\\'.repeat(100_001)}`,
  ]
  const begin = performance.now()
  for (const each of nasty) assert.equal(parseJsonc(each).ok, false)
  assert.ok(performance.now() - begin < 5000)
})
