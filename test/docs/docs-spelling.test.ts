/** Misspellings that people make often, and words that stand twice. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const pages = ['*.md', 'docs/**/*.md', 'examples/**/*.md']
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .filter((page) => !page.includes('ACCEPTANCE_MATRIX'))

/** Prose alone: what stands in code is not ours to spell. */
const proseOf = (page: string): string =>
  readFileSync(join(root, page), 'utf8')
    .replaceAll(/^(`{3,}).*\n[\s\S]*?^\1$/gm, '')
    .replaceAll(/`[^`]*`/g, 'X')
    .replaceAll(/\]\([^)]*\)/g, ']')

const misspelled = new Map(
  readFileSync(join(import.meta.dirname, '../fixtures/misspellings.txt'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ') as [string, string]),
)

test('no page holds a common misspelling', () => {
  const found = pages.flatMap((page) =>
    (proseOf(page).match(/[A-Za-z]+/g) ?? [])
      .filter((word) => misspelled.has(word.toLowerCase()))
      .map((word) => `${page}: ${word}, write ${misspelled.get(word.toLowerCase())}`),
  )
  assert.deepEqual(found, [])
})

test('no word stands twice', () => {
  const twice = /(?<![\w-])([A-Za-z]{2,}) \1(?![\w-])/gi
  const found = pages.flatMap((page) =>
    [...proseOf(page).matchAll(twice)]
      .filter(([, word]) => !['that', 'had', 'ha'].includes(word!.toLowerCase()))
      .map(([text]) => `${page}: ${text}`),
  )
  assert.deepEqual(found, [])
})
