/** Takes the pictures of docs/inspect.md in a headless Chromium. `node scripts/screenshots-inspect.ts` */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { serveInspect } from '../src/audit/inspect/server.ts'
import { openDb } from '../src/store/open.ts'
import { fillRecord, waiting } from '../test/inspect/record.ts'
import { chromiumPath } from '../test/support/chromium.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-shots-'))
const path = join(folder, 'agent.db')
fillRecord(path)
const db = openDb(path)
waiting(db, 'terraform apply -auto-approve')
const { url, close } = await serveInspect(db, { operator: 'ada' })
const browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] })
const page = await browser.newPage({ viewport: { width: 1040, height: 1010 }, locale: 'en-GB' })
const images = join(import.meta.dirname, '../docs/images')

await page.goto(url)
await page.getByText('live', { exact: true }).waitFor()
await page.screenshot({ path: join(images, 'inspect-overview.png') })
await page.emulateMedia({ colorScheme: 'dark' })
await page.setViewportSize({ width: 1040, height: 620 })
await page.goto(new URL('/?q=rounding', url).href)
await page.getByRole('heading', { name: /rounding/ }).waitFor()
await page.screenshot({ path: join(images, 'inspect-search.png') })
await page.emulateMedia({ colorScheme: 'light' })
await page.setViewportSize({ width: 1040, height: 1000 })
await page.goto(new URL('/c/c0-5', url).href)
await page.locator('.call summary').nth(2).click()
await page.screenshot({ path: join(images, 'inspect.png') })

await browser.close()
await close()
db.close()
rmSync(folder, { recursive: true })
