/** A headless Chromium for tests of pages: console errors and violations of the content security policy are kept. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where a Chromium is, or undefined: `ONA_CHROMIUM`, else where systems put it. */
export const chromiumPath = [process.env['ONA_CHROMIUM'] ?? '', ...places].find((path) => existsSync(path))

/** For `test(name, needsChromium, …)`: says why it is skipped. */
export const needsChromium = { skip: chromiumPath === undefined && 'no Chromium; set ONA_CHROMIUM to the path of one' }

export async function openBrowser(t: TestContext): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  t.after(() => browser.close())
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
