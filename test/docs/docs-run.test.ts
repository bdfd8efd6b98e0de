/** Each page's commands are run, and print what the page shows. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { blocksOf, fits, followPage, isRunnable } from '../support/follow-page.ts'

const root = join(import.meta.dirname, '../..')
const pages = globSync('docs/*.md', { cwd: root }).filter((page) =>
  blocksOf(readFileSync(join(root, page), 'utf8')).some(isRunnable),
)

for (const page of pages) test(`${page} can be followed word for word in an empty home`, (t) => followPage(t, page))

test('the tutorial is one of them', () => assert.ok(pages.includes('docs/tutorial.md')))

test('what differs is found, and what may differ is not', () => {
  assert.equal(fits('took 12 ms\nat 2026-11-15 08:00\nrest', 'took 9 ms\nat 2026-01-01 10:00:00\n…'), true)
  assert.equal(fits('a /tmp/x/b', 'a …/b'), true)
  for (const [printed, wanted] of [
    ['2 denied', '3 denied'],
    ['one\ntwo', 'one'],
    ['one', 'one\ntwo'],
    ['a.b', 'axb'],
  ] as const)
    assert.equal(fits(printed, wanted), false, `${printed} | ${wanted}`)
})
