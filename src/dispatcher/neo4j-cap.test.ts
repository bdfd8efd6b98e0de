/** Whether a graph database is there: asked rarely, with the repository's own driver, and never for long. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { neo4jCapability } from './neo4j-cap.ts'
import { type TestInput, testContext } from './setup/testing.ts'
import type { Context, Json } from './types.ts'

const variables = ['NEO4J_URI', 'NEO4J_USERNAME', 'NEO4J_PASSWORD']

function place(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'neo4j-'))
  const before = variables.map((name) => process.env[name])
  t.after(() => {
    rmSync(root, { recursive: true, force: true })
    for (const [at, name] of variables.entries()) {
      delete process.env[name]
      if (before[at] !== undefined) process.env[name] = before[at]
    }
  })
  for (const name of variables) delete process.env[name]
  const put = (file: string, content: unknown) => {
    mkdirSync(join(root, file, '..'), { recursive: true })
    writeFileSync(join(root, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  /** A driver that writes down how it is used. `info`: what getServerInfo gives. */
  const driver = (info: string) =>
    put(
      'node_modules/neo4j-driver/index.js',
      `const note = (line) => require('node:fs').appendFileSync(${JSON.stringify(join(root, 'used'))}, JSON.stringify(line) + '\\n')
exports.auth = { basic: (...given) => given }
exports.driver = (uri, auth, options) => { note([uri, auth, options]); return { getServerInfo: () => ${info}, close: async () => { note('closed') } } }`,
    )
  const ask = async (input: Partial<TestInput> = {}, timers: Partial<Context['timers']> = {}) => {
    const context = testContext(root, { module: 'session', event: 'SessionStart', ...input })
    const { lastCheckTs, ...rest } = await neo4jCapability({ ...context, timers: { ...context.timers, ...timers } })
    return { ...rest, checked: lastCheckTs !== undefined && Date.now() - lastCheckTs < 60_000 }
  }
  const used = () =>
    readFileSync(join(root, 'used'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  return { put, driver, ask, used }
}
const settings: Json = { neo4j: { uri: 'bolt://shared' } }

test('without an address nobody is asked; with one, and no driver or no server, it is not reachable', async (t) => {
  const { put, driver, ask } = place(t)
  assert.deepEqual(await ask(), { enabled: false, reachable: false, checked: true })
  put('.ai/hooks/config.json', settings)
  assert.deepEqual(await ask(), { enabled: true, reachable: false, checked: true })
  driver(`Promise.reject(new Error('no server'))`)
  assert.deepEqual(await ask(), { enabled: true, reachable: false, checked: true })
})

test('a server that answers is reachable, by the name it gives; the driver is closed', async (t) => {
  const { put, driver, ask, used } = place(t)
  put('.ai/hooks/config.json', settings)
  driver(`Promise.resolve({ agent: 'Neo4j/5', protocolVersion: 4 })`)
  const timeouts = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timeouts()
  assert.deepEqual(await ask(), { enabled: true, reachable: true, schemaVersion: 'Neo4j/5', checked: true })
  assert.equal(timeouts(), before)
  assert.deepEqual(used(), [['bolt://shared', ['neo4j', ''], { connectionTimeout: 1000 }], 'closed'])
  put('.ai/hooks/config.local.json', { neo4j: { uri: 'bolt://local', username: 'ada', password: 'p' } })
  await ask()
  assert.deepEqual(used()[2], ['bolt://local', ['ada', 'p'], { connectionTimeout: 1000 }])
  Object.assign(process.env, { NEO4J_URI: 'bolt://env', NEO4J_USERNAME: 'eve', NEO4J_PASSWORD: 'q' })
  await ask()
  assert.deepEqual(used()[4], ['bolt://env', ['eve', 'q'], { connectionTimeout: 1000 }])
  await ask({}, { budgetMs: 600, elapsed: () => 200 })
  await ask({}, { budgetMs: 600, elapsed: () => 600 })
  assert.deepEqual([used()[6][2], used()[8][2]], [{ connectionTimeout: 200 }, { connectionTimeout: 20 }])
})

test('a protocol, or nothing, is a name too', async (t) => {
  for (const [info, schemaVersion] of [
    ['{ protocolVersion: 4 }', '4'],
    ['{}', 'unknown'],
  ] as const) {
    const { put, driver, ask } = place(t)
    put('.ai/hooks/config.json', settings)
    driver(`Promise.resolve(${info})`)
    assert.deepEqual(await ask(), { enabled: true, reachable: true, schemaVersion, checked: true })
  }
})

test('what is known stands after the clock was set back', async (t) => {
  const { put, ask } = place(t)
  put('.ai/hooks/config.json', settings)
  const state = { cap: { neo4j: { enabled: true, reachable: true, lastCheckTs: Date.now() + 3_600_000 } } }
  assert.deepEqual(await ask({ state }), { enabled: true, reachable: true, checked: true })
})

test('what is known stands for five minutes, and on PreToolUse however old it is', async (t) => {
  const { put, driver, ask, used } = place(t)
  put('.ai/hooks/config.json', settings)
  driver(`new Promise(() => {})`)
  const minutes = 60_000
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 100 * minutes })
  const known = (ageMs: number) => ({
    state: { cap: { neo4j: { enabled: true, reachable: true, lastCheckTs: Date.now() - ageMs } } },
  })
  const asKnown = { enabled: true, reachable: true, checked: false }
  assert.deepEqual(await ask(known(5 * minutes - 1)), asKnown)
  assert.deepEqual(await ask({ event: 'PreToolUse', ...known(60 * minutes) }), asKnown)
  assert.throws(used)
  let answer: unknown = 'none yet'
  const asked = ask(known(5 * minutes)).then((given) => {
    answer = given
  })
  t.mock.timers.tick(999)
  await new Promise((done) => setImmediate(done))
  assert.equal(answer, 'none yet')
  t.mock.timers.tick(1)
  await asked
  assert.deepEqual(answer, { enabled: true, reachable: false, checked: true }) // a server that never answers is given up
  assert.equal(used().at(-1), 'closed')
})
