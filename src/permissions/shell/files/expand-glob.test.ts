/** What wildcards stand for, and which repository a folder is in. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { globBase } from '../../paths/glob-base.ts'
import { below, treeHolds } from '../../paths/tree.ts'
import { type FileView, freshView, rememberingView } from '../../paths/view.ts'
import { expandBraces, expandGlob } from './expand-glob.ts'
import { configRunsPrograms, inProjectRepository } from './git-place.ts'

test('braces of the shell', () => {
  const rows: [text: string, is: string | undefined][] = [
    ['a', 'a'],
    ['{a,b}', 'a b'],
    ['x{a,b}y{c,d}z', 'xaycz xaydz xbycz xbydz'],
    ['{a,}', 'a '],
    ['{a}', undefined],
    ['{1..3}', undefined],
    ['{a,b..c}', undefined],
    ['{a,{b,c}}', undefined],
    ['{a', undefined],
    ['a}', undefined],
    ['a\\b', undefined],
    ["a'b", undefined],
    ['a"b', undefined],
    ['!(a)', undefined],
    ['@(a)', undefined],
    ['+(a)', undefined],
    ['?(a)', undefined],
    ['*(a)', undefined],
    ['[[:x', undefined],
    ['[:x', undefined],
    ['[a]', '[a]'],
    ['a(b', 'a(b'],
    ['{a,b}{c', undefined],
  ]
  assert.deepEqual(
    rows.map(([text]) => [text, expandBraces(text)?.join(' ')]),
    rows,
  )
})

test('the files that wildcards stand for, in folders that are there', (t) => {
  const w = realpathSync(mkdtempSync(join(tmpdir(), 'ona-places-')))
  t.after(() => rmSync(w, { recursive: true }))
  for (const folder of ['src/deep', 'many', '.dot', 'nested/.git', 'bare/objects', 'bare/refs', '.git', 'half/objects'])
    mkdirSync(join(w, folder), { recursive: true })
  for (const file of ['a.ts', 'b.ts', '.env', 'src/c.ts', 'src/deep/d.ts', '.dot/e', 'bare/HEAD', 'half/HEAD'])
    writeFileSync(join(w, file), '')
  const files = rememberingView()
  const found = (glob: string) =>
    expandGlob(glob, w, files)
      ?.map((path) => path.slice(w.length + 1))
      .sort()
      .join(' ')
  const rows: [glob: string, is: string | undefined][] = [
    ['*.ts', 'a.ts b.ts'],
    ['?.ts', 'a.ts b.ts'],
    ['[a].ts', 'a.ts'],
    ['{a,z}.ts', 'a.ts z.ts'],
    ['.e*', '.env'],
    ['*env', ''],
    ['src/*', 'src/c.ts src/deep'],
    ['./src//*/d.ts', 'src/c.ts/d.ts src/deep/d.ts'],
    ['*/*.ts', 'src/c.ts'],
    ['none/*', ''],
    [join(w, '*.ts'), 'a.ts b.ts'],
    ['@(a)', undefined],
  ]
  assert.deepEqual(
    rows.map(([glob]) => [glob, found(glob)]),
    rows,
  )
  for (let at = 0; at < 2000; at++) writeFileSync(join(w, 'many', `f${at}`), '')
  assert.equal(expandGlob('many/*', w, rememberingView())?.length, 2000)
  assert.equal(expandGlob('{many/*,x}', w, rememberingView()), undefined)
  writeFileSync(join(w, 'many', 'more'), '')
  assert.equal(expandGlob('many/*', w, rememberingView()), undefined)

  const seen: string[] = []
  const holds = (folder: string, visible: boolean, name: string) =>
    treeHolds(join(w, folder), visible, (path, inside) => {
      seen.push(`${path.slice(w.length + 1)} ${inside}`)
      return inside === name
    })
  assert.deepEqual(
    [holds('src', false, 'deep/d.ts'), holds('src', false, 'none'), holds('.', true, '.env')],
    [true, false, false],
  )
  assert.ok(seen.includes('src/deep/d.ts deep/d.ts'))
  assert.deepEqual(
    [holds('.dot', true, 'e'), holds('.', true, '.dot/e'), holds('.', false, '.dot/e')],
    [true, false, true],
  )
  assert.deepEqual([below('/', 'a'), below('/b', 'a')], ['/a', '/b/a'])
  for (let at = 0; at < 3000; at++) writeFileSync(join(w, 'src', `f${at}`), '')
  const never = () => false
  assert.deepEqual([treeHolds(join(w, 'src'), false, never), treeHolds(w, true, never)], [false, true])

  const inside = (folder: string) => inProjectRepository(join(w, folder), w)
  assert.deepEqual(['.', 'src', 'nested', 'nested/x', 'bare', 'half', '..'].map(inside), [
    true,
    true,
    false,
    false,
    false,
    true,
    false,
  ])
  assert.equal(inProjectRepository(join(w, 'bare'), join(w, 'bare')), false)
  const runs = (text: string) => {
    writeFileSync(join(w, '.git/config'), text)
    return configRunsPrograms(w)
  }
  const programs =
    'fsmonitor hooksPath pager external textconv filter include driver command program attributesFile partialclone promisor'
  assert.deepEqual(
    programs.split(' ').filter((key) => !runs(`[x]\n${key} = a`)),
    [],
  )
  assert.deepEqual(
    [runs('worktree = a'), runs('worktree=a'), runs('worktrees'), runs('commands'), runs('bare = false')],
    [true, true, false, false, false],
  )
  assert.equal(configRunsPrograms('/'), false)
  writeFileSync(join(w, '.git/config.worktree'), 'pager = x')
  assert.equal(runs('bare = false'), true)
  rmSync(join(w, '.git/config.worktree'))
  mkdirSync(join(w, 'common'))
  writeFileSync(join(w, '.git/commondir'), '../common\n')
  writeFileSync(join(w, 'common/config'), 'pager = x')
  assert.equal(runs('bare = false'), true)
  writeFileSync(join(w, 'common/config'), 'x')
  assert.equal(runs('bare = false'), false)
  assert.equal(configRunsPrograms(join(w, 'src/deep')), false)
  writeFileSync(join(w, '.git/config'), 'pager = x')
  assert.equal(configRunsPrograms(join(w, 'src/deep')), true)
  writeFileSync(join(w, 'src/.git'), 'gitdir: ../common\n')
  assert.equal(configRunsPrograms(join(w, 'src/deep')), false)
  writeFileSync(join(w, 'common/config'), `${'x'.repeat(1_000_000)}`)
  assert.equal(configRunsPrograms(join(w, 'src')), false)
  writeFileSync(join(w, 'common/config'), `${'x'.repeat(1_000_001)}`)
  assert.equal(configRunsPrograms(join(w, 'src')), true)
})

test('the folder that a glob pattern can reach into', () => {
  const rows: [folder: string, pattern: string, is: string][] = [
    ['f', '*', 'f'],
    ['f', 'a/*', 'f/a'],
    ['f', 'a/b', 'f/a'],
    ['f', 'a', 'f'],
    ['f', '/a/*', '/a'],
    ['f', '/*', '/'],
    ['f', '/a', '/'],
    ['f', 'a/?/b', 'f/a'],
    ['f', 'a/[b]', 'f/a'],
    ['f', 'a/{b,c}', 'f/a'],
    ['f', 'a/!b/c', 'f/a'],
    ['f', '*/../a', 'f/..'],
    ['f', '*/../../a', 'f/../..'],
    ['f', 'a/*/x..y', 'f/a/..'],
    ['f', '../a/*', 'f/../a'],
  ]
  assert.deepEqual(
    rows.map(([folder, pattern]) => [folder, pattern, globBase(folder, pattern)]),
    rows,
  )
})

test('two thousand folders or files are looked at, whatever is left of them', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `d${at}` }))
  const seen = (count: number): FileView => ({
    ...freshView,
    keep: <T>(about: string) => (about === 'entries /w' ? names(count) : []) as T,
  })
  assert.deepEqual([expandGlob('*/x*', '/w', seen(2000)), expandGlob('*/x*', '/w', seen(2001))], [[], undefined])
  assert.equal(expandGlob('{*,*}', '/w', seen(1001)), undefined)
  assert.equal(expandGlob('{*,*}', '/w', seen(1000))?.length, 2000)
})
