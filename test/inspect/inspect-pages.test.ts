/** The pages of `ona inspect` in a real browser: every view, live, by keyboard, on a phone, and for a screen reader. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { serveInspect } from '../../src/audit/inspect/server.ts'
import { getApproval } from '../../src/store/approvals.ts'
import { type Db, openDb } from '../../src/store/open.ts'
import { commitRound } from '../../src/store/session/commit.ts'
import { axe, isTooWide, needsChromium, openBrowser, openTab, type Tab } from '../support/browser.ts'
import { isFull } from '../support/campaign-size.ts'
import { conversation, fillRecord, hostile, waiting } from './record.ts'

interface Open extends Tab {
  readonly db: Db
  readonly origin: string
}

const shared = mkdtempSync(join(tmpdir(), 'ona-pages-'))
after(() => rmSync(shared, { recursive: true, force: true }))
/** The record that every test begins with. */
const filled = join(shared, 'agent.db')
if (!needsChromium.skip) fillRecord(filled)

async function open(t: TestContext, prepare: (db: Db) => void = () => {}): Promise<Open> {
  const folder = mkdtempSync(join(tmpdir(), 'ona-pages-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'agent.db')
  copyFileSync(filled, path)
  const [db, writer] = [openDb(path), openDb(path)]
  prepare(writer)
  const { url, close } = await serveInspect(db, { operator: 'ada' })
  t.after(async () => {
    await close()
    db.close()
    writer.close()
  })
  const tab = await openTab(await openBrowser(t))
  await tab.page.goto(url)
  await tab.page.getByText('live', { exact: true }).waitFor()
  return { ...tab, db: writer, origin: new URL(url).origin }
}

const titles = (page: Page): Promise<string[]> => page.locator('.conversations .title').allTextContents()
const total = async (page: Page, name: string): Promise<string> =>
  (await page.locator('.sum div', { hasText: name }).locator('b').first().textContent()) ?? ''

test('overview, search, filters, conversation: what they show is what the record holds', needsChromium, async (t) => {
  const { page, complaints, db } = await open(t)
  const counts = db.get<Record<string, number>>(`SELECT (SELECT count(*) FROM conversations) AS conversations,
    (SELECT count(*) FROM transcript_entries WHERE entry_type = 'tool_result') AS calls,
    (SELECT count(*) FROM tool_permission_log WHERE decision = 'deny') AS denied`)!
  assert.deepEqual(
    [await total(page, 'conversations'), await total(page, 'tool calls'), await total(page, 'denied')],
    [counts['conversations'], counts['calls'], counts['denied']].map(String),
  )
  assert.equal(await page.locator('.plot canvas').count(), 2)
  await page.getByText('As a table').first().click()
  const day = page.getByRole('region', { name: 'Calls per day as a table' }).locator('tbody tr')
  assert.equal((await day.count()) >= 20, true)
  assert.match(
    (await page.getByRole('region', { name: 'Top denials' }).textContent())!,
    /Bash\(git push --force \*\).*rule/,
  )
  assert.match(
    (await page.getByRole('region', { name: 'Top prompts' }).textContent())!,
    /no rule allows npm.*\d+ of \d+/,
  )
  assert.match((await page.getByRole('region', { name: 'Hooks' }).textContent())!, /no-publish\.sh.*ms.*ms/)

  // nothing of what an agent wrote is markup, and what turns writing around is spelt out
  assert.ok((await titles(page)).includes(`Explain ${hostile.replace('\u202e', '\\u202e')}`))
  assert.match(await page.title(), /^Overview/)
  assert.equal(await page.locator('#app img, #app script').count(), 0)

  // every filter narrows what is shown, is in the address, and goes away
  const all = counts['conversations']!
  for (const [label, choice, sql] of [
    ['Agent', 'codex', "SELECT count(DISTINCT session_id) AS n FROM ona_imports WHERE agent = 'codex'"],
    ['Project', '/home/ada/api', "SELECT count(*) AS n FROM conversations WHERE project_dir = '/home/ada/api'"],
    [
      'Hook',
      'protect-system-files',
      "SELECT count(DISTINCT conversation_id) AS n FROM hook_invocations WHERE command = 'protect-system-files'",
    ],
    ['Time', '7d', "SELECT count(*) AS n FROM conversations WHERE last_active > datetime('now', '-7 days')"],
  ] as const) {
    const { n } = db.get<{ n: number }>(sql)!
    await page.getByRole('combobox', { name: label }).selectOption(choice)
    await page.getByRole('heading', { name: new RegExp(`^${n} conversations? that fit$`) }).waitFor()
    assert.ok(n < all && n > 0, label)
    assert.match(page.url(), new RegExp(encodeURIComponent(choice).replaceAll('%20', '\\+')))
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('heading', { name: 'Conversations', exact: true }).waitFor()
  }
  await page.getByRole('checkbox', { name: 'With denials' }).check()
  const refused = db.get<{ n: number }>(
    "SELECT count(DISTINCT session_id) AS n FROM tool_permission_log WHERE decision = 'deny'",
  )!
  await page.getByRole('heading', { name: `${refused.n} conversations that fit` }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Conversations', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Older' }).click()
  await page.getByText('Page 2 of').waitFor()

  // search by keyboard: the words, in their place, and from there to the page that holds them
  await page.keyboard.press('/')
  await page.keyboard.type('git push --force')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /with “git push --force”/ }).waitFor()
  assert.deepEqual(
    [...new Set((await page.locator('.hits mark').allTextContents()).map((each) => each.toLowerCase()))].sort(),
    ['force', 'git', 'push'],
  )
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  assert.equal(await page.evaluate('document.activeElement.className'), 'title')
  await page.locator('.hits a').first().click()
  await page.getByText(/^\d+ of \d+$/).waitFor()
  assert.equal(await page.locator('.item.refused:visible').count(), 1)
  await page.locator('#find').fill('')
  assert.equal((await page.locator('.item.call:visible').count()) >= 4, true)
  await page.getByRole('checkbox', { name: 'Denied' }).uncheck()
  assert.equal(await page.locator('.item.refused:visible').count(), 0)
  assert.deepEqual(complaints, [])
})

test('new rows, new approvals and decisions are on the page without a reload', needsChromium, async (t) => {
  const { page, complaints, db, origin } = await open(t)
  const before = Number(await total(page, 'conversations'))
  conversation(db, { id: 'c0-9', title: 'A fresh conversation', project: '/home/ada/new', agent: '', some: 2 })
  await page.getByRole('link', { name: 'A fresh conversation' }).waitFor()
  assert.equal(await total(page, 'conversations'), String(before + 1))

  const yes = waiting(db, 'terraform plan')
  const no = waiting(db, `terraform apply ${hostile}`)
  const owned = waiting(db, 'drop table orders', 'Grace')
  const panel = page.getByRole('region', { name: /Waiting for approval/ })
  const row = (text: string) => panel.getByRole('listitem').filter({ hasText: text })
  await row('drop table').waitFor()
  await row('terraform plan').getByRole('textbox').fill('reviewed')
  await row('terraform plan').getByRole('button', { name: 'Approve' }).click()
  await row('terraform plan').waitFor({ state: 'detached' })
  await row('terraform apply').getByRole('button', { name: 'Deny' }).click()
  await row('terraform apply').waitFor({ state: 'detached' })
  await row('drop table').getByRole('button', { name: 'Approve' }).click()
  await panel.waitFor({ state: 'detached' })
  const decided = [yes, no, owned].map((id) => getApproval(db, id)!)
  assert.deepEqual(
    decided.map(({ status, decidedBy, note }) => [status, decidedBy, note]),
    [
      ['approved', 'ada', 'reviewed'],
      ['denied', 'ada', null],
      ['approved', 'Grace', null],
    ],
  )

  // a conversation that is open grows
  await page.goto(`${origin}/c/c0-9`)
  await page.getByText('A fresh conversation').first().waitFor()
  const unfolded = page.locator('.item.call details').first()
  await unfolded.locator('summary').first().click()
  const { sessionId } = db.get<{ sessionId: string }>(
    "SELECT session_id AS sessionId FROM sessions WHERE conversation_id = 'c0-9'",
  )!
  commitRound(db, {
    ...{ sessionId, conversationId: 'c0-9' },
    entries: [{ _t: 'user', uuid: '', content: [{ type: 'text', text: 'One more thing' }], source: 'prompt' }],
  })
  await page.getByText('One more thing').waitFor()
  assert.equal(await unfolded.evaluate((element) => element.hasAttribute('open')), true)
  assert.deepEqual(complaints, [])
})

test('a decision needs the page of this server: its origin, its cookie and JSON', needsChromium, async (t) => {
  let id = ''
  const { page, db, origin } = await open(t, (writer) => {
    id = waiting(writer, 'terraform apply')
  })
  const post = (script: string) => page.evaluate(`(async () => (await ${script}).status)()`)
  const body = `body: '{"allow":true}'`
  assert.equal(await post(`fetch('/api/approvals/${id}', { method: 'POST', ${body} })`), 415)
  assert.equal(
    await post(
      `fetch('/api/approvals/${id}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })`,
    ),
    400,
  )
  assert.equal(await post(`fetch('/api/approvals/${id}')`), 405)
  const [cookie] = await page.context().cookies()
  const headers = { cookie: `${cookie!.name}=${cookie!.value}`, 'content-type': 'application/json' }
  const send = (more: Record<string, string>) =>
    fetch(`${origin}/api/approvals/${id}`, { method: 'POST', headers: { ...headers, ...more }, body: '{"allow":true}' })
  assert.equal((await send({})).status, 403)
  assert.equal((await send({ origin: 'http://evil.example' })).status, 403)
  assert.equal((await send({ origin, 'sec-fetch-site': 'cross-site' })).status, 403)
  assert.equal((await send({ origin, cookie: 'none=1' })).status, 403)
  assert.equal(getApproval(db, id)!.status, 'pending')
  assert.equal((await send({ origin })).status, 200)
  const again = await send({ origin })
  assert.deepEqual(
    [again.status, await again.json()],
    [409, { problem: `approval ${id} is approved; only a pending one can be decided` }],
  )
})

test(
  'in light and dark, on a desk and on a phone: axe finds nothing, and nothing is too wide',
  needsChromium,
  async (t) => {
    const { page, complaints, origin } = await open(t, (db) => void waiting(db, 'terraform apply -auto-approve'))
    for (const [turn, width] of [1100, 360].entries()) {
      await page.setViewportSize({ width, height: 900 })
      for (const [at, path] of ['/', '/?q=push', '/?q=nosuchword', '/c/c0-5', '/c/c0-4'].entries()) {
        await page.goto(origin + path)
        await page
          .getByText(path.startsWith('/c/') ? 'All conversations' : 'live')
          .first()
          .waitFor()
        // each page in one of the three ways by default
        const schemes = width === 1100 ? (['light', 'dark'] as const) : (['light'] as const)
        for (const [scheme, colorScheme] of schemes.entries()) {
          if (!isFull && (at + 2 * turn + scheme) % 3 > 0) continue
          await page.emulateMedia({ colorScheme })
          assert.deepEqual(await axe(page), [], `${path} ${colorScheme}`)
        }
        assert.equal(await isTooWide(page), false, `${path} at ${width}`)
      }
    }
    await page.goto(origin)
    await page.getByText('live', { exact: true }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    assert.deepEqual(await axe(page), [])
    assert.deepEqual(complaints, [])
  },
)

test('without scripts the list and the conversations can still be read', needsChromium, async (t) => {
  const { page, origin } = await open(t)
  const cookies = await page.context().cookies()
  const plain = await openTab(page.context().browser()!, { javaScriptEnabled: false })
  await plain.page.context().addCookies(cookies)
  await plain.page.goto(origin)
  await plain.page.getByRole('link', { name: 'Bump the version and tag it' }).first().click()
  await plain.page.getByRole('heading', { name: 'Bump the version and tag it' }).waitFor()
})
