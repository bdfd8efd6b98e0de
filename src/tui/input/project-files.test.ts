import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileFinder } from './project-files.ts'

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'ona-files-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** A repository that knows these paths; the files themselves are not needed. */
function repository(t: TestContext, paths: readonly string[]): string {
  const at = folder(t)
  execFileSync('git', ['init', '-q'], { cwd: at })
  const input = paths.map((path) => `100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t${path}\n`).join('')
  execFileSync('git', ['update-index', '--index-info'], { cwd: at, input })
  return at
}

test('the last of 120,000 paths is found, and so is its folder', async (t) => {
  const paths = Array.from({ length: 120_000 }, (_, n) => `packages/p${n % 300}/src/module${n}.ts`)
  const at = repository(t, [...paths, 'zebra/Last One.md'])
  const find = fileFinder(
    () => at,
    () => false,
  )
  assert.deepEqual(await find('last one'), ['zebra/Last One.md'])
  assert.deepEqual(await find('zeb'), ['zebra/', 'zebra/Last One.md'])
  assert.deepEqual(await find('module119999'), ['packages/p299/src/module119999.ts'])
  const many = await find('module')
  assert.deepEqual([many.length, many[0]], [15, 'packages/p0/src/module0.ts'])
  assert.deepEqual(await find('nothing of the kind'), [])
})

test('many files in one folder cost what as many in several cost', async (t) => {
  const cpuOf = async (path: (n: number) => string) => {
    const at = repository(
      t,
      Array.from({ length: 100_000 }, (_, n) => path(n)),
    )
    const find = fileFinder(
      () => at,
      () => false,
    )
    await find('')
    const before = process.cpuUsage()
    assert.deepEqual(await find('nothing of the kind'), [])
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const [several, one] = [await cpuOf((n) => `folder${n % 30}/a${n}`), await cpuOf((n) => `name-of-a-file-${n}`)]
  assert.ok(one < 8 * several, `${one} µs in one folder, ${several} µs in several`)
})

test('a newer question ends an older one', async (t) => {
  const at = repository(
    t,
    Array.from({ length: 60_000 }, (_, n) => `f${n}`),
  )
  const find = fileFinder(
    () => at,
    () => false,
  )
  assert.deepEqual(await Promise.all([find('f1'), find('f59999')]), [[], ['f59999']])
})

test('letters whose lower case is longer do not shift what is offered; a folder without git is walked', async (t) => {
  const at = folder(t)
  mkdirSync(join(at, 'sub/deep'), { recursive: true })
  for (const name of ['İstanbul.txt', 'sub/Read Me', 'sub/deep/x.ts']) writeFileSync(join(at, name), '')
  symlinkSync('İstanbul.txt', join(at, 'sub/ÄRA'))
  const find = fileFinder(
    () => at,
    () => true,
  )
  assert.deepEqual(await find('read me'), ['sub/Read Me'])
  for (const typed of ['stanbul', 'İstanbul', 'istanbul']) assert.deepEqual(await find(typed), ['İstanbul.txt'])
  assert.deepEqual(await find('ära'), ['sub/ÄRA'])
  assert.deepEqual(await find(''), ['sub/', 'İstanbul.txt', 'sub/ÄRA', 'sub/deep/', 'sub/Read Me', 'sub/deep/x.ts'])
})
