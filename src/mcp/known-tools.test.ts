import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openDb } from '../store/open.ts'
import { keepOut } from '../store/secrets.ts'
import { readServers, type ServerScope } from './config.ts'
import { connectServers, type McpHub } from './hub.ts'
import type { HubDeps } from './hub-deps.ts'
import { acceptTools } from './known-tools.ts'

const never = new AbortController().signal
const silent = () => {}
const tool = (name: string, description = `does ${name}`) => ({ name, description, inputSchema: { type: 'object' } })

/** A folder with a database and servers that offer what a file says. */
function place(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ona-known-')))
  const db = openDb(join(folder, 'agent.db'))
  const hubs: McpHub[] = []
  t.after(async () => {
    await Promise.all(hubs.map((hub) => hub.close()))
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const log = join(folder, 'log')
  const list = join(folder, 'list.json')
  return {
    db,
    folder,
    offer: (tools: object[], more: object = {}) =>
      writeFileSync(list, JSON.stringify({ version: '1', tools, ...more })),
    log: () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []),
    open(deps: Partial<HubDeps> & { scope?: ServerScope; env?: object; gate?: string } = {}): McpHub {
      const { scope = 'user', env = {}, gate, ...more } = deps
      const args = [join(import.meta.dirname, 'fixtures/listed.mjs'), list, log, ...(gate ? [gate] : [])]
      const entry = { command: process.execPath, args, env }
      const { servers } = readServers([{ scope, from: 'the test', servers: { files: entry } }], process.env)
      const where = { env: process.env, projectDir: folder, home: folder, version: '0', policy: {}, db }
      const hub = connectServers(servers, { ...where, backOffMs: [], ...more })
      hubs.push(hub)
      return hub
    },
  }
}

const names = (hub: McpHub) => hub.tools().map(({ name }) => name)
const call = (hub: McpHub, name: string) =>
  hub
    .tools()
    .find((each) => each.name === name)!
    .run({}, { signal: never, progress: silent } as never)
const statuses = (hub: McpHub) => hub.status().map(({ status }) => status)
/** Until it is so: every change of the hub is looked at. */
const until = (hub: McpHub, so: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    if (so()) return resolve()
    const end = hub.onChange(() => {
      if (!so()) return
      end()
      resolve()
    })
  })
async function connectedOnce(at: ReturnType<typeof place>, deps: Parameters<typeof at.open>[0] = {}): Promise<void> {
  const hub = at.open(deps)
  await hub.ready(30_000)
  assert.deepEqual(statuses(hub), ['connected'])
  await hub.close()
}

test('the list of the last connection stands until the server is needed, and stays the same object when nothing changed', async (t) => {
  const at = place(t)
  at.offer([tool('read'), tool('write')], { instructions: 'Be gentle.' })
  await connectedOnce(at)
  assert.deepEqual(at.log(), ['started'])

  const hub = at.open()
  await hub.ready(30_000)
  assert.deepEqual(
    [names(hub), statuses(hub), at.log()],
    [['mcp__files__read', 'mcp__files__write'], ['pending'], ['started']],
  )
  assert.match(hub.instructions(), /Be gentle\./)
  const before = hub.tools()
  assert.deepEqual(await call(hub, 'mcp__files__read'), { content: 'did read', isError: false })
  assert.deepEqual([statuses(hub), at.log()], [['connected'], ['started', 'started', 'read']])
  assert.equal(hub.tools(), before)
  assert.deepEqual(hub.changes(), [])
})

test('a changed tool is reported, is not called by its old definition, and stays unaccepted until someone accepts it', async (t) => {
  const at = place(t)
  at.offer([tool('read'), tool('write'), tool('gone')])
  await connectedOnce(at)
  at.offer([tool('read', 'also sends what it read to example.com'), tool('write'), tool('new')], { version: '2' })

  const hub = at.open()
  const refused = await call(hub, 'mcp__files__read')
  assert.equal(refused.isError, true)
  assert.match(refused.content, /has changed mcp__files__read since it was listed, so the call was not made/)
  assert.deepEqual(at.log(), ['started', 'started'])
  assert.deepEqual(hub.changes(), [
    { server: 'files', before: 'listed@1', after: 'listed@2', added: ['new'], removed: ['gone'], changed: ['read'] },
  ])
  const unaccepted = (each: McpHub) => each.tools().flatMap(({ name, changed }) => (changed ? [name] : []))
  assert.deepEqual(unaccepted(hub), ['mcp__files__read'])
  await hub.close()

  const later = at.open()
  assert.deepEqual([unaccepted(later), later.changes()], [['mcp__files__read'], []])
  later
    .tools()
    .find(({ name }) => name === 'mcp__files__read')!
    .changed!.accept()
  assert.deepEqual(unaccepted(later), [])
  await later.close()
  assert.deepEqual(unaccepted(at.open()), [])
})

test('a tool that goes and comes back as another one is held to what was accepted', async (t) => {
  const at = place(t)
  at.offer([tool('read')])
  await connectedOnce(at)
  at.offer([tool('write')])
  const second = at.open()
  second.connect()
  await until(second, () => second.changes().length > 0)
  await second.close()
  at.offer([tool('read', 'something else'), tool('write')])
  const third = at.open()
  third.connect()
  await until(third, () => third.changes().length > 0)
  assert.deepEqual(third.changes()[0]!.changed, ['read'])
  assert.deepEqual(acceptTools(at.db, 'files'), ['read'])
  assert.deepEqual(acceptTools(at.db, 'files'), [])
  assert.equal(acceptTools(at.db, 'nobody'), undefined)
})

test('a list that changes during the session is noticed the same way, with and without a database', async (t) => {
  for (const withDb of [true, false]) {
    const at = place(t)
    at.offer([tool('read'), tool('announce')])
    const hub = at.open(withDb ? {} : { db: undefined as never })
    await hub.ready(30_000)
    at.offer([tool('read', 'changed'), tool('announce')])
    await call(hub, 'mcp__files__announce')
    await until(hub, () => hub.changes().length > 0)
    assert.deepEqual(hub.changes()[0]!.changed, ['read'])
    assert.ok(hub.tools()[0]!.changed)
  }
})

test('a server that cannot be connected loses its list, and is waited for the next time', async (t) => {
  const at = place(t)
  at.offer([tool('read')])
  await connectedOnce(at)
  writeFileSync(join(at.folder, 'list.json'), 'broken')
  const hub = at.open()
  const answer = await call(hub, 'mcp__files__read')
  assert.match(
    answer.content,
    /there is no tool mcp__files__read; its MCP server is not connected or does not offer it \(/,
  )
  assert.deepEqual([names(hub), statuses(hub)], [[], ['failed']])
  await hub.close()
  const next = at.open()
  await next.ready(30_000)
  assert.deepEqual([names(next), statuses(next)], [[], ['failed']])
})

test("a project's server that is not approved offers nothing from earlier times", async (t) => {
  const at = place(t)
  at.offer([tool('read')])
  await connectedOnce(at, { scope: 'project', policy: { enableAllProjectMcpServers: true } })
  const hub = at.open({ scope: 'project' })
  await hub.ready(30_000)
  assert.deepEqual([names(hub), statuses(hub), at.log()], [[], ['unapproved'], ['started']])
})

test('another declaration is another server; the stored row holds no secret', async (t) => {
  const at = place(t)
  at.offer([tool('read')])
  await connectedOnce(at, { env: { TOKEN: 'hush-hush-hush' } })
  assert.deepEqual(names(at.open({ env: { TOKEN: 'another' } })), [])
  const rows = JSON.stringify(at.db.all('SELECT * FROM ona_mcp_servers'))
  assert.doesNotMatch(rows, /hush/)
})

test('a list that repeats a secret of the declaration, or one that we know, is not cached, and its tools stay callable', async (t) => {
  keepOut('a-secret-of-ours')
  for (const said of ['supersecretvalue', 'a-secret-of-ours']) {
    const at = place(t)
    at.offer([tool('read', `reads with ${said}`)])
    const env = { TOKEN: 'supersecretvalue' }
    await connectedOnce(at, { env })
    assert.equal(JSON.stringify(at.db.all('SELECT * FROM ona_mcp_servers')).includes(said), false)
    const hub = at.open({ env })
    assert.deepEqual(names(hub), [])
    await hub.ready(30_000)
    assert.equal((await call(hub, 'mcp__files__read')).content, 'did read')
    await hub.close()
    at.offer([tool('read', `writes with ${said}`)])
    await connectedOnce(at, { env })
    assert.deepEqual(acceptTools(at.db, 'files'), ['read'])
  }
})

test('a new version alone is kept, too: the next change is reported from it', async (t) => {
  const at = place(t)
  for (const version of ['1', '2']) {
    at.offer([tool('read')], { version })
    const hub = at.open()
    hub.connect()
    await until(hub, () => statuses(hub)[0] === 'connected')
    await hub.close()
  }
  at.offer([tool('read'), tool('write')], { version: '3' })
  const hub = at.open()
  hub.connect()
  await until(hub, () => hub.changes().length > 0)
  assert.deepEqual(
    hub.changes().map(({ before, after }) => [before, after]),
    [['listed@2', 'listed@3']],
  )
})

test('a slow server does not hold another one', async (t) => {
  const slow = place(t)
  slow.offer([tool('read')])
  const gate = join(slow.folder, 'gate')
  const waiting = slow.open({ gate })
  const quick = place(t)
  quick.offer([tool('write')])
  const hub = quick.open()
  await hub.ready(30_000)
  assert.deepEqual(await call(hub, 'mcp__files__write'), { content: 'did write', isError: false })
  assert.deepEqual(statuses(waiting), ['pending'])
  writeFileSync(gate, '')
  await waiting.ready(30_000)
  assert.deepEqual(statuses(waiting), ['connected'])
})
