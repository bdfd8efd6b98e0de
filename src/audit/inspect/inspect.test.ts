import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { html, page } from '../../page.ts'
import { archiveConversation, unarchiveConversation } from '../../store/archive/archive.ts'
import { keepArchived } from '../../store/archive/reading.ts'
import { addEvent, recordHooks } from '../../store/audit.ts'
import { createConversation, createSession } from '../../store/conversations.ts'
import { openDb } from '../../store/open.ts'
import { draftPlan } from '../../store/plans.ts'
import { commitRound, commitToolCall } from '../../store/session/commit.ts'
import { setState } from '../../store/state.ts'
import { fill } from './data/fill.ts'
import { openLive } from './live.ts'
import { conversationPage, fileRows, overviewPage, wholePage } from './page.ts'
import { pageRows } from './page-size.ts'
import { serveInspect } from './server.ts'

function database(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-inspect-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return db
}

/** A conversation with something of every kind, and the same words wherever words can stand. */
function filled(t: TestContext, words: string, id = 'c1') {
  const db = database(t)
  createConversation(db, { projectDir: words, id })
  const { sessionId } = createSession(db, id)
  const at = { sessionId, conversationId: id }
  setState(db, id, 'name', words)
  const { id: plan } = draftPlan(db, { conversationId: id, content: words })
  const events = [
    { type: 'phase', detail: { from: words, to: words, by: words } },
    { type: 'plan_draft', detail: { plan } },
    { type: 'plan_approved', detail: { plan, by: words } },
    { type: words, detail: { [words]: words } },
    { type: 'turn_end', detail: { stop: words, why: words } },
  ]
  for (const event of events) addEvent(db, { ...at, ...event })
  const use = (name: string, input: Record<string, string>, use_id: string) =>
    ({ type: 'tool_use', id: use_id, name, input }) as const
  const uses = [
    use('Edit', { file_path: words, old_string: words, new_string: `${words}!` }, 'u1'),
    use('Write', { file_path: words, content: words }, 'u2'),
    use(words, { [words]: words, command: words }, 'u3'),
  ]
  commitRound(db, {
    ...at,
    entries: [
      { _t: 'user', uuid: '', content: [{ type: 'text', text: `${words} \`${words}\`\n\`\`\`\n${words}\n\`\`\`` }] },
      { _t: 'assistant', uuid: '', content: [{ type: 'text', text: words }, ...uses] },
    ],
  })
  const time = new Date().toISOString()
  for (const { id: toolUseId } of uses) {
    recordHooks(db, sessionId, id, [
      {
        ...{ event: words as never, ordinal: 0, matcher: words, command: words, toolUseId, toolName: words },
        ...{ inputJson: '{}', exitCode: 2, stdout: words, stderr: words, startedAt: time, completedAt: time },
        skippedReason: null,
      },
    ])
    commitToolCall(db, {
      ...{ ...at, invocations: [] },
      permission: { toolName: words, decision: 'deny', reason: { by: words, reason: `${words}?`, rule: words } },
      result: { tool_use_id: toolUseId, content: words, is_error: true },
      extra: [{ _t: 'system', subtype: words, more: words }],
    })
  }
  return db
}

test('nothing of what others wrote is more than text, wherever it stands', (t) => {
  const hostile = `</script></style><x-evil a='"\`>\u202e\u2066\u0007\u001b[31m&amp;\r\n--><!--`
  const id = `a/"><x-evil>'#?%00`
  const db = filled(t, hostile, id)
  const progress = fill(db, 'main', 1000)
  const files = [wholePage(db)!, wholePage(db, id)!]
  const served = [overviewPage(db, 1, progress)!, conversationPage(db, id, 1, progress)!]
  for (const text of [...files, ...served]) {
    assert.ok(text.includes('&#60;/script&#62;'), 'the words are there')
    assert.doesNotMatch(text, /<x-evil|[\u202e\u2066\u0007\u001b\r]|-->|<!--/)
    assert.deepEqual(
      text.match(/<script[^>]*>|<\/script>|<style>|<\/style>/g),
      files.includes(text)
        ? ['<style>', '</style>', '<script>', '</script>']
        : ['<script src="/assets/inspect.js" type="module">', '</script>'],
    )
    // whatever stands in an attribute is one of ours, or an address of ours
    const attributes = Array.from(text.matchAll(/<[a-z0-9]+((?:\s[^<>]*)?)>/g), ([, given]) => given!).join('')
    assert.doesNotMatch(attributes, /\son\w+=|javascript:/)
  }
})

test('odd signs are spelt out, and what is ordinary stays as it is', () => {
  assert.equal(html('a\u202eb\u0000c\ud800 <&>"\'`'), 'a\\u202eb\\u0000c\\ud800 &#60;&#38;&#62;&#34;&#39;&#96;')
  assert.equal(html('\u001b[1;31mred\u001b[0m\tzażółć 日本 🎉\r\n'), 'red\tzażółć 日本 🎉\n')
})

test('a page loads nothing and runs nothing but its own script', (t) => {
  const text = wholePage(filled(t, 'plain'))!
  const rules = /Content-Security-Policy" content="([^"]*)"/.exec(text)![1]!
  assert.match(
    rules,
    /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/,
  )
  assert.doesNotMatch(text, /\s(src|srcset|style|onclick)=|@import|url\(|https?:/)
  assert.doesNotMatch(page({ title: '', kicker: '', body: '' }), /<script/)
})

/** Of an index that has not been filled. */
const behind = { rows: 1, read: 0 }

test('a page is the same whether the index tells its counts or they are counted, and also when it is archived', (t) => {
  const id = 'c'
  const db = filled(t, 'a word', id)
  const counted = conversationPage(db, id, 1, behind)!
  assert.match(counted, /<section class="sum"><div><b>[1-9]/)
  const indexed = () => conversationPage(db, id, 1, fill(db, 'main', 1000), archived.with)
  const archived = keepArchived()
  t.after(() => archived.close())
  assert.equal(indexed(), counted)
  archiveConversation(db, id, 'agent.db-archive-x.zst')
  const file = `${db.path}-archive-x.zst`
  const told = indexed()!
  assert.deepEqual(sums(told), sums(counted))
  renameSync(file, `${file}-gone`)
  assert.equal(indexed(), told, 'it is not unpacked for every page')
  assert.equal(conversationPage(db, 'no such', 1, fill(db, 'main', 1000), archived.with), undefined)
  renameSync(`${file}-gone`, file)
  unarchiveConversation(db, id)
  const back = indexed()!
  assert.deepEqual(sums(back), sums(counted))
  assert.equal(back.split('a word').length, counted.split('a word').length, 'nothing is there twice')
})
const sums = (text: string) => /<section class="sum">.*?<\/section>/.exec(text)?.[0]

test('a conversation is told whole on its pages, and a file says what it leaves out', (t) => {
  const db = database(t)
  const { id } = createConversation(db, { projectDir: '/p' })
  const { sessionId } = createSession(db, id)
  const rows = fileRows + 50
  const entries = Array.from({ length: rows }, (_, at) => ({
    ...{
      _t: 'user' as const,
      uuid: '',
      content: [{ type: 'text' as const, text: `<<prompt ${at}>>` }],
      source: 'prompt',
    },
  }))
  commitRound(db, { sessionId, conversationId: id, entries })
  const promptsIn = (text: string) =>
    Array.from(text.matchAll(/60;prompt (\d+)&#62;&#62;<\/div>/g), ([, at]) => Number(at))
  const pages = Array.from({ length: Math.ceil(rows / pageRows) }, (_, at) => at + 1).map((number) =>
    promptsIn(conversationPage(db, id, number, behind)!),
  )
  assert.deepEqual(pages.flat(), Array.from(entries.keys()))
  assert.match(conversationPage(db, id, 2, behind)!, /page=1">.*Page 2 of 7.*page=3">/)
  assert.equal(promptsIn(wholePage(db, id)!).length, rows)
  assert.doesNotMatch(wholePage(db, id)!, /class="left"/)
  const bounded = wholePage(db, id, 1000)!
  assert.equal(promptsIn(bounded).length, fileRows)
  assert.match(bounded, /The first 2,000 of 2,050 rows of this conversation are here/)
  createConversation(db, { projectDir: '/older' })
  db.run("UPDATE conversations SET last_active = '2020-01-01' WHERE project_dir = '/older'")
  assert.match(wholePage(db, undefined, 1000)!, /the newest 1 of 2 conversations/)
})

test('one long text does not fill the page, and what is left out is said', (t) => {
  const db = database(t)
  const { id } = createConversation(db, { projectDir: '/p' })
  const { sessionId } = createSession(db, id)
  const content = [{ type: 'tool_use' as const, id: 'u', name: 'Bash', input: { command: 'yes' } }]
  commitRound(db, { sessionId, conversationId: id, entries: [{ _t: 'assistant', uuid: '', content }] })
  const result = { tool_use_id: 'u', content: 'y\n'.repeat(500_000), is_error: false }
  commitToolCall(db, { sessionId, conversationId: id, invocations: [], result })
  const text = wholePage(db, id)!
  assert.ok(text.length < 60_000, `${text.length}`)
  assert.match(text, /980,000 more characters; ona inspect --json has all of them/)
})

test('nothing of an input is left out, whatever form it has; code in words stands out, closed or not', (t) => {
  const db = database(t)
  const { id } = createConversation(db, { projectDir: '/p' })
  const { sessionId } = createSession(db, id)
  const inputs = [
    { plan: 'in-1', extra: 'in-2' },
    { command: ['in-3'], content: { deep: 'in-4' } },
    { old_string: 'in-5', other: null },
    { command: 'in-6', content: 'in-7', old_string: 'in-8', new_string: 'in-9' },
  ]
  const uses = inputs.map((input, at) => ({ type: 'tool_use' as const, id: `u${at}`, name: 'ExitPlanMode', input }))
  const text = { type: 'text' as const, text: 'before\n```ts\nclosed()\n```\nbetween `some code`\n```\nopen()' }
  commitRound(db, { sessionId, conversationId: id, entries: [{ _t: 'assistant', uuid: '', content: [text, ...uses] }] })
  const shown = wholePage(db, id)!
  for (let n = 1; n <= 9; n++) assert.ok(shown.includes(`in-${n}`), `in-${n}`)
  assert.match(shown, /before<pre>closed\(\)<\/pre>between <code>some code<\/code><pre>open\(\)<\/pre>/)
})

interface Got {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

const get = (url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { method, headers }, (response) => {
      let body = ''
      response.on('data', (piece) => {
        body += piece
      })
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }))
    })
    asked.on('error', reject)
    asked.end()
  })

test('a disk that is full does not end what follows the record; a page says so, and once there is room it goes on', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const db = filled(t, 'a word')
  const live = openLive(db, 'main')
  t.after(() => live.close())
  const { pages } = db.get<{ pages: number }>('SELECT page_count AS pages FROM pragma_page_count')!
  db.get(`PRAGMA max_page_count=${pages}`)
  const other = openDb(db.path)
  t.after(() => other.close())
  createConversation(other, { projectDir: '/', id: 'long' })
  const { sessionId } = createSession(other, 'long')
  const text = Array.from({ length: 20_000 }, (_, n) => `word${n}`).join(' ')
  const entries = Array.from({ length: 20 }, () => ({
    ...{ _t: 'user' as const, uuid: '', content: [{ type: 'text' as const, text }], source: 'prompt' },
  }))
  commitRound(other, { sessionId, conversationId: 'long', entries })
  t.mock.timers.tick(1)
  t.mock.timers.tick(500)
  assert.throws(() => live.refresh(), { name: 'StoreError', kind: 'disk-full' })
  db.get('PRAGMA max_page_count=1000000')
  t.mock.timers.tick(500)
  const { read, rows } = live.refresh()
  assert.equal(read, rows)
})

test('the address opens once; then the cookie is the key, for this host and for reading only', async (t) => {
  const { url, close } = await serveInspect(filled(t, 'plain'), { path: '/c/c1', operator: 'op' })
  t.after(close)
  const { origin, host, hostname } = new URL(url)
  assert.equal(hostname, '127.0.0.1')
  assert.equal((await get(`${origin}/`)).status, 403)
  assert.equal((await get(`${origin}/?token=wrong`)).status, 403)
  assert.equal((await get(url, { host: 'evil.example' })).status, 421)
  assert.equal((await get(url, { host: host.replace('127.0.0.1', 'localhost') })).status, 421)
  assert.equal((await get(url, {}, 'POST')).status, 405)

  const opened = await get(url)
  assert.deepEqual([opened.status, opened.headers['location']], [303, '/c/c1'])
  const [given] = opened.headers['set-cookie'] as string[]
  assert.match(given!, /^ona_inspect_\d+=[\w-]{32}; HttpOnly; SameSite=Strict; Path=\/$/)
  assert.equal((await get(url)).status, 403, 'the token is spent')

  const cookie = given!.split(';')[0]!
  const shown = await get(`${origin}/c/c1`, { cookie: `other=1; ${cookie}` })
  assert.equal(shown.status, 200)
  assert.match(shown.body, /<h1>plain<\/h1>/)
  assert.equal(
    shown.headers['content-security-policy'],
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  assert.equal(shown.headers['cache-control'], 'no-store')
  assert.equal((await get(`${origin}/c/c1`, { cookie }, 'HEAD')).body, '')
  assert.match((await get(`${origin}/`, { cookie })).body, /href="\/c\/c1"/)
  for (const path of [
    '/c/none',
    '/c/',
    '/c/%ff',
    '/x',
    '/?page=0',
    '/?page=x',
    '/c/c1/..%2f',
    '/c/c1?page=2',
    '/?page=2',
  ])
    assert.equal((await get(origin + path, { cookie })).status, 404, path)
  assert.equal((await get(`${origin}/`, { cookie: `${cookie}x` })).status, 403)
  assert.equal((await get(`${origin}/`, { cookie, host: 'evil.example' })).status, 421)
})
