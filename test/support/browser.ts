/** A headless Chromium for tests of pages: console errors and violations of the content security policy are kept. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, type TestContext } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { chromiumPath } from './chromium.ts'

/** For `test(name, needsChromium, …)`: says why it is skipped. */
export const needsChromium = { skip: chromiumPath === undefined && 'no Chromium; set ONA_CHROMIUM to the path of one' }

let started: Promise<Browser> | undefined
after(async () => (await started)?.close())

/** One browser for all tests of a file, since starting it takes longer than most of them; its tabs close with the test. */
export async function openBrowser(t: TestContext): Promise<Browser> {
  started ??= chromium.launch({
    executablePath: chromiumPath!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  const browser = await started
  t.after(() => Promise.all(browser.contexts().map((context) => context.close())))
  return browser
}

export interface Tab {
  readonly page: Page
  /** What the console and the content security policy complained about, so far. */
  readonly complaints: string[]
}

export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
  context.setDefaultTimeout(30_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { page, complaints }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Accessibility: what axe-core finds, one line each. */
export async function axe(page: Page): Promise<string[]> {
  const found = await page.evaluate(`(async () => {
    ${axeSource}
    const { violations } = await axe.run()
    return violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => id + ': ' + node.target.join(' ') + ' ' + (node.any[0]?.message ?? node.failureSummary)))
  })()`)
  return found as string[]
}

/** Whether anything is wider than the window. */
export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
