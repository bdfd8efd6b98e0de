/** Each page's commands are run, and print what the page shows; its data can be read, and what it imports is exported. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse as parseYaml } from 'yaml'
import { parseJsonc } from '../../src/files/jsonc.ts'
import { isFull } from '../support/campaign-size.ts'
import { blocksOf, commandsOf, fits, followPage, isRunnable } from '../support/follow-page.ts'
import { facts } from './pages.ts'

const root = join(import.meta.dirname, '../..')
const pages = ['README.md', ...globSync('docs/*.md', { cwd: root }).sort()]
const blocks = new Map(pages.map((page) => [page, blocksOf(readFileSync(join(root, page), 'utf8'))]))
const everyBlock = [...blocks].flatMap(([page, own]) => own.map((block) => ({ page, ...block })))
const followed = pages.filter((page) => blocks.get(page)!.some(isRunnable))

/** By default: what a newcomer reads, what this change touches, and every sixth of the others. */
const first = ['README.md', 'docs/tutorial.md', 'docs/testing.md', ...changed()]
const sample = followed.filter((page, index) => isFull || first.includes(page) || index % 6 === 0)

test('pages can be followed word for word in an empty home', { concurrency: 3 }, async (t) => {
  await Promise.all(sample.map((page) => t.test(page, (each) => followPage(each, page, facts[page]))))
})

test('the tutorial is one of them, and nothing of it is left out', () => {
  assert.ok(followed.includes('docs/tutorial.md'))
  assert.deepEqual(facts['docs/tutorial.md']?.notRun, undefined)
})

test('what is said about pages is about pages that have commands', () =>
  assert.deepEqual(
    Object.keys(facts).filter((page) => !followed.includes(page)),
    [],
  ))

/** Pages that differ from the last commit, or that it changed. */
function changed(): string[] {
  const { stdout } = spawnSync('git', ['diff', '--name-only', 'HEAD~1', '--', 'docs'], { cwd: root, encoding: 'utf8' })
  return (stdout ?? '').split('\n')
}

const languages = ['console', 'sh', 'json', 'jsonc', 'yaml', 'ts', 'js', 'ruby', 'sql', 'markdown', 'text']

test('every block says what it is, and a command is in one that is run', () => {
  const wrong = everyBlock.flatMap(({ page, line, info, body }) => {
    const [language = ''] = info.split(' ')
    if (!languages.includes(language)) return [`${page}:${line}: ${language || 'no language'}`]
    return language === 'text' && body.some((each) => /^(\$ |ona |npm |node )/.test(each))
      ? [`${page}:${line}: a command that is not run`]
      : []
  })
  assert.deepEqual(wrong, [])
  assert.ok(everyBlock.filter(isRunnable).flatMap(commandsOf).length > 100)
})

/** What does not parse; a block may also hold one value a line. */
function problemOf(info: string, text: string): string | undefined {
  try {
    if (/^yaml\b/.test(info)) parseYaml(text)
    if (/^json\b/.test(info)) {
      try {
        JSON.parse(text)
      } catch {
        for (const line of text.trim().split('\n')) JSON.parse(line)
      }
    }
    if (/^jsonc\b/.test(info)) {
      const parsed = parseJsonc(text)
      if (!parsed.ok) return JSON.stringify(parsed)
    }
    return undefined
  } catch (cause) {
    return (cause as Error).message
  }
}

test('the data of a page can be read', () =>
  assert.deepEqual(
    everyBlock.flatMap(({ page, line, info, body }) => {
      const problem = problemOf(info, body.join('\n'))
      return problem === undefined ? [] : [`${page}:${line}: ${problem}`]
    }),
    [],
  ))

test('what a page imports from ona is exported', async () => {
  const exported = {
    ona: Object.keys(await import('../../src/sdk/index.ts')),
    'ona/hooks': Object.keys(await import('../../src/hooks/index.ts')),
    'ona/brains': Object.keys(await import('../../src/brains/index.ts')),
  }
  const imports = everyBlock.flatMap(({ page, body }) =>
    Array.from(body.join('\n').matchAll(/^import \{([^}]*)\} from '(ona[^']*)'/gm), ([, names, from]) =>
      names!.split(',').map((name) => ({ page, name: name.trim(), from: from! })),
    ).flat(),
  )
  assert.ok(imports.length > 5)
  const known = (name: string, from: string) => exported[from as keyof typeof exported]?.includes(name)
  assert.deepEqual(
    imports.filter(({ name, from }) => !name.startsWith('type ') && !known(name, from)),
    [],
  )
})

test('what differs is found, and what may differ is not', () => {
  assert.equal(fits('took 12 ms\nat 2026-11-15 08:00\nrest', 'took 9 ms\nat 2026-01-01 10:00:00\n…'), true)
  assert.equal(fits('a /tmp/x/b', 'a …/b'), true)
  assert.equal(fits('31 rows in 7 links', '48,210 rows in 15,904 links', [/\S+ rows in \S+ links/g]), true)
  for (const [printed, wanted] of [
    ['2 denied', '3 denied'],
    ['one\ntwo', 'one'],
    ['one', 'one\ntwo'],
    ['a.b', 'axb'],
  ] as const)
    assert.equal(fits(printed, wanted), false, `${printed} | ${wanted}`)
})
