/** The site that scripts/site.ts builds from docs/, in a real browser. */
import assert from 'node:assert/strict'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildSite } from '../../scripts/site.ts'
import { axe, isTooWide, needsChromium, openBrowser, openTab } from '../support/browser.ts'
import { sampled } from '../support/campaign-size.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-site-'))
before(() => void buildSite(folder))
after(() => rmSync(folder, { recursive: true, force: true }))

const types: Record<string, string> = {
  ...{ '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.js': 'text/javascript' },
  ...{ '.svg': 'image/svg+xml', '.png': 'image/png' },
}

test('every page is there, and every link of every page leads to a page and a heading of the site', () => {
  const pages = globSync('**/*.html', { cwd: folder })
  for (const source of globSync('docs/*.md', { cwd: join(import.meta.dirname, '../..') }))
    assert.ok(
      pages.includes(source === 'docs/README.md' ? 'index.html' : source.replace(/^docs\/(.*)md$/, '$1html')),
      source,
    )
  const textOf = (page: string) => readFileSync(join(folder, page), 'utf8')
  const wrong = pages.flatMap((page) =>
    Array.from(textOf(page).matchAll(/(?:href|src)="([^"]+)"/g), ([, link]) => link!)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? page : join(dirname(page), path)
        if (!existsSync(join(folder, target))) return true
        return anchor !== undefined && !textOf(target).includes(`id="${anchor}"`)
      })
      .map((link) => `${page}: ${link}`),
  )
  assert.deepEqual(wrong, [])
})

test('search finds pages and sections, by keyboard; pages are accessible and fit a phone', needsChromium, async (t) => {
  const server = createServer(({ url = '/' }, response) => {
    const file = join(folder, new URL(url, 'http://x').pathname.replace(/\/$/, '/index.html'))
    if (!existsSync(file)) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { page, complaints } = await openTab(await openBrowser(t))

  await page.goto(origin)
  await page.keyboard.press('/')
  await page.keyboard.type('replay rule')
  await page
    .getByRole('link', { name: /Replay/ })
    .first()
    .waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\.html/)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('xyzzyplugh')
  await page.getByText('Nothing found.').waitFor()

  // each in one of the four ways to look at it; a sixth of the pages, all with ONA_TEST_FULL
  const ways = [1280, 360].flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
  )
  const pages = sampled(globSync('**/*.html', { cwd: folder, exclude: ['files/**'] }).sort(), 12)
  for (const [at, path] of [...pages, 'files/schema.sql.html'].entries()) {
    const { width, colorScheme } = ways[at % ways.length]!
    await page.goto(`${origin}/${path}`)
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    assert.deepEqual(await axe(page), [], `${path} ${width} ${colorScheme}`)
    assert.equal(await isTooWide(page), false, `${path} at ${width}`)
  }
  assert.deepEqual(complaints, [])
})
